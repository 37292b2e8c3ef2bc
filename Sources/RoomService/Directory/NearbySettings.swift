package import NIOCore

/// How the rooms nearby are kept and told.
package struct NearbySettings: Sendable {
    /// Whether the open public rooms with a place are kept in memory, for searches and subscriptions.
    package var isKept = true
    /// The interval at which they are read from the log; subscribers are told of changes at most once in it.
    package var interval = TimeAmount.milliseconds(500)
    /// The time for which a search waits for the log if there is an older answer.
    package var patience = TimeAmount.milliseconds(250)
    /// The time for which a search waits for the log if the rooms were never read.
    package var patienceWithNothing = TimeAmount.seconds(5)
}

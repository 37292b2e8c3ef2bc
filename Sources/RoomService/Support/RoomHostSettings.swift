import GeoSearch
package import NIOCore
package import RoomDomain

/// The settings of rooms, and limits that follow from the environment.
package struct RoomHostSettings: Sendable {
    /// Whether other processes may write the same log; answers to questions are then checked against its head.
    package var logIsShared = false
    /// Locations are rounded to cells of about this size before they are stored or shown; 0: not rounded.
    package var locationPrecisionMeters = RoundedLocation.usualCell
    /// Transactions side by side; one if the store allows a single writer.
    package var flushesSideBySide = 1
    /// The time after which a room without followers and requests leaves memory.
    package var evictAfter = TimeAmount.seconds(60)
    /// The number of events after which a snapshot is made; one for each such span is kept.
    package var eventsPerSnapshot = 500
    /// The number of events that a client may resume; for more it gets a snapshot.
    package var resumableEvents = 10_000
    /// The bytes of payload that are read for a client that resumes; for more it gets a snapshot.
    package var resumableBytes = 8 << 20
    /// The most commands that may wait while a room is read, and the most requests that may wait while a room is
    /// loaded; further ones are answered `unavailable`.
    package var waitingCommandsPerRoom = 10_000
    /// About how many bytes of events are collected for a room's next append; further commands are answered
    /// `unavailable`.
    package var gatheringBytes = 8 << 20
    /// The limits of a pool.
    package var poolBudget = PoolBudget()
    /// About how many bytes of JSON a state has from which on it is encoded and compressed outside the event loop.
    package var longStateBytes = 1 << 16
    /// Compresses a state for clients that want it; nil if it becomes no shorter.
    package var compressState: @Sendable (ByteBuffer) -> ByteBuffer? = { _ in nil }
    /// About how many bytes of deltas one answer has; a client that lacks more asks for the rest when it has taken
    /// them.
    package var answeredDeltaBytes = 49_152
    /// The number of conflicts in a row after which a room answers `unavailable`.
    package var conflictsInARow = 100
    /// How often followed rooms are compared with their log.
    package var comparisonInterval = TimeAmount.seconds(1)
    /// While the bus between servers is connected, only one in this many intervals compares, to find events whose
    /// announcement was lost.
    package var intervalsBetweenComparisons = 5
    /// The interval at which a server tells the others that it is alive.
    package var presenceBeat = TimeAmount.seconds(5)
    /// The time for which the members of a silent server still count as online.
    ///
    /// With this value and a last beat that came early, the death of a server shows within half a minute.
    package var presenceLease = TimeAmount.seconds(20)
    /// The time for which a member that has lost its last connection stays online.
    ///
    /// A member that returns within it was never away: reloading a page takes a second, and a phone that changes
    /// networks takes ten.
    package var presenceGrace = TimeAmount.seconds(15)
    /// The age at which closed rooms are removed; nil: never.
    package var retainClosedRoomsMs: Int64?
    /// The time for which a waveform is kept after the last track that had it has lost it, in milliseconds.
    package var retainUnneededWaveformsMs: Int64 = 24 * 3_600 * 1_000
    /// Whether the open public rooms with a place are kept in memory, for searches and subscriptions.
    package var keepsNearby = true
    /// The interval at which they are read from the log; subscribers are told of changes at most once in it.
    package var nearbyInterval = TimeAmount.milliseconds(500)
    /// The time for which a search waits for the log if there is an older answer.
    package var nearbyPatience = TimeAmount.milliseconds(250)
    /// The time for which a search waits for the log if the rooms were never read.
    package var nearbyPatienceWithNothing = TimeAmount.seconds(5)
    /// The limits on running and waiting work outside the event loops.
    package var heavyWork = HeavyWork.Limits()
    /// The most events that a session may write to one room's log in a minute, and five times as many at once.
    ///
    /// A long event counts as several (``LogShares``). 0: any number.
    package var maximumEventsPerRoom = 12_000
    /// The same for all rooms together.
    package var maximumEventsPerSession = 24_000
    /// The same for all sessions of one address.
    package var maximumEventsPerAddress = 60_000
    /// The signals that a session may send in a second, and five times as many at once; 0: any number.
    ///
    /// A quarter of that may go to one recipient (``SignalShares``).
    package var maximumSignalsPerSecond = 200
    /// The bytes of signals that may wait for one session's connections; further ones are refused.
    package var maximumWaitingSignalBytes = 1 << 20
    /// The time after which an unused session ends.
    package var sessionLifetimeMs: Int64 = 30 * 24 * 3_600 * 1_000

    package init() {}
}

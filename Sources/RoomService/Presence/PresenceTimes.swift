package import NIOCore

/// The times after which servers and members count as gone.
package struct PresenceTimes: Sendable {
    /// The interval at which a server tells the others that it is alive.
    package var beat = TimeAmount.seconds(5)
    /// The time for which the members of a silent server still count as online.
    ///
    /// With this value and a last beat that came early, the death of a server shows within half a minute.
    package var lease = TimeAmount.seconds(20)
    /// The time for which a member that has lost its last connection stays online.
    ///
    /// A member that returns within it was never away: reloading a page takes a second, and a phone that changes
    /// networks takes ten.
    package var grace = TimeAmount.seconds(15)
}

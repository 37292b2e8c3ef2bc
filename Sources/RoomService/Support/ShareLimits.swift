/// What each session and address may write into rooms, read of logs and send to members.
package struct ShareLimits: Sendable {
    /// The most events that a session may write to one room's log in a minute, and five times as many at once.
    ///
    /// A long event counts as several (``LogShares``). 0: any number.
    package var maximumEventsPerRoom = 12_000
    /// The same for all rooms together.
    package var maximumEventsPerSession = 24_000
    /// The same for all sessions of one address.
    package var maximumEventsPerAddress = 60_000
    /// The KiB of logs that a session may read in a second, and five times as many at once (``ReadShares``); 0: any
    /// number.
    package var maximumReadKiBPerSession = 2_048
    /// The same for all sessions of one address.
    package var maximumReadKiBPerAddress = 8_192
    /// The signals that a session may send in a second, and five times as many at once; 0: any number.
    ///
    /// A quarter of that may go to one recipient (``SignalShares``).
    package var maximumSignalsPerSecond = 200
    /// The bytes of signals that may wait for one session's connections; further ones are refused.
    package var maximumWaitingSignalBytes = 1 << 20
}

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
    /// The most commands that may wait while a room is read, and the most requests that may wait while a room is
    /// loaded; further ones are answered `unavailable`.
    package var waitingCommandsPerRoom = 10_000
    /// About how many bytes of events are collected for a room's next append; further commands are answered
    /// `unavailable`.
    package var gatheringBytes = 8 << 20
    /// The limits of a pool.
    package var poolBudget = PoolBudget()
    /// The number of conflicts in a row after which a room answers `unavailable`.
    package var conflictsInARow = 100
    /// How often what happens is counted.
    package var counting = CountingSettings()
    /// How often followed rooms are compared with their log.
    package var comparisonInterval = TimeAmount.seconds(1)
    /// While the bus between servers is connected, only one in this many intervals compares, to find events whose
    /// announcement was lost.
    package var intervalsBetweenComparisons = 5
    /// The age at which closed rooms are removed; nil: never.
    package var retainClosedRoomsMs: Int64?
    /// The time for which a waveform is kept after the last track that had it has lost it, in milliseconds.
    package var retainUnneededWaveformsMs: Int64 = 24 * 3_600 * 1_000
    /// The limits on running and waiting work outside the event loops.
    package var heavyWork = HeavyWork.Limits()
    /// The time after which an unused session ends.
    package var sessionLifetimeMs: Int64 = 30 * 24 * 3_600 * 1_000

    /// The times after which servers and members count as gone.
    package var presence = PresenceTimes()
    /// How the rooms nearby are kept and told.
    package var nearby = NearbySettings()
    /// What each session and address may write into rooms and send to members.
    package var shares = ShareLimits()
    /// How rooms answer subscriptions: what can be resumed, and how states are encoded.
    package var answers = AnswerSettings()

    package init() {}
}

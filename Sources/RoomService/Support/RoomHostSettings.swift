import GeoSearch
package import NIOCore
package import RoomDomain

/// What an operator may set about rooms, and limits that follow from the surroundings.
package struct RoomHostSettings: Sendable {
    /// Whether other processes may write the same log: then answers to questions are checked against its head.
    package var logIsShared = false
    /// Locations are rounded to cells of about this size before they are stored or shown; 0: not rounded.
    package var locationPrecisionMeters = RoundedLocation.usualCell
    /// Transactions side by side; one where the store has a single writer.
    package var flushesSideBySide = 1
    /// A room that nobody follows and nobody asks for leaves memory after this.
    package var evictAfter = TimeAmount.seconds(60)
    /// A snapshot is made after so many events, and one for each such span is kept.
    package var eventsPerSnapshot = 500
    /// How far back a client may resume; further back it gets a snapshot.
    package var resumableEvents = 10_000
    /// How many bytes of payload are read for a client that resumes; for more it gets a snapshot.
    package var resumableBytes = 8 << 20
    /// Commands that may wait while a room is read, and those who ask for a room that is loaded; more are answered
    /// `unavailable`.
    package var waitingCommandsPerRoom = 10_000
    /// About how many bytes of events gather for a room's next append; what comes then is answered `unavailable`.
    package var gatheringBytes = 8 << 20
    /// How much a pool may hold.
    package var poolBudget = PoolBudget()
    /// A state whose JSON is longer than about this many bytes is encoded and compressed beside the event loop.
    package var longStateBytes = 1 << 16
    /// What compresses a state where somebody wants that: nil where it becomes no shorter.
    package var compressState: @Sendable (ByteBuffer) -> ByteBuffer? = { _ in nil }
    /// About how many bytes of deltas one answer has; who lacks more asks for the rest when it has taken them.
    package var answeredDeltaBytes = 49_152
    /// How often in a row a room may lose the race for its log before it answers `unavailable`.
    package var conflictsInARow = 100
    /// How often followed rooms are compared with their log.
    package var comparisonInterval = TimeAmount.seconds(1)
    /// While the bus between servers is connected, only so many intervals apart: to find what a lost hint did not tell.
    package var intervalsBetweenComparisons = 5
    /// How often a server says to the others that it lives.
    package var presenceBeat = TimeAmount.seconds(5)
    /// Who was online at a server that says nothing is so for this long: with it, and what the last beat was early, a
    /// server's death shows within half a minute.
    package var presenceLease = TimeAmount.seconds(20)
    /// A member whose last connection was lost stays online for this long, so that who comes back within it was never
    /// away: a page that is loaded anew takes a second, a phone that changes networks ten.
    package var presenceGrace = TimeAmount.seconds(15)
    /// Rooms that were closed longer ago than this are removed; nil: never.
    package var retainClosedRoomsMs: Int64?
    /// Whether the open public rooms with a place are kept in memory, to be searched and watched.
    package var keepsNearby = true
    /// How often they are brought to what the log has; who watches is told of changes at most so often.
    package var nearbyInterval = TimeAmount.milliseconds(500)
    /// How long a search waits for the log where there is an older answer.
    package var nearbyPatience = TimeAmount.milliseconds(250)
    /// How long a search waits for the log where the rooms were never read.
    package var nearbyPatienceWithNothing = TimeAmount.seconds(5)
    /// How much work beside the event loops runs side by side, and waits.
    package var heavyWork = HeavyWork.Limits()
    /// The most events that a session may write to one room's log in a minute, and five times as many at once.
    ///
    /// What is long counts as several (``LogShares``). 0: any number.
    package var maximumEventsPerRoom = 12_000
    /// The same for all rooms together.
    package var maximumEventsPerSession = 24_000
    /// The same for all sessions of one address.
    package var maximumEventsPerAddress = 60_000
    /// How much a session may signal to others in a second, and five times as much at once, to each of them a quarter
    /// (``SignalShares``); 0: any amount.
    package var maximumSignalsPerSecond = 200
    /// How many bytes of signals may wait for one session's connections; what comes then is refused.
    package var maximumWaitingSignalBytes = 1 << 20
    /// A session that is not used ends after this.
    package var sessionLifetimeMs: Int64 = 30 * 24 * 3_600 * 1_000

    package init() {}
}

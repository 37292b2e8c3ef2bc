package import FoundationEssentials

/// Statistics that can be compared with the log, as tools need beyond the methods for servers.
///
/// All methods may be called while servers count.
package protocol StatisticsArchive: StatisticsStore {
    /// Returns, of streams that exist, what is stored and what the log says, each as of one instant.
    ///
    /// The caller limits the number of streams. `toHead`: the log is read to its head; otherwise to the counted
    /// position, which streams without one lack: then nothing is read of it. Events are grouped by minute from
    /// `firstMinute` on, in minutes since the Unix epoch; nil: from the first minute that the store counts by itself.
    func proofs(
        of streams: [UUID], toHead: Bool, firstMinute: Int?
    ) async throws(StorageFault) -> [StatisticsProof]

    /// Returns those of `streams` whose last event was recorded at or after an instant.
    func streams(_ streams: [UUID], movedSince instant: Int64) async throws(StorageFault) -> [UUID]

    /// Records that the counts of streams were found right up to their counted positions; streams that have been counted
    /// anew since are left out.
    func markProven(_ positions: [UUID: CountedPosition]) async throws(StorageFault)

    /// Forgets what was proven, of all streams.
    func unmarkProven() async throws(StorageFault)

    /// Returns at most `limit` ids above `after`, ascending, that have counts, plays or observations, and no counted
    /// position or that of a stream that is excluded.
    func strays(after: UUID?, limit: Int) async throws(StorageFault) -> [UUID]

    /// Deletes all counts, plays and observations of a stream that has no counted position, or is excluded.
    func deleteStray(_ stream: UUID) async throws(StorageFault)

    /// Returns at most `limit` songs above `after` that no play names, ascending.
    func unnamedTracks(after: UUID?, limit: Int) async throws(StorageFault) -> [UUID]

    /// Deletes those of these songs that no play names.
    func deleteUnnamed(_ tracks: [UUID]) async throws(StorageFault)

    /// Returns the mark of a rebuilding that has begun and not ended, in milliseconds since the Unix epoch; nil if there
    /// is none.
    func rebuildingSince() async throws(StorageFault) -> Int64?

    /// Sets the mark of a rebuilding, or removes it.
    func markRebuilding(since instant: Int64?) async throws(StorageFault)

    // MARK: Days

    /// Returns the days for which numbers across streams are stored, ascending.
    func days() async throws(StorageFault) -> [StoredDay]

    /// Returns a day's numbers across streams, as they are stored and as its plays say, each ordered by song and as of
    /// one instant; nil if the day is to be computed again.
    func dayProof(of day: Int) async throws(StorageFault) -> DayProof?

    /// Records that a day is proven, if it was computed at `computedAt` and is not to be computed again.
    func seal(_ day: Int, computedAt: Int64, checksum: Int64, at now: Int64) async throws(StorageFault)

    /// Returns when the first event was recorded that is not counted and proven; nil if all events are.
    func firstUnproven() async throws(StorageFault) -> Int64?

    /// Returns how many rows there are, and how far streams are counted.
    func summary() async throws(StorageFault) -> StatisticsSummary
}

/// What is stored of one stream's statistics, and what its log says.
package struct StatisticsProof: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The head of its log.
    package var head: StreamHead
    /// How far it is counted; nil if counting has not begun.
    package var counted: CountedPosition?
    /// The last event that was read of its log.
    package var through: Int
    /// What the log's events say, except those of entries that ended.
    package var logged: [CountBucket: EventCounts]
    /// The events that tell which song was heard, and who made the stream: roomCreated, roomUpdated, tracksAdded,
    /// durationSet, entryFinished and the second event, ascending.
    package var events: [StoredEvent]
    /// The stored counts.
    package var counts: [CountBucket: EventCounts]
    /// The stored plays.
    package var plays: [CountedPlay]
    /// The stored songs of these plays.
    package var tracks: [CountedTrack]
    /// Who made the stream, as it is stored.
    package var founder: UUID?

    package init(
        stream: UUID, head: StreamHead, counted: CountedPosition?, through: Int,
        logged: [CountBucket: EventCounts] = [:], events: [StoredEvent] = [], counts: [CountBucket: EventCounts] = [:],
        plays: [CountedPlay] = [], tracks: [CountedTrack] = [], founder: UUID? = nil
    ) {
        self.stream = stream
        self.head = head
        self.counted = counted
        self.through = through
        self.logged = logged
        self.events = events
        self.counts = counts
        self.plays = plays
        self.tracks = tracks
        self.founder = founder
    }
}

/// A day for which numbers across streams are stored.
package struct StoredDay: Hashable, Sendable {
    /// Days since the Unix epoch.
    package var day: Int
    /// When it was computed, in milliseconds since the Unix epoch.
    package var computedAt: Int64
    /// When it was found to be proven; nil if it is not sealed.
    package var sealedAt: Int64?
    /// The checksum over its rows when it was sealed.
    package var checksum: Int64?

    package init(day: Int, computedAt: Int64, sealedAt: Int64?, checksum: Int64?) {
        self.day = day
        self.computedAt = computedAt
        self.sealedAt = sealedAt
        self.checksum = checksum
    }
}

/// A song's numbers across streams on one day.
package struct DayTrack: Hashable, Sendable {
    package var track: UUID
    package var plays: Int
    package var owners: Int
    package var playedMs: Int64

    package init(track: UUID, plays: Int, owners: Int, playedMs: Int64) {
        self.track = track
        self.plays = plays
        self.owners = owners
        self.playedMs = playedMs
    }
}

/// A day's numbers across streams, as they are stored and as they ought to be.
package struct DayProof: Hashable, Sendable {
    package var stored: [DayTrack]
    package var expected: [DayTrack]

    package init(stored: [DayTrack], expected: [DayTrack]) {
        self.stored = stored
        self.expected = expected
    }
}

/// The extent of the statistics.
package struct StatisticsSummary: Hashable, Sendable {
    /// Streams of the log.
    package var streams = 0
    /// Streams whose counting has not begun, or is not at their heads; excluded ones are not among them.
    package var behind = 0
    /// Streams that count for nothing.
    package var excluded = 0
    /// The events that are not counted.
    package var uncountedEvents = 0
    /// Streams whose counts are proven as far as they are counted.
    package var proven = 0
    /// Rows of counts.
    package var counts = 0
    /// Rows of plays.
    package var plays = 0
    /// Rows of songs.
    package var tracks = 0
    /// Days across streams that are sealed, and the last of them, in days since the Unix epoch.
    package var sealedDays = 0
    package var lastSealedDay: Int?

    package init() {}
}

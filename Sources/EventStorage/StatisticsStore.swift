package import FoundationEssentials

/// Counts of streams' events, kept beside the log.
///
/// Every stream has one counted position. Whoever adds counts names the position at which they begin and the one at
/// which they end, and the store compares the first and sets the second in the transaction that adds them: counting
/// anything twice changes nothing, whoever counts. All methods may be called from any task, concurrently, by any number
/// of processes.
package protocol StatisticsStore: Sendable {
    /// Lets counting begin at the start of these streams' logs, by the definitions of `version`; does nothing for
    /// streams that do not exist, or whose counting has begun. Streams that are to be forgotten are excluded.
    func beginCounting(_ streams: [UUID], version: Int) async throws(StorageFault)

    /// Adds counts of many streams in one transaction; outcomes are in the order of `batch`.
    ///
    /// Where a stream's counted position is not at the flush's `epoch`, `version` and `since`, that part alone is a
    /// ``FlushOutcome/conflict``. When the answer is lost, the whole batch was written or none of it, and it may be
    /// sent again: a conflict then says that it had been written.
    ///
    /// `now` is the time, in milliseconds since the Unix epoch: plays of hours that are over are marked, so that
    /// numbers across streams are computed again.
    ///
    /// - Precondition: a stream appears at most once in `batch`.
    func count(_ batch: [StatisticsFlush], at now: Int64) async throws(StorageFault) -> [FlushOutcome]

    /// Replaces all that is counted of a stream by `counts`, which begins at the start of its log, in one transaction.
    ///
    /// Returns ``FlushOutcome/conflict``, and writes nothing, if the stream's counted position is not `counted`, if there
    /// is no such stream, or if it is excluded.
    func replace(
        _ counts: StatisticsFlush, ifCounted counted: CountedPosition, at now: Int64
    ) async throws(StorageFault) -> FlushOutcome

    /// Returns at most `limit` streams with an id above `after`, ascending, each with its head and counted position as
    /// of one instant.
    func countedStreams(after: UUID?, limit: Int) async throws(StorageFault) -> [CountedStream]

    /// Returns the heads and counted positions of streams; streams that do not exist are left out.
    func countedStreams(_ streams: [UUID]) async throws(StorageFault) -> [CountedStream]

    /// Returns the counts of a stream in the spans that begin at or after `from` and before `to` (in minutes since the
    /// Unix epoch), and the position to which it is counted; nil if there is no such stream, or counting has
    /// not begun.
    func counts(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> StreamCounts?

    /// Returns entries of a stream that ended at or after `from` and before `to` (in milliseconds since the Unix epoch)
    /// and before `before`, newest first, at most `limit`, with the position to which the stream is counted; nil if
    /// there is no such stream, or counting has not begun.
    func plays(
        of stream: UUID, from: Int64, to: Int64, before: PlayPlace?, limit: Int
    ) async throws(StorageFault) -> StreamPlays?

    /// Returns the songs, or the artists, of entries of a stream that ended at or after `from` and before `to`, with the
    /// position to which it is counted: most plays first, then longest heard, then by identity; nil if there is no such
    /// stream, or counting has not begun.
    func ranking(
        of stream: UUID, from: Int64, to: Int64, byArtist: Bool, limit: Int
    ) async throws(StorageFault) -> StreamRanking?

    // MARK: Observations

    /// Writes what a node has seen of streams' listeners, in place of what it has written of the same minutes, unless
    /// that was more. Leaves out streams that are excluded, or whose counting has not begun.
    func observe(_ minutes: [ObservedMinute], by node: String) async throws(StorageFault)

    /// Returns what was seen of a stream's listeners in the spans that begin at or after `from` and before `to`, in
    /// minutes since the Unix epoch.
    func audience(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> [CountBucket: Audience]

    // MARK: Across streams

    /// Returns what was played most across streams: entries that count as plays, of streams that counted across streams
    /// when they ended. Most plays first, then longest heard, then by identity.
    ///
    /// Owners are the founders of streams; all streams whose founder is not known count as one owner's.
    func top(_ question: TopQuestion) async throws(StorageFault) -> [TopTrack]

    /// Returns what was played most on whole days before `day`, from `first` on, in days since the Unix epoch: from what
    /// ``computeDay(_:at:)`` has stored of days that were over, and from the plays of other days. A song's owners are
    /// those of the day on which it had the most.
    func topOfDays(
        from first: Int, before day: Int, byArtist: Bool, leastOwners: Int, limit: Int
    ) async throws(StorageFault) -> [TopTrack]

    /// Returns at most `limit` days before `day` whose numbers across streams are to be computed, ascending: those of the
    /// eight days before for which that was not done five minutes after their end or later, and all days of which plays
    /// were written or deleted after they were over.
    func staleDays(before day: Int, limit: Int) async throws(StorageFault) -> [Int]

    /// Returns the last day whose numbers across streams are sealed, and before which all stored days are; nil if there
    /// is none. In days since the Unix epoch.
    func sealedThrough() async throws(StorageFault) -> Int?

    /// Computes the numbers across streams of a day, and replaces those that are stored; false if somebody else is
    /// doing that.
    func computeDay(_ day: Int, at now: Int64) async throws(StorageFault) -> Bool

    /// Moves the counts of minutes before `minute` of these streams into quarters of an hour, and what was observed.
    func moveMinutes(of streams: [UUID], before minute: Int) async throws(StorageFault)

    /// Returns what is known of songs; those that no play names are left out.
    func countedTracks(_ tracks: [UUID]) async throws(StorageFault) -> [CountedTrack]
}

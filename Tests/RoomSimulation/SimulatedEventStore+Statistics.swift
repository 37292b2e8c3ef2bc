import EventStorage
import FoundationEssentials

extension SimulatedEventStore: StatisticsStore {
    func beginCounting(_ streams: [UUID], version: Int) async throws(StorageFault) {
        try await perform("begin of counts", isWrite: true) { log throws(StorageFault) in
            try await log.beginCounting(streams, version: version)
        }
    }

    func count(_ batch: [StatisticsFlush], at now: Int64) async throws(StorageFault) -> [FlushOutcome] {
        let name = "counts of \(batch.map { "\($0.since) to \($0.through)" }.joined(separator: ", "))"
        return try await perform(name, isWrite: true) { log throws(StorageFault) in
            try await log.count(batch, at: now)
        }
    }

    func replace(
        _ counts: StatisticsFlush, ifCounted counted: CountedPosition, at now: Int64
    ) async throws(StorageFault) -> FlushOutcome {
        try await perform("new counts", isWrite: true) { log throws(StorageFault) in
            try await log.replace(counts, ifCounted: counted, at: now)
        }
    }

    func countedStreams(after: UUID?, limit: Int) async throws(StorageFault) -> [CountedStream] {
        try await perform("counted rooms") { log throws(StorageFault) in
            try await log.countedStreams(after: after, limit: limit)
        }
    }

    func countedStreams(_ streams: [UUID]) async throws(StorageFault) -> [CountedStream] {
        try await perform("counted rooms") { log throws(StorageFault) in try await log.countedStreams(streams) }
    }

    func counts(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> StreamCounts? {
        try await perform("counts") { log throws(StorageFault) in
            try await log.counts(of: stream, from: from, to: to)
        }
    }

    func plays(
        of stream: UUID, from: Int64, to: Int64, before: PlayPlace?, limit: Int
    ) async throws(StorageFault) -> StreamPlays? {
        try await perform("plays") { log throws(StorageFault) in
            try await log.plays(of: stream, from: from, to: to, before: before, limit: limit)
        }
    }

    func ranking(
        of stream: UUID, from: Int64, to: Int64, byArtist: Bool, limit: Int
    ) async throws(StorageFault) -> StreamRanking? {
        try await perform("ranking") { log throws(StorageFault) in
            try await log.ranking(of: stream, from: from, to: to, byArtist: byArtist, limit: limit)
        }
    }

    func observe(_ minutes: [ObservedMinute], by node: String) async throws(StorageFault) {
        try await perform("observations", isWrite: true) { log throws(StorageFault) in
            try await log.observe(minutes, by: node)
        }
    }

    func audience(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> [CountBucket: Audience] {
        try await perform("audience") { log throws(StorageFault) in
            try await log.audience(of: stream, from: from, to: to)
        }
    }

    func top(_ question: TopQuestion) async throws(StorageFault) -> [TopTrack] {
        try await perform("top") { log throws(StorageFault) in try await log.top(question) }
    }

    func topOfDays(
        from first: Int, before day: Int, byArtist: Bool, leastOwners: Int, limit: Int
    ) async throws(StorageFault) -> [TopTrack] {
        try await perform("top of days") { log throws(StorageFault) in
            try await log.topOfDays(
                from: first, before: day, byArtist: byArtist, leastOwners: leastOwners, limit: limit)
        }
    }

    func staleDays(before day: Int, limit: Int) async throws(StorageFault) -> [Int] {
        try await perform("stale days") { log throws(StorageFault) in
            try await log.staleDays(before: day, limit: limit)
        }
    }

    func sealedThrough() async throws(StorageFault) -> Int? {
        try await perform("sealed through") { log throws(StorageFault) in try await log.sealedThrough() }
    }

    func computeDay(_ day: Int, at now: Int64) async throws(StorageFault) -> Bool {
        try await perform("day", isWrite: true) { log throws(StorageFault) in try await log.computeDay(day, at: now) }
    }

    func moveMinutes(of streams: [UUID], before minute: Int) async throws(StorageFault) {
        try await perform("minutes", isWrite: true) { log throws(StorageFault) in
            try await log.moveMinutes(of: streams, before: minute)
        }
    }

    func countedTracks(_ tracks: [UUID]) async throws(StorageFault) -> [CountedTrack] {
        try await perform("songs") { log throws(StorageFault) in try await log.countedTracks(tracks) }
    }
}

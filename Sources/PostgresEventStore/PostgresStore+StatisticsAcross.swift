package import EventStorage
package import FoundationEssentials

extension PostgresStore {
    package func top(_ question: TopQuestion) async throws(StorageFault) -> [TopTrack] {
        var parameters = Parameters(question.from, question.to, question.leastOwners, max(0, question.limit))
        if let streams = question.streams { parameters.add(Set(streams).sorted()) }
        let call = Call(
            .top(byArtist: question.byArtist, inRooms: question.streams != nil), with: parameters)
        // In few rooms, plays are found by key, as all statements of a session find their rows.
        return try await Self.tops(in: question.streams == nil ? planned(call) : ask(call))
    }

    package func topOfDays(
        from first: Int, before day: Int, byArtist: Bool, leastOwners: Int, limit: Int
    ) async throws(StorageFault) -> [TopTrack] {
        try await Self.tops(
            in: planned(
                Call(.topOfDays(byArtist: byArtist), first * 24, day * 24, leastOwners, max(0, limit))))
    }

    private static func tops(in answer: PostgresResult) throws(StorageFault) -> [TopTrack] {
        try zip(tracks(in: answer), answer.rows).map { (track, row) throws(StorageFault) in
            try TopTrack(
                track: track, plays: answer.int(row, 4), owners: answer.int(row, 5), playedMs: Int64(answer.int(row, 6))
            )
        }
    }

    /// Runs a statement that reads most of a table.
    private func planned(_ call: Call) async throws(StorageFault) -> PostgresResult {
        let answers = try await statisticsPool.run(
            .calls([Call(.beginReading), Call(.planForAll), call, Call(.commit)]), isWrite: false)
        guard answers.count == 4 else { throw .corrupt(.init(message: "a reading lacks answers")) }
        return answers[2]
    }

    package func observe(_ minutes: [ObservedMinute], by node: String) async throws(StorageFault) {
        let sorted = minutes.sorted { $0.stream < $1.stream }
        _ = try await execute(
            Call(
                .observe, sorted.map(\.stream), sorted.map(\.minute), sorted.map(\.peak), sorted.map(\.listenedMs),
                node))
    }

    package func audience(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> [CountBucket: Audience] {
        let answer = try await ask(Call(.audience, stream, from, to))
        var found: [CountBucket: Audience] = [:]
        for row in answer.rows {
            guard let step = CountStep(rawValue: try answer.int(row, 0)) else { continue }
            found[CountBucket(step, at: try answer.int(row, 1))] = Audience(
                peak: try answer.int(row, 2), listenedMs: Int64(try answer.int(row, 3)))
        }
        return found
    }

    package func staleDays(before day: Int, limit: Int) async throws(StorageFault) -> [Int] {
        let answer = try await planned(Call(.staleDays, day, max(0, limit)))
        return try answer.rows.map { (row) throws(StorageFault) in try answer.int(row, 0) }
    }

    package func sealedThrough() async throws(StorageFault) -> Int? {
        let answer = try await ask(Call(.sealedThrough))
        guard !answer.rows.isEmpty else { return nil }
        return try answer.optionalInt(0, 0)
    }

    package func computeDay(_ day: Int, at now: Int64) async throws(StorageFault) -> Bool {
        let hour = day * 24
        let answers = try await compute([
            Call(.begin), Call(.planForAll), Call(.makeDay, hour), Call(.claimDay, hour), Call(.takeLate, hour),
            Call(.clearDay, hour), Call(.computeDay, hour), Call(.endDay, hour, now), Call(.commit),
        ])
        guard answers.count == 9, let row = answers[3].rows.first else {
            throw .corrupt(.init(message: "a day has no answer"))
        }
        return try answers[3].bool(row, 0)
    }

    package func moveMinutes(of streams: [UUID], before minute: Int) async throws(StorageFault) {
        let streams = streams.sorted()
        _ = try await compute([
            Call(.begin), Call(.lockCounted, streams, minute), Call(.moveMinutes, streams, minute),
            Call(.moveAudience, streams, minute), Call(.commit),
        ])
    }
}

package import EventStorage
package import FoundationEssentials

extension PostgresStore: StatisticsArchive {
    package func proofs(
        of streams: [UUID], toHead: Bool, firstMinute: Int?
    ) async throws(StorageFault) -> [StatisticsProof] {
        // All statements read one snapshot of the database.
        let calls = [
            Call(.beginReading), Call(.planForAll), Call(.countedStreamsNamed, streams),
            Call(.loggedCounts, streams, toHead, firstMinute),
            Call(.loggedPlays, streams, toHead), Call(.storedCounts, streams), Call(.storedPlays, streams),
            Call(.storedTracks, streams), Call(.commit),
        ]
        let answers = try await statisticsPool.run(.calls(calls), isWrite: false)
        guard answers.count == calls.count else { throw .corrupt(.init(message: "a proof lacks answers")) }
        var proofs: [UUID: StatisticsProof] = [:]
        for room in try Self.countedStreams(in: answers[2]) {
            proofs[room.stream] = StatisticsProof(
                stream: room.stream, head: room.head, counted: room.counted,
                through: toHead ? room.head.version.seq : room.counted?.seq ?? 0, founder: room.founder)
        }
        for row in answers[3].rows {
            let bucket = try answers[3].bucket(row, 1)
            var counts = EventCounts()
            let fields: [WritableKeyPath<EventCounts, Int>] = [
                \.starts, \.votes, \.unvotes, \.requests, \.joins, \.leaves, \.tracksAdded,
            ]
            for (place, field) in fields.enumerated() { counts[keyPath: field] = try answers[3].int(row, 3 + place) }
            try proofs[answers[3].uuid(row, 0)]?.logged[bucket] = counts
        }
        for (row, event) in zip(answers[4].rows, try Self.events(in: answers[4])) {
            try proofs[answers[4].uuid(row, 5)]?.events.append(event)
        }
        for row in answers[5].rows {
            let counts = try answers[5].counts(row, from: 3)
            try proofs[answers[5].uuid(row, 0)]?.counts[answers[5].bucket(row, 1)] = counts
        }
        for row in answers[6].rows { try proofs[answers[6].uuid(row, 10)]?.plays.append(answers[6].play(row)) }
        let tracks = Dictionary(uniqueKeysWithValues: try Self.tracks(in: answers[7]).map { ($0.track, $0) })
        return proofs.values.sorted { $0.stream < $1.stream }.map { proof in
            var proof = proof
            proof.tracks = Set(proof.plays.map(\.track)).compactMap { tracks[$0] }
            return proof
        }
    }

    package func streams(_ streams: [UUID], movedSince instant: Int64) async throws(StorageFault) -> [UUID] {
        let answer = try await ask(Call(.streamsMovedSince, streams, instant))
        return try answer.uuids()
    }

    package func markProven(_ positions: [UUID: CountedPosition]) async throws(StorageFault) {
        let streams = positions.keys.sorted()
        let positions = streams.compactMap { positions[$0] }
        _ = try await execute(
            Call(.markProven, streams, positions.map(\.epoch), positions.map(\.version), positions.map(\.seq)))
    }

    package func unmarkProven() async throws(StorageFault) {
        _ = try await compute([Call(.begin), Call(.planForAll), Call(.unmarkProven), Call(.commit)])
    }

    package func strays(after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        try await ids(Call(.strays, after, max(0, limit)))
    }

    package func deleteStray(_ stream: UUID) async throws(StorageFault) {
        _ = try await compute([
            Call(.begin), Call(.lockNames), Call(.noteStray, [stream]), Call(.uncount), Call(.unobserve), Call(.commit),
        ])
    }

    package func unnamedTracks(after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        try await ids(Call(.unnamedTracks, after, max(0, limit)))
    }

    package func deleteUnnamed(_ tracks: [UUID]) async throws(StorageFault) {
        _ = try await compute([Call(.begin), Call(.lockNames), Call(.deleteUnnamed, tracks), Call(.commit)])
    }

    /// Runs a statement that may read whole tables, and returns its ids.
    private func ids(_ call: Call) async throws(StorageFault) -> [UUID] {
        let answers = try await statisticsPool.run(
            .calls([Call(.beginReading), Call(.planForAll), call, Call(.commit)]), isWrite: false)
        guard answers.count == 4 else { throw .corrupt(.init(message: "a reading lacks answers")) }
        return try answers[2].uuids()
    }

    package func rebuildingSince() async throws(StorageFault) -> Int64? {
        let answer = try await ask(Call(.rebuildingSince))
        return try answer.rows.first.map { (row) throws(StorageFault) in Int64(try answer.int(row, 0)) }
    }

    package func markRebuilding(since instant: Int64?) async throws(StorageFault) {
        _ = try await execute(instant.map { Call(.markRebuilding, $0) } ?? Call(.unmarkRebuilding))
    }

    // MARK: Days

    package func days() async throws(StorageFault) -> [StoredDay] {
        let answer = try await ask(Call(.days))
        return try answer.rows.map { (row) throws(StorageFault) in
            try StoredDay(
                day: answer.int(row, 0), computedAt: Int64(answer.int(row, 1)),
                sealedAt: answer.optionalInt(row, 2).map(Int64.init),
                checksum: answer.optionalInt(row, 3).map(Int64.init))
        }
    }

    package func dayProof(of day: Int) async throws(StorageFault) -> DayProof? {
        let hour = day * 24
        let answers = try await statisticsPool.run(
            .calls([
                Call(.beginReading), Call(.planForAll), Call(.isLate, hour), Call(.storedDay, hour),
                Call(.expectedDay, hour), Call(.commit),
            ]), isWrite: false)
        guard answers.count == 6, let row = answers[2].rows.first else {
            throw .corrupt(.init(message: "a reading lacks answers"))
        }
        guard try !answers[2].bool(row, 0) else { return nil }
        return DayProof(stored: try Self.tracksOfDay(in: answers[3]), expected: try Self.tracksOfDay(in: answers[4]))
    }

    private static func tracksOfDay(in answer: PostgresResult) throws(StorageFault) -> [DayTrack] {
        try answer.rows.map { (row) throws(StorageFault) in
            try DayTrack(
                track: answer.uuid(row, 0), plays: answer.int(row, 1), owners: answer.int(row, 2),
                playedMs: Int64(answer.int(row, 3)))
        }
    }

    package func seal(
        _ day: Int, computedAt: Int64, checksum: Int64, at now: Int64
    ) async throws(StorageFault) {
        _ = try await execute(Call(.seal, day * 24, computedAt, checksum, now))
    }

    package func firstUnproven() async throws(StorageFault) -> Int64? {
        let answers = try await statisticsPool.run(
            .calls([Call(.beginReading), Call(.planForAll), Call(.firstUnproven), Call(.commit)]), isWrite: false)
        guard answers.count == 4, let row = answers[2].rows.first else {
            throw .corrupt(.init(message: "a reading lacks answers"))
        }
        return try answers[2].optionalInt(row, 0).map(Int64.init)
    }

    package func summary() async throws(StorageFault) -> StatisticsSummary {
        let answers = try await statisticsPool.run(
            .calls([Call(.beginReading), Call(.planForAll), Call(.statisticsSummary), Call(.commit)]), isWrite: false)
        guard answers.count == 4, let row = answers[2].rows.first else {
            throw .corrupt(.init(message: "a summary has no answer"))
        }
        let answer = answers[2]
        var summary = StatisticsSummary()
        summary.streams = try answer.int(row, 0)
        summary.behind = try answer.int(row, 1)
        summary.excluded = try answer.int(row, 2)
        summary.uncountedEvents = try answer.int(row, 3)
        summary.proven = try answer.int(row, 4)
        summary.counts = try answer.int(row, 5)
        summary.plays = try answer.int(row, 6)
        summary.tracks = try answer.int(row, 7)
        summary.sealedDays = try answer.int(row, 8)
        summary.lastSealedDay = try answer.optionalInt(row, 9)
        return summary
    }
}

extension PostgresResult {
    /// The span in two columns.
    fileprivate func bucket(_ row: Int, _ column: Int) throws(StorageFault) -> CountBucket {
        guard let step = CountStep(rawValue: try int(row, column)) else {
            throw .corrupt(.init(message: "a count has no known step"))
        }
        return CountBucket(step, at: try int(row, column + 1))
    }
}

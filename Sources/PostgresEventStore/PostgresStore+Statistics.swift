package import EventStorage
package import FoundationEssentials

extension PostgresStore: StatisticsStore {
    package func beginCounting(_ streams: [UUID], version: Int) async throws(StorageFault) {
        _ = try await execute(Call(.beginCounting, streams, version))
    }

    package func count(_ batch: [StatisticsFlush], at now: Int64) async throws(StorageFault) -> [FlushOutcome] {
        guard !batch.isEmpty else { return [] }
        let sorted = batch.sorted { $0.stream < $1.stream }
        var parameters = Parameters(
            sorted.map(\.stream), sorted.map(\.epoch), sorted.map(\.version), sorted.map(\.since),
            sorted.map(\.through))
        parameters.add(counts: sorted)
        let withPlays = sorted.contains { !$0.plays.isEmpty || $0.withdraws }
        if withPlays {
            parameters.add(plays: sorted)
            parameters.add(now)
            parameters.add(sorted.filter(\.withdraws).map(\.stream))
        }
        parameters.add(sorted.map(\.founder))
        let answer = try await execute(Call(.count(withPlays: withPlays), with: parameters))
        guard answer.rows.count < batch.count else { return Array(repeating: .counted, count: batch.count) }
        var moved: Set<UUID> = []
        for row in answer.rows { moved.insert(try answer.uuid(row, 0)) }
        return batch.map { moved.contains($0.stream) ? .counted : .conflict }
    }

    package func replace(
        _ counts: StatisticsFlush, ifCounted counted: CountedPosition, at now: Int64
    ) async throws(StorageFault) -> FlushOutcome {
        var (rows, plays) = (Parameters(), Parameters())
        rows.add(counts: [counts])
        plays.add(plays: [counts])
        plays.add(now)
        let answers = try await compute([
            Call(.begin), Call(.lockNames),
            Call(
                .moveCounted, counts.stream, counts.epoch, counts.version, counts.through, counted.epoch,
                counted.version, counted.seq, counts.founder),
            Call(.uncount), Call(.recount, with: rows), Call(.replay, with: plays), Call(.commit),
        ])
        guard answers.count == 7 else { throw .corrupt(.init(message: "a replacement lacks answers")) }
        return answers[2].rows.isEmpty ? .conflict : .counted
    }

    // MARK: Reading

    package func countedStreams(after: UUID?, limit: Int) async throws(StorageFault) -> [CountedStream] {
        try await Self.countedStreams(in: ask(Call(.countedStreams, after, max(0, limit))))
    }

    package func countedStreams(_ streams: [UUID]) async throws(StorageFault) -> [CountedStream] {
        try await Self.countedStreams(in: ask(Call(.countedStreamsNamed, streams)))
    }

    static func countedStreams(in answer: PostgresResult) throws(StorageFault) -> [CountedStream] {
        try answer.rows.map { (row) throws(StorageFault) in
            let counted: CountedPosition?
            if let epoch = answer.optionalText(row, 4) {
                counted = try CountedPosition(epoch: epoch, seq: answer.int(row, 5), version: answer.int(row, 6))
            } else {
                counted = nil
            }
            return try CountedStream(
                stream: answer.uuid(row, 0),
                head: StreamHead(
                    epoch: answer.text(row, 1),
                    version: StreamVersion(seq: answer.int(row, 2), keyed: answer.int(row, 3))),
                counted: counted, proven: answer.int(row, 7), founder: answer.optionalUUID(row, 8))
        }
    }

    package func counts(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> StreamCounts? {
        guard let (position, answer) = try await read(Call(.counts, stream, from, to), ofCounted: stream)
        else { return nil }
        var counts: [CountBucket: EventCounts] = [:]
        for row in answer.rows {
            guard let step = CountStep(rawValue: try answer.int(row, 0)) else { continue }
            counts[CountBucket(step, at: try answer.int(row, 1))] = try answer.counts(row, from: 2)
        }
        return StreamCounts(position: position, counts: counts)
    }

    package func plays(
        of stream: UUID, from: Int64, to: Int64, before: PlayPlace?, limit: Int
    ) async throws(StorageFault) -> StreamPlays? {
        let page = Call(
            .plays, stream, from, to, before?.endedAt ?? .max, before?.entry ?? .max, max(0, limit))
        guard let (position, answer) = try await read(page, ofCounted: stream) else { return nil }
        let plays = try answer.rows.map { (row) throws(StorageFault) in try answer.play(row) }
        return StreamPlays(position: position, plays: plays)
    }

    package func ranking(
        of stream: UUID, from: Int64, to: Int64, byArtist: Bool, limit: Int
    ) async throws(StorageFault) -> StreamRanking? {
        let call = Call(byArtist ? .rankedArtists : .rankedTracks, stream, from, to, max(0, limit))
        guard let (position, answer) = try await read(call, ofCounted: stream) else { return nil }
        let songs = try Self.tracks(in: answer)
        let tracks = try zip(songs, answer.rows).map { (song, row) throws(StorageFault) in
            try RankedTrack(
                track: song, number: answer.int(row, 4), addedBy: answer.int(row, 5), plays: answer.int(row, 6),
                skips: answer.int(row, 7), playedMs: Int64(answer.int(row, 8)))
        }
        return StreamRanking(position: position, tracks: tracks)
    }

    /// Runs a statement together with the look-up of the counted position, as of one instant.
    private func read(
        _ call: Call, ofCounted stream: UUID
    ) async throws(StorageFault) -> (CountedPosition, PostgresResult)? {
        let calls = [Call(.beginReading), Call(.countedPosition, stream), call, Call(.commit)]
        let answers = try await statisticsPool.run(.calls(calls), isWrite: false)
        guard answers.count == calls.count else { throw .corrupt(.init(message: "a reading lacks answers")) }
        guard let row = answers[1].rows.first else { return nil }
        let position = try CountedPosition(
            epoch: answers[1].text(row, 0), seq: answers[1].int(row, 1), version: answers[1].int(row, 2))
        return (position, answers[2])
    }

    package func countedTracks(_ tracks: [UUID]) async throws(StorageFault) -> [CountedTrack] {
        try await Self.tracks(in: ask(Call(.countedTracks, tracks)))
    }

    static func tracks(in answer: PostgresResult) throws(StorageFault) -> [CountedTrack] {
        try answer.rows.map { (row) throws(StorageFault) in
            try CountedTrack(
                track: answer.uuid(row, 0), artistKey: answer.optionalUUID(row, 1), title: answer.text(row, 2),
                artist: answer.optionalText(row, 3))
        }
    }
}

extension Parameters {
    /// Adds the rows of ``Statement/count(withPlays:)`` that are counted by span.
    fileprivate mutating func add(counts batch: [StatisticsFlush]) {
        let rows = batch.flatMap { flush in flush.counts.map { (flush.stream, $0.key, $0.value) } }
        add(rows.map(\.0))
        add(rows.map(\.1.step.rawValue))
        add(rows.map(\.1.minute))
        for field in EventCounts.numbers { add(rows.map { $0.2[keyPath: field] }) }
        add(rows.map(\.2.playedMs))
    }

    /// Adds the rows of ``Statement/count(withPlays:)`` for entries and their songs.
    fileprivate mutating func add(plays batch: [StatisticsFlush]) {
        let plays = batch.flatMap { flush in flush.plays.map { (flush.stream, $0) } }
        add(plays.map(\.0))
        add(plays.map(\.1.endedAt))
        add(plays.map(\.1.entry))
        add(plays.map(\.1.track))
        add(plays.map(\.1.number))
        add(plays.map(\.1.addedBy))
        add(plays.map(\.1.startedAt))
        add(plays.map(\.1.playedMs))
        add(plays.map(\.1.reason.rawValue))
        add(plays.map(\.1.isPlay))
        add(plays.map(\.1.isPublic))
        let tracks = batch.flatMap { flush in flush.tracks.map { (flush.stream, $0) } }
        add(tracks.map(\.0))
        add(tracks.map(\.1.track))
        add(tracks.map(\.1.artistKey))
        add(tracks.map(\.1.title))
        add(tracks.map(\.1.artist))
    }
}

extension PostgresResult {
    func counts(_ row: Int, from column: Int) throws(StorageFault) -> EventCounts {
        var counts = EventCounts()
        for (place, field) in EventCounts.numbers.enumerated() {
            counts[keyPath: field] = try int(row, column + place)
        }
        counts.playedMs = Int64(try int(row, column + EventCounts.numbers.count))
        return counts
    }

    func play(_ row: Int) throws(StorageFault) -> CountedPlay {
        guard let reason = CountedPlay.Reason(rawValue: try int(row, 7)) else {
            throw .corrupt(.init(message: "a play has no known reason"))
        }
        return try CountedPlay(
            entry: int(row, 0), track: uuid(row, 1), number: int(row, 2), addedBy: int(row, 3),
            startedAt: Int64(int(row, 4)), endedAt: Int64(int(row, 5)), playedMs: Int64(int(row, 6)), reason: reason,
            isPlay: bool(row, 8), isPublic: bool(row, 9))
    }
}

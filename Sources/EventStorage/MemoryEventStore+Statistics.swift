package import FoundationEssentials

extension MemoryEventStore: StatisticsStore {
    package func beginCounting(_ streams: [UUID], version: Int) async throws(StorageFault) {
        for stream in streams where counted[stream] == nil {
            guard let stored = self.streams[stream] else { continue }
            counted[stream] = Counted(
                CountedPosition(
                    epoch: stored.head.epoch, seq: 0,
                    version: stored.forgetAt == nil ? version : CountedPosition.excluded))
        }
    }

    package func count(_ batch: [StatisticsFlush], at now: Int64) async throws(StorageFault) -> [FlushOutcome] {
        batch.map { flush in
            guard
                counted[flush.stream]?.position
                    == CountedPosition(epoch: flush.epoch, seq: flush.since, version: flush.version)
            else { return .conflict }
            counted[flush.stream]?.add(flush)
            name(flush.tracks)
            return .counted
        }
    }

    package func replace(
        _ counts: StatisticsFlush, ifCounted position: CountedPosition, at now: Int64
    ) async throws(StorageFault) -> FlushOutcome {
        guard streams[counts.stream] != nil, counted[counts.stream]?.position == position,
            position.version != CountedPosition.excluded
        else { return .conflict }
        let start = CountedPosition(epoch: counts.epoch, seq: counts.since, version: counts.version)
        counted[counts.stream] = Counted(start)
        counted[counts.stream]?.add(counts)
        name(counts.tracks)
        forgetUnnamed()
        return .counted
    }

    package func countedStreams(after: UUID?, limit: Int) async throws(StorageFault) -> [CountedStream] {
        let streams = self.streams.keys.filter { stream in after.map { stream > $0 } ?? true }
        return try await countedStreams(Array(streams.sorted().prefix(max(0, limit))))
    }

    package func countedStreams(_ streams: [UUID]) async throws(StorageFault) -> [CountedStream] {
        streams.sorted().compactMap { stream in
            self.streams[stream].map {
                CountedStream(
                    stream: stream, head: $0.head, counted: counted[stream]?.position,
                    founder: counted[stream]?.founder)
            }
        }
    }

    package func counts(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> StreamCounts? {
        counted[stream].map { counted in
            StreamCounts(
                position: counted.position,
                counts: counted.counts.filter { from <= $0.key.minute && $0.key.minute < to })
        }
    }

    package func plays(
        of stream: UUID, from: Int64, to: Int64, before: PlayPlace?, limit: Int
    ) async throws(StorageFault) -> StreamPlays? {
        counted[stream].map { counted in
            let plays = counted.plays.filter { play in
                from <= play.endedAt && play.endedAt < to && before.map { play.place < $0 } ?? true
            }
            let newest = plays.sorted { $0.place > $1.place }
            return StreamPlays(position: counted.position, plays: Array(newest.prefix(max(0, limit))))
        }
    }

    package func ranking(
        of stream: UUID, from: Int64, to: Int64, byArtist: Bool, limit: Int
    ) async throws(StorageFault) -> StreamRanking? {
        guard let counted = counted[stream] else { return nil }
        var ranked: [UUID: RankedTrack] = [:]
        for play in counted.plays where from <= play.endedAt && play.endedAt < to {
            guard let track = countedTracks[play.track], let key = byArtist ? track.artistKey : track.track else {
                continue
            }
            var one =
                ranked[key]
                ?? RankedTrack(track: track, number: 0, addedBy: 0, plays: 0, skips: 0, playedMs: 0)
            if play.number > one.number { (one.track, one.number, one.addedBy) = (track, play.number, play.addedBy) }
            one.plays += play.isPlay ? 1 : 0
            one.skips += play.reason == .skipped ? 1 : 0
            one.playedMs += play.playedMs
            ranked[key] = one
        }
        let order = ranked.sorted { left, right in
            (right.value.plays, right.value.playedMs, left.key) < (left.value.plays, left.value.playedMs, right.key)
        }
        return StreamRanking(position: counted.position, tracks: order.prefix(max(0, limit)).map(\.value))
    }

    package func observe(_ minutes: [ObservedMinute], by node: String) async throws(StorageFault) {
        for seen in minutes where counted[seen.stream].map({ $0.position.version != CountedPosition.excluded }) ?? false
        {
            let bucket = CountBucket(.minute, at: seen.minute)
            let before = counted[seen.stream]?.seen[bucket]?[node] ?? Audience()
            counted[seen.stream]?.seen[bucket, default: [:]][node] = Audience(
                peak: max(before.peak, seen.peak), listenedMs: max(before.listenedMs, seen.listenedMs))
        }
    }

    package func audience(
        of stream: UUID, from: Int, to: Int
    ) async throws(StorageFault) -> [CountBucket: Audience] {
        let seen = (counted[stream]?.seen ?? [:]).filter { from <= $0.key.minute && $0.key.minute < to }
        return seen.mapValues { nodes in
            Audience(
                peak: nodes.values.reduce(0) { $0 + $1.peak },
                listenedMs: nodes.values.reduce(0) { $0 + $1.listenedMs })
        }
    }

    package func top(_ question: TopQuestion) async throws(StorageFault) -> [TopTrack] {
        let chosen = question.streams.map { Set($0) }
        return top(question.byArtist, leastOwners: question.leastOwners, limit: question.limit) { stream, play in
            chosen?.contains(stream) ?? true && question.from <= play.endedAt && play.endedAt < question.to ? 0 : nil
        }
    }

    package func topOfDays(
        from first: Int, before day: Int, byArtist: Bool, leastOwners: Int, limit: Int
    ) async throws(StorageFault) -> [TopTrack] {
        top(byArtist, leastOwners: leastOwners, limit: limit) { _, play in
            let played = Int(play.endedAt / 86_400_000)
            return (first..<max(first, day)).contains(played) ? played : nil
        }
    }

    /// Ranks plays; `part` names the part of the time to which a play belongs, or nil if it does not count.
    private func top(
        _ byArtist: Bool, leastOwners: Int, limit: Int, _ part: (UUID, CountedPlay) -> Int?
    ) -> [TopTrack] {
        var found: [UUID: (top: TopTrack, owners: [Int: Set<UUID?>])] = [:]
        for (stream, counted) in counted {
            for play in counted.plays where play.isPlay && play.isPublic {
                guard let part = part(stream, play), let track = countedTracks[play.track],
                    let key = byArtist ? track.artistKey : track.track
                else { continue }
                var one = found[key] ?? (TopTrack(track: track, plays: 0, owners: 0, playedMs: 0), [:])
                one.top.plays += 1
                one.top.playedMs += play.playedMs
                one.owners[part, default: []].insert(counted.founder)
                found[key] = one
            }
        }
        let ranked = found.map { key, one in
            var top = one.top
            top.owners = one.owners.values.map(\.count).max() ?? 0
            return (key, top)
        }
        let order = ranked.filter { $0.1.owners >= leastOwners }.sorted { left, right in
            (right.1.plays, right.1.playedMs, left.0) < (left.1.plays, left.1.playedMs, right.0)
        }
        return order.prefix(max(0, limit)).map(\.1)
    }

    /// None: a store in memory reads its plays.
    package func staleDays(before day: Int, limit: Int) async throws(StorageFault) -> [Int] { [] }

    package func sealedThrough() async throws(StorageFault) -> Int? { nil }

    package func computeDay(_ day: Int, at now: Int64) async throws(StorageFault) -> Bool { true }

    package func moveMinutes(of streams: [UUID], before minute: Int) async throws(StorageFault) {
        for stream in streams {
            for (bucket, counts) in counted[stream]?.counts ?? [:]
            where bucket.step == .minute && bucket.minute < minute {
                counted[stream]?.counts[bucket] = nil
                counted[stream]?.counts[bucket.quarter, default: EventCounts()] += counts
            }
            for (bucket, audience) in counted[stream]?.seen ?? [:]
            where bucket.step == .minute && bucket.minute < minute {
                counted[stream]?.seen[bucket] = nil
                let sum = Audience(
                    peak: audience.values.reduce(0) { $0 + $1.peak },
                    listenedMs: audience.values.reduce(0) { $0 + $1.listenedMs })
                counted[stream]?.seen[bucket.quarter, default: [:]]["", default: Audience()] += sum
            }
        }
    }

    package func countedTracks(_ tracks: [UUID]) async throws(StorageFault) -> [CountedTrack] {
        tracks.compactMap { countedTracks[$0] }
    }

    private func name(_ tracks: [CountedTrack]) {
        for track in tracks where countedTracks[track.track] == nil { countedTracks[track.track] = track }
    }

    /// Deletes all that is counted of a stream, and counts nothing of it any more.
    func exclude(_ stream: UUID) {
        guard let head = streams[stream]?.head else { return }
        counted[stream] = Counted(CountedPosition(epoch: head.epoch, seq: 0, version: CountedPosition.excluded))
        forgetUnnamed()
    }

    /// Deletes the songs that no play names any more.
    func forgetUnnamed() {
        let named = Set(counted.values.lazy.flatMap(\.plays).map(\.track))
        countedTracks = countedTracks.filter { named.contains($0.key) }
    }
}

extension MemoryEventStore {
    /// What is counted of one stream.
    struct Counted {
        var position: CountedPosition
        var counts: [CountBucket: EventCounts] = [:]
        var plays: [CountedPlay] = []
        var founder: UUID?
        /// What each node has seen; the node of a quarter of an hour has no name.
        var seen: [CountBucket: [String: Audience]] = [:]

        init(_ position: CountedPosition) {
            self.position = position
        }

        mutating func add(_ flush: StatisticsFlush) {
            position.seq = flush.through
            for (bucket, counts) in flush.counts { self.counts[bucket, default: EventCounts()] += counts }
            if flush.withdraws { for place in plays.indices { plays[place].isPublic = false } }
            plays += flush.plays
            founder = flush.founder ?? founder
        }
    }
}

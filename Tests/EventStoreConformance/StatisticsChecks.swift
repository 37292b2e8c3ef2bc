import EventStorage
import FoundationEssentials
import RandomTestSupport
import Synchronization
import Testing

extension ConformanceSuite {
    static let statisticsChecks = [
        EventStoreCheck("counting begins at the start of a log, once, and only where there is a stream") {
            (test) async throws in
            try await test.store.makeStreams(1...2)
            #expect(try await test.store.countedStreams([id(1)]).map(\.counted) == [nil])
            #expect(try await test.store.counts(of: id(1), from: 0, to: .max) == nil)
            #expect(try await test.store.count([flush(1, 0, 1)], at: noon) == [.conflict])
            try await test.store.beginCounting([id(9), id(1)], version: 3)
            try await test.second.beginCounting([id(1)], version: 4)
            let counted = try await test.second.countedStreams(after: nil, limit: 9)
            let head = { (n: Int) in StreamHead(epoch: "epoch-\(n)", version: made) }
            #expect(
                counted == [
                    CountedStream(
                        stream: id(1), head: head(1), counted: CountedPosition(epoch: "epoch-1", seq: 0, version: 3)),
                    CountedStream(stream: id(2), head: head(2), counted: nil),
                ])
            #expect(try await test.store.countedStreams([id(9), id(2), id(1)]) == counted)
            #expect(try await test.store.countedStreams(after: id(1), limit: 9) == [counted[1]])
            #expect(try await test.store.countedStreams(after: nil, limit: 1) == [counted[0]])
            #expect(try await test.store.countedStreams(after: id(2), limit: 9).isEmpty)
        },
        EventStoreCheck("a flush is written once, and only at the position, epoch and version that it names") {
            (test) async throws in
            try await test.store.makeStreams(1...3)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            let first = flush(1, 0, 2)
            let others = [
                flush(2, 1, 2), flush(2, 0, 2, epoch: "epoch-1"), flush(2, 0, 2, version: 2), flush(3, 0, 2),
                flush(9, 0, 2),
            ]
            for other in others {
                #expect(try await test.store.count([other], at: noon) == [.conflict])
            }
            #expect(
                try await test.store.count([others[0], first, others[4]], at: noon) == [.conflict, .counted, .conflict])
            let stored = try #require(try await test.second.counted(1))
            #expect(stored == Stored([first]))
            for again in [first, flush(1, 1, 3), flush(1, 0, 3)] {
                #expect(try await test.second.count([again], at: noon) == [.conflict])
                #expect(try await test.store.counted(1) == stored)
            }
            let second = flush(1, 2, 5)
            #expect(try await test.second.count([second], at: noon) == [.counted])
            #expect(try await test.store.counted(1) == Stored([first, second]))
            #expect(try await test.store.counted(2)?.plays.isEmpty == true)
        },
        EventStoreCheck("counts of one span are added, and every column is kept") { (test) async throws in
            try await test.store.makeStreams([1])
            try await test.store.beginCounting([id(1)], version: 1)
            var flushes: [StatisticsFlush] = []
            for n in 0..<4 {
                var flush = flush(1, n, n + 1)
                var counts = EventCounts()
                for (place, field) in EventCounts.numbers.enumerated() { counts[keyPath: field] = place + 1 + n }
                counts.playedMs = 1 << 40
                flush.counts = [
                    CountBucket(.minute, at: 29_700_000): counts, CountBucket(.quarter, at: 29_700_000): counts,
                    CountBucket(.minute, at: 29_700_001 + n): counts,
                ]
                flushes.append(flush)
                #expect(try await test.handle(n).count([flush], at: noon) == [.counted])
            }
            #expect(try await test.store.counted(1) == Stored(flushes))
            let part = try await test.store.counts(of: id(1), from: 29_700_001, to: 29_700_003)
            #expect(
                part?.counts.keys.sorted() == [
                    CountBucket(.minute, at: 29_700_001), CountBucket(.minute, at: 29_700_002),
                ])
        },
        EventStoreCheck("a history that is cut anywhere, by anybody, gives the same rows") { (test) async throws in
            let streams = Array(1...12)
            try await test.store.makeStreams(streams)
            try await test.store.beginCounting(streams.map(id), version: 1)
            let seed = TestSeed.fixed(19)
            // Both sides flush what they think is next, in batches of their own.
            let written = Collected()
            await withTaskGroup { group in
                for side in 0..<4 {
                    group.addTask {
                        var random = SeededRandom(seed: seed &+ UInt64(side))
                        var since = [Int](repeating: 0, count: streams.count)
                        while let open = since.firstIndex(where: { $0 < 40 }) {
                            var batch: [StatisticsFlush] = []
                            for place in open..<streams.count where since[place] < 40 && Bool.random(using: &random) {
                                let through = min(40, since[place] + Int.random(in: 1...6, using: &random))
                                batch.append(flush(streams[place], since[place], through, side: side))
                            }
                            guard let outcomes = try? await test.handle(side).count(batch, at: noon),
                                let now = try? await test.handle(side).countedStreams(streams.map(id))
                            else { return written.fail() }
                            for (flush, outcome) in zip(batch, outcomes) where outcome == .counted {
                                written.add(flush)
                            }
                            for (place, stream) in now.enumerated() { since[place] = stream.counted?.seq ?? 0 }
                        }
                    }
                }
            }
            #expect(!written.hasFailed)
            for n in streams {
                let flushes = written.flushes(of: id(n))
                #expect(flushes.last?.through == 40 && flushes.first?.since == 0, "seed \(seed)")
                #expect(zip(flushes, flushes.dropFirst()).allSatisfy { $0.through == $1.since }, "seed \(seed)")
                #expect(try await test.store.counted(n) == Stored(flushes), "seed \(seed)")
            }
        },
        EventStoreCheck("counts are replaced as a whole, where nobody has counted meanwhile") { (test) async throws in
            try await test.store.makeStreams(1...2)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            #expect(try await test.store.count([flush(1, 0, 2), flush(2, 0, 1)], at: noon) == [.counted, .counted])
            let two = try await test.store.counted(2)
            let new = flush(1, 0, 1, version: 2, side: 3)
            let at = { (seq: Int) in CountedPosition(epoch: "epoch-1", seq: seq, version: 1) }
            #expect(try await test.store.replace(new, ifCounted: at(1), at: noon) == .conflict)
            #expect(try await test.store.replace(flush(9, 0, 1), ifCounted: at(0), at: noon) == .conflict)
            #expect(try await test.store.counted(1) == Stored([flush(1, 0, 2)]))
            #expect(try await test.second.replace(new, ifCounted: at(2), at: noon) == .counted)
            #expect(try await test.store.counted(1) == Stored([new]))
            #expect(try await test.store.counted(2) == two)
            // The songs that only the first flush had named are gone.
            #expect(try await test.store.countedTracks((0...9).map(song)).map(\.track).sorted() == [song(1)])
            #expect(try await test.store.count([flush(1, 1, 2)], at: noon) == [.conflict])
            #expect(try await test.store.count([flush(1, 1, 2, version: 2)], at: noon) == [.counted])
        },
        EventStoreCheck("a stream that is to be forgotten counts for nothing, for ever") { (test) async throws in
            try await test.store.makeStreams(1...3)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            #expect(try await test.store.count([flush(1, 0, 4), flush(2, 0, 2)], at: noon) == [.counted, .counted])
            for stream in [1, 3] {
                try await test.store.closeStream(stream, at: noon, forget: true)
                try await test.store.rewrite([], of: id(stream))
            }
            // Nobody has asked to forget this one.
            try await test.store.rewrite([], of: id(2))
            for stream in [1, 3] {
                let counted = try #require(try await test.second.counted(stream))
                #expect(counted.position.version == CountedPosition.excluded && counted.counts.isEmpty)
                #expect(counted.plays.isEmpty)
                try await test.store.beginCounting([id(stream)], version: 1)
                let position = counted.position
                #expect(try await test.store.count([flush(stream, 0, 1)], at: noon) == [.conflict])
                #expect(try await test.store.replace(flush(stream, 0, 1), ifCounted: position, at: noon) == .conflict)
                #expect(try await test.store.counted(stream) == counted)
            }
            #expect(try await test.store.counted(2) == Stored([flush(2, 0, 2)]))
            #expect(try await test.store.countedTracks((0...9).map(song)).map(\.track).sorted() == [song(1), song(2)])
        },
        EventStoreCheck("nothing is counted of a stream that is removed") { (test) async throws in
            try await test.store.makeStreams(1...2)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            #expect(try await test.store.count([flush(1, 0, 4), flush(2, 0, 2)], at: noon) == [.counted, .counted])
            try await test.store.closeStream(1, at: noon + 10)
            #expect(try await test.store.removeStreams(closedBefore: noon + 11, limit: 9) == [id(1)])
            #expect(try await test.second.counts(of: id(1), from: 0, to: .max) == nil)
            #expect(try await test.second.plays(of: id(1), from: 0, to: .max, before: nil, limit: 9) == nil)
            #expect(try await test.store.countedTracks((0...9).map(song)).map(\.track).sorted() == [song(1), song(2)])
            #expect(try await test.store.count([flush(1, 4, 5)], at: noon) == [.conflict])
            try await test.store.beginCounting([id(1)], version: 1)
            #expect(try await test.store.countedStreams(after: nil, limit: 9).map(\.stream) == [id(2)])
        },
        EventStoreCheck(
            "a stream that leaves the numbers across streams withdraws its earlier plays, and no later ones"
        ) {
            (test) async throws in
            try await test.store.makeStreams(1...2)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            #expect(try await test.store.count([flush(1, 0, 6), flush(2, 0, 6)], at: noon) == [.counted, .counted])
            var second = flush(1, 6, 9)
            second.withdraws = true
            var lost = flush(2, 5, 9)
            lost.withdraws = true
            #expect(try await test.second.count([second, lost], at: noon) == [.counted, .conflict])
            var first = flush(1, 0, 6)
            for place in first.plays.indices { first.plays[place].isPublic = false }
            #expect(try await test.store.counted(1) == Stored([first, second]))
            #expect(try await test.store.counted(1)?.plays.contains(where: \.isPublic) == true)
            #expect(try await test.store.counted(2) == Stored([flush(2, 0, 6)]))
        },
        EventStoreCheck("across streams only what enough owners have played is named") { (test) async throws in
            // Streams 1 to 4 were made by different people, 5 by the same one as 4; who made 6 and 7 is not known. Nobody
            // owns any of them now.
            for n in 1...7 {
                let made = creation(n, creator: id(800 + min(n, 4)), entry: entry(n, owner: nil))
                #expect(try await test.store.create(made) == .created)
            }
            try await test.store.beginCounting((1...7).map(id), version: 1)
            func play(_ n: Int, _ songs: [Int], at hour: Int, isPublic: Bool = true) -> StatisticsFlush {
                var flush = flush(n, 0, songs.count)
                flush.founder = n > 5 ? nil : id(800 + min(n, 4))
                flush.plays = songs.enumerated().map { place, number in
                    CountedPlay(
                        entry: place + 1, track: song(number), number: number, addedBy: 1, startedAt: 0,
                        endedAt: Int64(hour) * 3_600_000 + Int64(place), playedMs: 60_000, reason: .ended, isPlay: true,
                        isPublic: isPublic)
                }
                flush.tracks = Set(songs).map {
                    CountedTrack(
                        track: song($0), artistKey: $0 < 3 ? id(6_000) : nil, title: "Song \($0)",
                        artist: $0 < 3 ? "A" : nil)
                }
                return flush
            }
            let batch = [
                play(1, [1, 1, 2], at: 240), play(2, [1, 3], at: 240), play(3, [3], at: 241, isPublic: false),
                play(4, [2, 3], at: 264), play(5, [2, 3], at: 265), play(6, [3], at: 266), play(7, [3], at: 266),
            ]
            #expect(try await test.second.count(batch, at: noon) == Array(repeating: .counted, count: 7))
            func top(_ least: Int, from: Int = 0, to: Int = 999, in streams: [Int]? = nil, byArtist: Bool = false)
                async throws
                -> [[Int]]
            {
                let found = try await test.store.top(
                    TopQuestion(
                        from: Int64(from) * 3_600_000, to: Int64(to) * 3_600_000, streams: streams.map { $0.map(id) },
                        byArtist: byArtist, leastOwners: least, limit: 9))
                return found.map { [byArtist ? 0 : Int($0.track.title.dropFirst(5)) ?? 0, $0.plays, $0.owners] }
            }
            // Song 3: streams 2, 4 and 5 (one founder), 6 and 7 (all that are not known count as one).
            #expect(try await top(2) == [[3, 5, 3], [1, 3, 2], [2, 3, 2]])
            #expect(try await top(3) == [[3, 5, 3]])
            #expect(try await top(4).isEmpty)
            #expect(try await top(1, from: 240, to: 241) == [[1, 3, 2], [2, 1, 1], [3, 1, 1]])
            #expect(try await top(1, in: [4, 5, 5, 99]) == [[2, 2, 1], [3, 2, 1]])
            #expect(try await top(2, in: [4, 5]).isEmpty)
            #expect(try await top(1, in: []).isEmpty)
            #expect(try await top(1, byArtist: true) == [[0, 6, 3]])
            // Days 10 and 11.
            for day in try await test.store.staleDays(before: 20, limit: 99) {
                #expect(try await test.store.computeDay(day, at: 20 * 86_400_000 + 300_000))
            }
            #expect(try await test.second.staleDays(before: 20, limit: 99).isEmpty)
            func days(_ first: Int, _ end: Int, least: Int = 1) async throws -> [[Int]] {
                try await test.second.topOfDays(from: first, before: end, byArtist: false, leastOwners: least, limit: 9)
                    .map { [Int($0.track.title.dropFirst(5)) ?? 0, $0.plays, $0.owners] }
            }
            #expect(try await days(10, 12) == [[3, 5, 2], [1, 3, 2], [2, 3, 1]])
            #expect(try await days(10, 11) == [[1, 3, 2], [2, 1, 1], [3, 1, 1]])
            #expect(try await days(11, 12, least: 2) == [[3, 4, 2]])
            #expect(
                try await test.store.topOfDays(from: 10, before: 12, byArtist: true, leastOwners: 2, limit: 9).map(
                    \.plays)
                    == [6])
            // What is deleted leaves its day.
            try await test.store.closeStream(1, at: noon, forget: true)
            try await test.store.rewrite([], of: id(1))
            for day in try await test.store.staleDays(before: 20, limit: 99) {
                #expect(try await test.store.computeDay(day, at: 20 * 86_400_000 + 300_001))
            }
            #expect(try await days(10, 12) == [[3, 5, 2], [2, 2, 1], [1, 1, 1]])
        },
        EventStoreCheck("minutes are moved into quarters, and nothing is lost") { (test) async throws in
            try await test.store.makeStreams(1...2)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            var first = flush(1, 0, 30)
            #expect(try await test.store.count([first, flush(2, 0, 30)], at: noon) == [.counted, .counted])
            let bound = 29_700_005
            try await test.second.moveMinutes(of: [id(1), id(9)], before: bound)
            func moved(_ counts: [CountBucket: EventCounts]) -> [CountBucket: EventCounts] {
                var sums: [CountBucket: EventCounts] = [:]
                for (bucket, counts) in counts {
                    sums[
                        bucket.step == .minute && bucket.minute < bound ? bucket.quarter : bucket,
                        default: EventCounts()] += counts
                }
                return sums
            }
            first.counts = moved(first.counts)
            #expect(try await test.store.counted(1) == Stored([first]))
            #expect(try await test.store.counted(2) == Stored([flush(2, 0, 30)]))
            // Late counts are moved to those that are there.
            let second = flush(1, 30, 31)
            #expect(try await test.store.count([second], at: noon) == [.counted])
            try await test.store.moveMinutes(of: [id(1)], before: bound + 100)
            let all = try await test.store.counts(of: id(1), from: 0, to: .max)?.counts ?? [:]
            #expect(all.keys.allSatisfy { $0.step == .quarter })
            #expect(
                all.values.reduce(EventCounts(), +)
                    == (Array(first.counts.values) + Array(second.counts.values)).reduce(EventCounts(), +))
        },
        EventStoreCheck("what nodes see is kept by node, and the same minute again changes nothing") {
            (test) async throws in
            try await test.store.makeStreams(1...3)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            func seen(_ n: Int, _ minute: Int, _ peak: Int, _ listened: Int64) -> ObservedMinute {
                ObservedMinute(stream: id(n), minute: minute, peak: peak, listenedMs: listened)
            }
            let a = [seen(1, 900, 3, 1_000), seen(1, 901, 2, 500), seen(2, 900, 9, 9), seen(3, 900, 1, 1)]
            for _ in 0..<2 { try await test.store.observe(a, by: "a") }
            try await test.second.observe([seen(1, 900, 4, 2_000), seen(1, 914, 1, 70)], by: "b")
            // A node that has started again knows less.
            try await test.store.observe([seen(1, 900, 1, 10), seen(1, 901, 5, 600)], by: "a")
            func minute(_ minute: Int) -> CountBucket { CountBucket(.minute, at: minute) }
            let all: [CountBucket: Audience] = [
                minute(900): Audience(peak: 7, listenedMs: 3_000), minute(901): Audience(peak: 5, listenedMs: 600),
                minute(914): Audience(peak: 1, listenedMs: 70),
            ]
            #expect(try await test.second.audience(of: id(1), from: 0, to: 10_000) == all)
            #expect(try await test.store.audience(of: id(1), from: 901, to: 914).keys.sorted() == [minute(901)])
            #expect(try await test.store.audience(of: id(3), from: 0, to: 10_000).isEmpty)
            try await test.store.moveMinutes(of: [id(1)], before: 914)
            #expect(
                try await test.store.audience(of: id(1), from: 0, to: 10_000) == [
                    CountBucket(.quarter, at: 900): Audience(peak: 7, listenedMs: 3_600),
                    minute(914): Audience(peak: 1, listenedMs: 70),
                ])
            try await test.store.moveMinutes(of: [id(1), id(2)], before: 915)
            #expect(
                try await test.store.audience(of: id(1), from: 0, to: 10_000)
                    == [CountBucket(.quarter, at: 900): Audience(peak: 7, listenedMs: 3_670)])
            // A stream that is to be forgotten is not observed any more.
            try await test.store.closeStream(1, at: noon, forget: true)
            try await test.store.rewrite([], of: id(1))
            try await test.store.observe([seen(1, 950, 1, 1)], by: "a")
            #expect(try await test.store.audience(of: id(1), from: 0, to: 10_000).isEmpty)
            #expect(try await test.store.audience(of: id(2), from: 0, to: 10_000).count == 1)
        },
        EventStoreCheck("plays are read newest first, in pages") { (test) async throws in
            try await test.store.makeStreams([1])
            try await test.store.beginCounting([id(1)], version: 1)
            let flush = flush(1, 0, 9)
            #expect(try await test.store.count([flush], at: noon) == [.counted])
            let all = flush.plays.sorted { $0.place > $1.place }
            var (read, before): ([CountedPlay], PlayPlace?) = ([], nil)
            while true {
                let page = try #require(
                    try await test.second.plays(of: id(1), from: 0, to: .max, before: before, limit: 2))
                #expect(page.position.seq == 9)
                read += page.plays
                guard let last = page.plays.last else { break }
                before = last.place
            }
            #expect(read == all)
            let late = flush.plays.filter { $0.endedAt >= noon + 2 }
            let ranking = try #require(
                try await test.store.ranking(of: id(1), from: noon + 2, to: .max, byArtist: false, limit: 99))
            let order = late.sorted { ($1.isPlay ? 1 : 0, $1.playedMs) < ($0.isPlay ? 1 : 0, $0.playedMs) }
            #expect(ranking.position.seq == 9 && ranking.tracks.map(\.track.track) == order.map(\.track))
            #expect(
                ranking.tracks.map(\.number) == order.map(\.number) && ranking.tracks.allSatisfy { $0.addedBy == 1 })
            #expect(ranking.tracks.map(\.skips) == order.map { $0.reason == .skipped ? 1 : 0 })
            #expect(
                try await test.store.ranking(of: id(1), from: noon + 2, to: .max, byArtist: false, limit: 2)?.tracks
                    == Array(ranking.tracks.prefix(2)))
            let artists = try #require(
                try await test.store.ranking(of: id(1), from: 0, to: .max, byArtist: true, limit: 99))
            // Songs with an even number have no artist.
            #expect(artists.tracks.map(\.number) == [9, 7, 5, 3, 1])
            #expect(artists.tracks.map(\.plays) == [0, 0, 0, 0, 0])
            let part = try await test.store.plays(
                of: id(1), from: all[6].endedAt, to: all[2].endedAt, before: nil, limit: 99)
            #expect(part?.plays == Array(all[4...7]))
        },
    ]
}

/// The identity of a song.
private func song(_ n: Int) -> UUID { id(5_000 + n) }

/// What somebody counted of the `n`th stream: for each event a play of a song of its own, and counts that depend on it.
private func flush(
    _ n: Int, _ since: Int, _ through: Int, epoch: String? = nil, version: Int = 1, side: Int = 0
) -> StatisticsFlush {
    let events = Array(since + 1..<through + 1)
    var counts: [CountBucket: EventCounts] = [:]
    for event in events {
        var one = EventCounts()
        one.votes = event
        one.plays = 1
        one.playedMs = Int64(event) * 1_000
        counts[CountBucket(.minute, at: 29_700_000 + event / 4), default: EventCounts()] += one
    }
    return StatisticsFlush(
        stream: id(n), epoch: epoch ?? "epoch-\(n)", version: version, since: since, through: through, counts: counts,
        plays: events.map { event in
            CountedPlay(
                entry: event, track: song(event), number: event + side, addedBy: n, startedAt: noon,
                endedAt: noon + Int64(event / 2), playedMs: Int64(event), reason: .allCases[event % 3],
                isPlay: event % 2 == 0, isPublic: event % 3 == 0)
        },
        tracks: events.map { event in
            CountedTrack(
                track: song(event), artistKey: event % 2 == 0 ? nil : id(6_000 + event), title: "Song \(event) ’\"",
                artist: event % 2 == 0 ? nil : "Ártist")
        })
}

/// Everything that is counted of a stream.
private struct Stored: Equatable {
    var position: CountedPosition
    var counts: [CountBucket: EventCounts]
    var plays: [CountedPlay]

    init(_ counts: StreamCounts, _ plays: StreamPlays) {
        position = counts.position
        self.counts = counts.counts
        self.plays = plays.plays
    }

    /// What flushes that follow each other have written.
    init(_ flushes: [StatisticsFlush]) {
        position = CountedPosition(
            epoch: flushes.last?.epoch ?? "", seq: flushes.last?.through ?? 0, version: flushes.last?.version ?? 0)
        counts = [:]
        for flush in flushes { counts.merge(flush.counts) { $0 + $1 } }
        plays = flushes.flatMap(\.plays).sorted { $0.place > $1.place }
    }
}

extension EventCounts {
    fileprivate static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum += right
        return sum
    }
}

extension StatisticsStore {
    /// What is counted of the `n`th stream.
    fileprivate func counted(_ n: Int) async throws -> Stored? {
        guard let counts = try await counts(of: id(n), from: 0, to: .max),
            let plays = try await plays(of: id(n), from: 0, to: .max, before: nil, limit: 1_000)
        else { return nil }
        return Stored(counts, plays)
    }
}

/// The flushes that several tasks have written.
private final class Collected: Sendable {
    private let state = Mutex<(flushes: [StatisticsFlush], hasFailed: Bool)>(([], false))

    var hasFailed: Bool { state.withLock(\.hasFailed) }

    func add(_ flush: StatisticsFlush) { state.withLock { $0.flushes.append(flush) } }

    func fail() { state.withLock { $0.hasFailed = true } }

    func flushes(of stream: UUID) -> [StatisticsFlush] {
        state.withLock { $0.flushes.filter { $0.stream == stream }.sorted { $0.since < $1.since } }
    }
}

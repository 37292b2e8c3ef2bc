import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    /// What is counted while days are computed and streams removed, and who made streams.
    static let statisticsRaceChecks: [EventStoreCheck] = [
        EventStoreCheck("a play that is written while its day is computed is in the day") { (test) async throws in
            try await test.store.makeStreams(1...4)
            try await test.store.beginCounting((1...4).map(id), version: 1)
            let plays = 30
            await withTaskGroup { group in
                for n in 1...4 {
                    group.addTask {
                        for seq in 0..<plays {
                            _ = try? await test.handle(n).count([played(n, seq, onDay: 10)], at: noon)
                        }
                    }
                }
                group.addTask {
                    for turn in 0..<plays { _ = try? await test.handle(turn).computeDay(10, at: 20 * day) }
                }
            }
            for stale in try await test.store.staleDays(before: 20, limit: 99) {
                #expect(try await test.store.computeDay(stale, at: 20 * day))
            }
            let counted = try await test.store.countedStreams((1...4).map(id)).map { $0.counted?.seq ?? 0 }
            #expect(counted.allSatisfy { $0 == plays })
            let top = try await test.second.topOfDays(from: 10, before: 11, byArtist: false, leastOwners: 1, limit: 9)
            #expect(top.map(\.plays) == [4 * plays])
        },
        EventStoreCheck("days that nobody computed are stale, and are counted until then") { (test) async throws in
            try await test.store.makeStreams(1...2)
            try await test.store.beginCounting([id(1), id(2)], version: 1)
            // Counted in the hour in which they ended: no mark tells of them.
            for (n, number) in [(1, 17), (2, 19)] {
                let flush = played(n, 0, onDay: number)
                #expect(try await test.store.count([flush], at: Int64(number) * day) == [.counted])
            }
            func top() async throws -> [Int] {
                try await test.second.topOfDays(from: 13, before: 21, byArtist: false, leastOwners: 1, limit: 9)
                    .map(\.plays)
            }
            #expect(try await top() == [2])
            let stale = try await test.store.staleDays(before: 20, limit: 99)
            // A store in memory stores no days.
            #expect(stale.isEmpty || stale == Array(12...19))
            for stale in stale { #expect(try await test.store.computeDay(stale, at: 20 * day + 300_000)) }
            #expect(try await test.store.staleDays(before: 20, limit: 99).isEmpty)
            #expect(try await top() == [2])
            // The present day is never stored.
            #expect(try await test.store.count([played(1, 1, onDay: 20)], at: 20 * day) == [.counted])
            #expect(try await top() == [3])
        },
        EventStoreCheck("a stream that is removed while it is counted leaves nothing") { (test) async throws in
            let streams = Array(1...20)
            try await test.store.makeStreams(streams)
            try await test.store.beginCounting(streams.map(id), version: 1)
            for n in streams { try await test.store.closeStream(n, at: noon, forget: false) }
            await withTaskGroup { group in
                group.addTask {
                    for n in streams {
                        var flush = played(n, 0, onDay: 10)
                        (flush.plays, flush.tracks) = ([], [])
                        flush.counts[CountBucket(.minute, at: 1), default: EventCounts()].votes = n
                        _ = try? await test.store.count([flush], at: noon)
                    }
                }
                group.addTask {
                    for _ in streams { _ = try? await test.second.removeStreams(closedBefore: noon + 1, limit: 1) }
                }
            }
            #expect(try await test.store.countedStreams(after: nil, limit: 99).isEmpty)
            while try await test.store.sweep(limit: 99) {}
            // Whatever was left would belong to the streams that are made again.
            try await test.store.makeStreams(streams)
            try await test.store.beginCounting(streams.map(id), version: 1)
            for n in streams {
                #expect(try await test.store.counts(of: id(n), from: 0, to: 9)?.counts == [:], "stream \(n)")
            }
        },
        EventStoreCheck("who made a stream is kept with its counts, and goes with them") { (test) async throws in
            try await test.store.makeStreams(1...3)
            try await test.store.beginCounting((1...3).map(id), version: 1)
            func founders() async throws -> [UUID?] {
                try await test.second.countedStreams((1...3).map(id)).map(\.founder)
            }
            var first = played(1, 0, onDay: 10)
            first.founder = id(801)
            var bare = played(2, 0, onDay: 10)
            (bare.plays, bare.tracks, bare.founder) = ([], [], id(802))
            #expect(try await test.store.count([first, bare], at: noon) == [.counted, .counted])
            #expect(try await founders() == [id(801), id(802), nil])
            #expect(
                try await test.store.count([played(1, 1, onDay: 10), played(2, 1, onDay: 10)], at: noon).count == 2)
            #expect(try await founders() == [id(801), id(802), nil])
            var other = played(2, 0, onDay: 10)
            other.founder = id(803)
            let counted = CountedPosition(epoch: "epoch-2", seq: 2, version: 1)
            #expect(try await test.store.replace(other, ifCounted: counted, at: noon) == .counted)
            try await test.store.closeStream(1, at: noon, forget: true)
            try await test.store.rewrite([], of: id(1))
            #expect(try await founders() == [nil, id(803), nil])
        },
    ]
}

/// The milliseconds of a day.
private let day: Int64 = 86_400_000

/// One play of one song, of the event after `since`.
private func played(_ n: Int, _ since: Int, onDay number: Int) -> StatisticsFlush {
    StatisticsFlush(
        stream: id(n), epoch: "epoch-\(n)", version: 1, since: since, through: since + 1, counts: [:],
        plays: [
            CountedPlay(
                entry: since + 1, track: id(7_001), number: 1, addedBy: 1, startedAt: 0,
                endedAt: Int64(number) * day + Int64(since), playedMs: 60_000, reason: .ended, isPlay: true,
                isPublic: true)
        ], tracks: [CountedTrack(track: id(7_001), artistKey: nil, title: "Song", artist: nil)])
}

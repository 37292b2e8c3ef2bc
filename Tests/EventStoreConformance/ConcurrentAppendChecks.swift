import EventStorage
import FoundationEssentials
import RandomTestSupport
import Testing

extension ConformanceSuite {
    static let concurrentAppendChecks = [
        EventStoreCheck("of twenty appends at one position one wins and nineteen are told") { (test) async throws in
            try await test.store.makeStreams([1])
            for round in 0..<10 {
                let expected = StreamVersion(seq: 2 + round, keyed: 0)
                let outcomes = try await withThrowingTaskGroup(of: (Int, AppendOutcome?).self) { group in
                    for writer in 0..<20 {
                        group.addTask {
                            let part = StreamAppend(
                                stream: id(1), expected: expected,
                                events: events(after: expected.seq, count: 1, tag: "w\(writer)"))
                            return (writer, try await test.handle(writer).append([part]).first)
                        }
                    }
                    return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
                }
                let winners = outcomes.filter { $0.value == .appended }.keys
                #expect(winners.count == 1)
                #expect(outcomes.values.count { $0 == .conflict } == 19)
                let last = try await test.store.read(id(1), after: expected.seq, limit: 10).map(ParsedEvent.init)
                let winner = try #require(winners.first)
                #expect(last == events(after: expected.seq, count: 1, tag: "w\(winner)").map(ParsedEvent.init))
            }
        },
        EventStoreCheck("ten writers at one stream win each position once and every loser is told") {
            (test) async throws in
            try await test.store.makeStreams([1])
            let wins = try await withThrowingTaskGroup(of: [(Int, String)].self) { group in
                for writer in 0..<10 {
                    group.addTask { try await write(12, to: id(1), as: "w\(writer)", through: test.handle(writer)) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(wins.map(\.0).sorted() == Array(3..<123))
            let owners = Dictionary(wins, uniquingKeysWith: { first, _ in first })
            let stored = try await test.store.whole(id(1))
            #expect(stored.head.version == StreamVersion(seq: 122, keyed: 120))
            let expected = (3..<123).flatMap { events(after: $0 - 1, count: 1, tag: owners[$0] ?? "nobody") }
            #expect(Array(stored.events.dropFirst(2)) == expected.map(ParsedEvent.init))
            #expect(stored.keys.map(\.ordinal) == Array(1...120))
            #expect(stored.keys.map(\.seq) == Array(3..<123))
        },
        EventStoreCheck("overlapping batches in any order lose nothing and let no fault out") { (test) async throws in
            let rooms = 12
            try await test.store.makeStreams(0..<rooms)
            let won = try await withThrowingTaskGroup(of: [Int: Int].self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var mixer = SeededRandom(seed: TestSeed.fixed(UInt64(writer)))
                        var won: [Int: Int] = [:]
                        for _ in 0..<25 {
                            let picked = Array((0..<rooms).shuffled(using: &mixer).prefix(6))
                            let heads = try await test.handle(writer).heads(of: picked.map(id))
                            let batch = picked.compactMap { n in
                                heads[id(n)].map {
                                    StreamAppend(
                                        stream: id(n), expected: $0.version,
                                        events: events(after: $0.version.seq, count: 1, tag: "w\(writer)"))
                                }
                            }
                            let outcomes = try await test.handle(writer).append(batch)
                            for (n, outcome) in zip(picked, outcomes) where outcome == .appended {
                                won[n, default: 0] += 1
                            }
                        }
                        return won
                    }
                }
                return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
            }
            #expect(won.values.reduce(0, +) > 0)
            for n in 0..<rooms {
                let stream = try await test.store.whole(id(n))
                #expect(stream.head.version.seq == 2 + won[n, default: 0])
                #expect(stream.events.map(\.seq) == Array(1..<stream.head.version.seq + 1))
            }
        },
        EventStoreCheck("a batch over two streams is seen as a whole") { (test) async throws in
            try await test.store.makeStreams(1...2)
            let last = 2 + 60
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for seq in 2..<last {
                        let batch = [1, 2].map { n in
                            StreamAppend(
                                stream: id(n), expected: StreamVersion(seq: seq, keyed: 0),
                                events: events(after: seq, count: 1))
                        }
                        guard try await test.store.append(batch) == [.appended, .appended] else {
                            throw CheckFailure("the only writer lost at \(seq)")
                        }
                    }
                }
                group.addTask {
                    var seen = 0
                    while seen < last {
                        let heads = try await test.second.heads(of: [id(1), id(2)])
                        let seqs = heads.values.map(\.version.seq)
                        guard seqs.count == 2, seqs[0] == seqs[1], seqs[0] >= seen else {
                            throw CheckFailure("the heads \(seqs) were seen after \(seen)")
                        }
                        seen = seqs[0]
                    }
                }
                try await group.waitForAll()
            }
        },
        EventStoreCheck("a stream that is loaded while it grows is of one instant") { (test) async throws in
            try await test.store.makeStreams([1])
            let last = 2 + 60
            try await withThrowingTaskGroup { group in
                group.addTask { _ = try await write(last - 2, to: id(1), as: "w", through: test.store) }
                group.addTask {
                    var seen = made
                    while seen.seq < last {
                        let full = try await test.second.whole(id(1))
                        guard full.events.map(\.seq) == Array(1..<full.head.version.seq + 1),
                            full.keys.map(\.ordinal) == Array(1..<full.head.version.keyed + 1)
                        else { throw CheckFailure("at \(full.head) there were \(full.events.count) events") }
                        let tail = try await test.second.load(id(1), reducerVersion: 1, after: seen)
                        guard let tail, tail.events.map(\.seq) == Array(seen.seq + 1..<tail.head.version.seq + 1),
                            tail.keys.map(\.ordinal) == Array(seen.keyed + 1..<tail.head.version.keyed + 1)
                        else { throw CheckFailure("the tail after \(seen) has a hole") }
                        seen = tail.head.version
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    /// Appends `count` events to a stream, one at a time, each with a key, reading its head again after each conflict.
    ///
    /// - Returns: The positions that were won.
    private static func write(
        _ count: Int, to stream: UUID, as tag: String, through store: any EventStore
    ) async throws -> [(Int, String)] {
        var won: [(Int, String)] = []
        while won.count < count {
            guard let version = try await store.heads(of: [stream])[stream]?.version else {
                throw CheckFailure("stream \(stream) does not exist")
            }
            let part = StreamAppend(
                stream: stream, expected: version, events: events(after: version.seq, count: 1, tag: tag),
                keys: keys(after: version.keyed, count: 1, seq: version.seq + 1))
            if try await store.append([part]) == [.appended] {
                won.append((version.seq + 1, tag))
            }
        }
        return won
    }
}

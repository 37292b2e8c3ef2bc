import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let catchUpChecks = [
        EventStoreCheck("catching up gives of each stream its head and what comes after the version given") {
            (test) async throws in
            try await test.store.makeStreams(1...4)
            let batch = (1...3).map { n in
                StreamAppend(
                    stream: id(n), expected: made, events: events(after: 2, count: 10 * n, tag: "\(n)"),
                    keys: keys(after: 0, count: 5 * n))
            }
            #expect(try await test.store.append(batch) == [.appended, .appended, .appended])
            try await test.store.save(StoredSnapshot(seq: 12, reducerVersion: 1, state: [1]), of: id(1))
            let positions = [
                id(1): StreamVersion.start, id(2): StreamVersion(seq: 15, keyed: 7),
                id(3): StreamVersion(seq: 32, keyed: 15), id(4): StreamVersion(seq: 2, keyed: 0), id(9): made,
            ]
            let found = try await test.second.catchUp(positions).mapValues(ParsedStream.init)
            func stream(_ n: Int, _ head: StreamVersion, after: StreamVersion) -> ParsedStream {
                let first = events(after: 0, count: 2)
                let rest = events(after: 2, count: head.seq - 2, tag: "\(n)")
                return ParsedStream(
                    LoadedStream(
                        head: StreamHead(epoch: "epoch-\(n)", version: head), snapshot: nil,
                        events: Array((first + rest).dropFirst(after.seq)),
                        keys: keys(after: after.keyed, count: head.keyed - after.keyed)))
            }
            #expect(found.count == 4)
            #expect(found[id(1)] == stream(1, StreamVersion(seq: 12, keyed: 5), after: .start))
            #expect(
                found[id(2)] == stream(2, StreamVersion(seq: 22, keyed: 10), after: StreamVersion(seq: 15, keyed: 7)))
            #expect(
                found[id(3)] == stream(3, StreamVersion(seq: 32, keyed: 15), after: StreamVersion(seq: 32, keyed: 15)))
            #expect(found[id(4)] == stream(4, made, after: made))
        },
        EventStoreCheck("catching up with nothing gives nothing, and being ahead of a stream gives its head alone") {
            (test) async throws in
            try await test.store.makeStreams([1])
            #expect(try await test.store.catchUp([:]).isEmpty)
            let found = try await test.store.catchUp([id(1): StreamVersion(seq: 50, keyed: 50)])
            #expect(found[id(1)]?.head == StreamHead(epoch: "epoch-1", version: made))
            #expect(found[id(1)]?.events.isEmpty == true)
            #expect(found[id(1)]?.keys.isEmpty == true)
        },
        EventStoreCheck("a log that lacks what a reader knows, or has something else there, does not continue") {
            (test) async throws in
            try await test.store.makeStreams([1])
            try await test.store.append(sealed(1, after: made, count: 3))
            func continues(_ seq: Int, keyed: Int = 0, _ tail: Int64?) async throws -> Bool? {
                let positions = [id(1): StreamVersion(seq: seq, keyed: keyed, tail: tail)]
                let found = try await test.second.catchUp(positions)
                return found[id(1)]?.continues
            }
            for (seq, tail) in [(0, nil), (2, nil), (3, 3), (4, 4), (5, 5), (5, nil)] as [(Int, Int64?)] {
                #expect(try await continues(seq, tail) == true, "\(seq)")
            }
            for (seq, tail) in [(3, 4), (5, 4), (6, nil), (6, 6)] as [(Int, Int64?)] {
                #expect(try await continues(seq, tail) == false, "\(seq)")
            }
            #expect(try await continues(5, keyed: 1, 5) == false)
            // An event that was cleared is the same one.
            var clearing = StreamAppend(
                stream: id(1), expected: StreamVersion(seq: 5, keyed: 0, tail: 5),
                events: events(after: 5, count: 1))
            clearing.clearing = 6
            #expect(try await test.store.append([clearing]) == [.appended])
            var cleared = events(after: 3, count: 1)
            cleared[0].checksum = 99
            try await test.store.clear(cleared, of: id(1), through: 4)
            #expect(try await continues(4, 4) == true)
            #expect(try await continues(5, 4) == false)
        },
        EventStoreCheck("catching up after more than a thousand keyed commands gives the newest thousand") {
            (test) async throws in
            try await test.store.makeStreams([1])
            for keyed in stride(from: 0, to: 1_400, by: 700) {
                let part = StreamAppend(
                    stream: id(1), expected: StreamVersion(seq: 2, keyed: keyed), events: [],
                    keys: keys(after: keyed, count: 700))
                #expect(try await test.store.append([part]) == [.appended])
            }
            for (after, first) in [(0, 401), (400, 401), (401, 402), (1_399, 1_400)] {
                let found = try await test.second.catchUp([id(1): StreamVersion(seq: 2, keyed: after)])
                let expected = keys(after: first - 1, count: 1_400 - first + 1)
                #expect(found[id(1)]?.keys.map(ParsedKey.init) == expected.map(ParsedKey.init))
            }
        },
        EventStoreCheck("a head and what comes before it are of one instant, whoever appends meanwhile") {
            (test) async throws in
            let streams = Array(1...8)
            try await test.store.makeStreams(streams)
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for seq in 2..<60 {
                        let batch = streams.map { n in
                            StreamAppend(
                                stream: id(n), expected: StreamVersion(seq: seq, keyed: seq - 2),
                                events: events(after: seq, count: 1), keys: keys(after: seq - 2, count: 1))
                        }
                        guard try await test.store.append(batch).allSatisfy({ $0 == .appended }) else {
                            throw CheckFailure("an append that nobody hindered was refused")
                        }
                    }
                }
                var versions = Dictionary(uniqueKeysWithValues: streams.map { (id($0), StreamVersion.start) })
                while versions.values.contains(where: { $0.seq < 60 }) {
                    let found = try await test.second.catchUp(versions)
                    #expect(Set(found.values.map(\.head.version)).count == 1, "a batch is seen in part")
                    for (stream, loaded) in found {
                        let before = versions[stream] ?? .start
                        let version = loaded.head.version
                        guard loaded.events.map(\.seq) == Array(before.seq..<version.seq).map({ $0 + 1 }),
                            loaded.keys.map(\.ordinal) == Array(before.keyed..<version.keyed).map({ $0 + 1 })
                        else { throw CheckFailure("what is read does not reach from \(before) to \(version)") }
                        versions[stream] = version
                    }
                }
                try await group.waitForAll()
            }
        },
    ]
}

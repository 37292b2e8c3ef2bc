import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let readChecks = [
        EventStoreCheck("reading after n gives n + 1 next") { (test) async throws in
            try await test.store.makeStreams(1...2)
            let part = StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 18))
            #expect(try await test.store.append([part]) == [.appended])
            for after in 0...20 {
                let read = try await test.store.read(id(1), after: after, limit: 7)
                #expect(
                    read.map(ParsedEvent.init) == events(after: after, count: min(7, 20 - after)).map(ParsedEvent.init))
            }
            #expect(try await test.store.read(id(1), after: 21, limit: 7).isEmpty)
            #expect(try await test.store.read(id(1), after: 0, limit: 0).isEmpty)
            #expect(try await test.store.read(id(1), after: 0, limit: 1_000).count == 20)
            #expect(try await test.store.read(id(3), after: 0, limit: 7).isEmpty)
        },
        EventStoreCheck("a read ends where the payloads come to so many bytes, behind one event at least") {
            (test) async throws in
            try await test.store.makeStreams(1...1)
            let sizes = (0..<250).map { $0 % 50 == 49 ? 20_000 : 10 * ($0 % 7) }
            let heavy = sizes.enumerated().map { index, size in
                let text = String(repeating: "x", count: size)
                return StoredEvent(seq: index + 3, at: 5, type: "t", payload: Array("{\"a\": \"\(text)\"}".utf8))
            }
            let part = StreamAppend(stream: id(1), expected: made, events: heavy)
            #expect(try await test.store.append([part]) == [.appended])
            let all = try await test.store.read(id(1), after: 0, limit: 1_000)
            #expect(all.count == 252)
            for bytes in [0, 1, 50, 1_000, 5_000, 20_000, 45_000, 1_000_000, .max] {
                for (after, limit) in [(0, 1_000), (51, 1_000), (2, 30), (2, 200), (251, 9), (252, 9), (0, 0)] {
                    var (expected, size): ([StoredEvent], Int) = ([], 0)
                    for event in all.dropFirst(after).prefix(limit) where expected.isEmpty || size < bytes {
                        size += event.payload.count
                        expected.append(event)
                    }
                    let read = try await test.second.read(id(1), after: after, limit: limit, bytes: bytes)
                    #expect(read == expected, "after \(after), at most \(limit), \(bytes) bytes")
                }
            }
            #expect(try await test.store.read(id(2), after: 0, limit: 9, bytes: 9).isEmpty)
        },
        EventStoreCheck("heads tell where streams stand and leave out those that do not exist") { (test) async throws in
            try await test.store.makeStreams(1...3)
            let part = StreamAppend(
                stream: id(2), expected: made, events: events(after: 2, count: 1), keys: keys(after: 0, count: 4))
            #expect(try await test.store.append([part]) == [.appended])
            #expect(
                try await test.store.heads(of: [id(2), id(9), id(1), id(2)]) == [
                    id(1): StreamHead(epoch: "epoch-1", version: made),
                    id(2): StreamHead(epoch: "epoch-2", version: StreamVersion(seq: 3, keyed: 4)),
                ])
            #expect(try await test.store.heads(of: []).isEmpty)
            #expect(try await test.store.heads(of: [id(9)]).isEmpty)
        },
        EventStoreCheck("loading a stream that does not exist gives nil") { (test) async throws in
            try await test.store.makeStreams([1])
            #expect(try await test.store.load(id(2), reducerVersion: 1, after: nil) == nil)
            #expect(try await test.store.load(id(2), reducerVersion: 1, after: made) == nil)
        },
        EventStoreCheck("loading gives the newest snapshot of the version asked for and the events after it") {
            (test) async throws in
            try await test.store.makeStreams(1...2)
            let part = StreamAppend(
                stream: id(1), expected: made, events: events(after: 2, count: 8), keys: keys(after: 0, count: 3))
            #expect(try await test.store.append([part]) == [.appended])
            let four = StoredSnapshot(seq: 4, reducerVersion: 1, state: [0, 255, 1, 0])
            let seven = StoredSnapshot(seq: 7, reducerVersion: 1, state: [])
            let nine = StoredSnapshot(seq: 9, reducerVersion: 2, state: [9])
            for snapshot in [seven, four, nine] {
                try await test.store.save(snapshot, of: id(1))
            }
            func loaded(_ reducerVersion: Int, after: StreamVersion?) async throws -> ParsedStream {
                ParsedStream(
                    try #require(try await test.store.load(id(1), reducerVersion: reducerVersion, after: after)))
            }
            func stream(_ snapshot: StoredSnapshot?, after: StreamVersion) -> ParsedStream {
                ParsedStream(
                    LoadedStream(
                        head: StreamHead(epoch: "epoch-1", version: StreamVersion(seq: 10, keyed: 3)),
                        snapshot: snapshot, events: events(after: after.seq, count: 10 - after.seq),
                        keys: keys(after: after.keyed, count: 3 - after.keyed)))
            }
            #expect(try await loaded(1, after: nil) == stream(seven, after: StreamVersion(seq: 7, keyed: 0)))
            #expect(try await loaded(2, after: nil) == stream(nine, after: StreamVersion(seq: 9, keyed: 0)))
            #expect(try await loaded(3, after: nil) == stream(nil, after: .start))
            for after in [
                StreamVersion.start, StreamVersion(seq: 5, keyed: 2), StreamVersion(seq: 10, keyed: 0),
                StreamVersion(seq: 10, keyed: 3),
            ] {
                #expect(try await loaded(1, after: after) == stream(nil, after: after))
            }
            #expect(try await test.store.whole(id(2)).snapshot == nil)
        },
        EventStoreCheck("a snapshot at the head leaves no events to load") { (test) async throws in
            try await test.store.makeStreams([1])
            let snapshot = StoredSnapshot(seq: 2, reducerVersion: 1, state: Array(repeating: 7, count: 300_000))
            try await test.store.save(snapshot, of: id(1))
            let loaded = try #require(try await test.second.load(id(1), reducerVersion: 1, after: nil))
            #expect(loaded.snapshot == snapshot)
            #expect(loaded.events.isEmpty)
            #expect(loaded.head.version == made)
        },
        EventStoreCheck("the newest snapshot at most at a position is found") { (test) async throws in
            try await test.store.makeStreams(1...2)
            let part = StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 10))
            #expect(try await test.store.append([part]) == [.appended])
            for seq in [10, 2, 6] {
                try await test.store.save(
                    StoredSnapshot(seq: seq, reducerVersion: 1, state: [UInt8(seq)]), of: id(1))
            }
            try await test.store.save(StoredSnapshot(seq: 8, reducerVersion: 2, state: [88]), of: id(1))
            var found: [Int?] = []
            for seq in 0...12 {
                let snapshot = try await test.store.snapshot(of: id(1), atMost: seq, reducerVersion: 1)
                #expect(snapshot.map { $0.state == [UInt8($0.seq)] && $0.reducerVersion == 1 } != false)
                found.append(snapshot?.seq)
            }
            #expect(found == [nil, nil, 2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10])
            #expect(try await test.store.snapshot(of: id(1), atMost: 7, reducerVersion: 2) == nil)
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 2)?.seq == 8)
            #expect(try await test.store.snapshot(of: id(2), atMost: 9, reducerVersion: 1) == nil)
            #expect(try await test.store.snapshot(of: id(3), atMost: 9, reducerVersion: 1) == nil)
        },
        EventStoreCheck("a snapshot of another epoch is refused") { (test) async throws in
            try await test.store.makeStreams([1])
            let first = StoredSnapshot(seq: 1, reducerVersion: 1, state: [1])
            try await test.store.save(first, of: id(1), in: "epoch-1", oneIn: 1)
            for seq in 1...2 {
                let stale = StoredSnapshot(seq: seq, reducerVersion: 1, state: [2])
                await #expect(throws: StorageFault.rejected(.refusedSnapshot)) {
                    try await test.store.save(stale, of: id(1), in: "epoch-0", oneIn: 9)
                }
            }
            let kept = try await test.store.snapshot(of: id(1), atMost: 2, reducerVersion: 1)
            #expect(kept == first)
        },
        EventStoreCheck("a snapshot takes the place of those before it in its span") { (test) async throws in
            try await test.store.makeStreams(1...2)
            let part = StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 20))
            #expect(try await test.store.append([part]) == [.appended])
            func save(_ seq: Int, oneIn span: Int, epoch: String? = nil) async throws {
                let snapshot = StoredSnapshot(seq: seq, reducerVersion: 1 + seq % 2, state: [UInt8(seq)])
                try await test.store.save(snapshot, of: id(1), in: epoch, oneIn: span)
            }
            func kept() async throws -> Set<Int> {
                var kept: Set<Int> = []
                for seq in 1...22 {
                    let found = try await test.second.snapshot(of: id(1), atMost: seq, reducerVersion: 1 + seq % 2)
                    if let found, found.seq == seq { kept.insert(seq) }
                }
                return kept
            }
            try await test.store.save(StoredSnapshot(seq: 1, reducerVersion: 1, state: [1]), of: id(2))
            for seq in 1...14 { try await save(seq, oneIn: 5) }
            #expect(try await kept() == [4, 9, 14])
            // A late save does not delete newer snapshots.
            try await save(17, oneIn: 5)
            try await save(16, oneIn: 5)
            #expect(try await kept() == [4, 9, 14, 16, 17])
            await #expect(throws: StorageFault.rejected(.refusedSnapshot)) {
                try await save(18, oneIn: 5, epoch: "epoch-0")
            }
            #expect(try await kept() == [4, 9, 14, 16, 17])
            try await save(19, oneIn: 5)
            #expect(try await kept() == [4, 9, 14, 19])
            try await save(20, oneIn: 1)
            #expect(try await kept() == [4, 9, 14, 19, 20])
            #expect(try await test.store.snapshot(of: id(2), atMost: 2, reducerVersion: 1)?.seq == 1)
        },
        EventStoreCheck("a snapshot replaces one of the same position") { (test) async throws in
            try await test.store.makeStreams([1])
            for (version, byte) in [(1, 1), (1, 2), (2, 3)] as [(Int, UInt8)] {
                let snapshot = StoredSnapshot(seq: 2, reducerVersion: version, state: [byte])
                try await test.store.save(snapshot, of: id(1))
                #expect(try await test.store.snapshot(of: id(1), atMost: 2, reducerVersion: version) == snapshot)
            }
            #expect(try await test.store.snapshot(of: id(1), atMost: 2, reducerVersion: 1) == nil)
        },
    ]
}

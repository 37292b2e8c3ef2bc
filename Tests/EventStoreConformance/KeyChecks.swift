import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let keyChecks = [
        EventStoreCheck("keys are read back as they were written") { (test) async throws in
            try await test.store.makeStreams([1])
            let written = [
                CommandKey(ordinal: 1, session: id(1), key: "a", fingerprint: .max, seq: 3, result: nil),
                CommandKey(
                    ordinal: 2, session: id(2), key: "Ünïcödé '\"\\ {,} 🎧", fingerprint: .min, seq: 3,
                    result: Array(#"{"tracks":[1,2,3],"t":"é'\\"}"#.utf8)),
                CommandKey(ordinal: 3, session: id(1), key: "a", fingerprint: -1, seq: 0, result: Array("17".utf8)),
                CommandKey(
                    ordinal: 4, session: id(3), key: String(repeating: "k", count: 200), fingerprint: 0, seq: 3,
                    result: Array("null".utf8)),
            ]
            let part = StreamAppend(
                stream: id(1), expected: made, events: events(after: 2, count: 1), keys: written)
            #expect(try await test.store.append([part]) == [.appended])
            #expect(try await test.second.whole(id(1)).keys == written.map(ParsedKey.init))
        },
        EventStoreCheck("the newest thousand keyed commands of a stream are remembered") { (test) async throws in
            try await test.store.makeStreams(1...2)
            for keyed in stride(from: 0, to: 1_260, by: 210) {
                let part = StreamAppend(
                    stream: id(1), expected: StreamVersion(seq: 2, keyed: keyed), events: [],
                    keys: keys(after: keyed, count: 210))
                #expect(try await test.store.append([part]) == [.appended])
            }
            let remembered = keys(after: 260, count: 1_000).map(ParsedKey.init)
            #expect(try await test.store.whole(id(1)).keys == remembered)
            #expect(try await test.store.whole(id(2)).keys.isEmpty)
            for (keyed, count) in [(1_250, 10), (1_260, 0), (260, 1_000), (100, 1_000)] {
                let loaded = try await test.store.load(
                    id(1), reducerVersion: 1, after: StreamVersion(seq: 2, keyed: keyed))
                #expect(loaded?.keys.map(ParsedKey.init) == remembered.suffix(count))
            }
        },
        EventStoreCheck("one append may bring more keyed commands than are remembered") { (test) async throws in
            try await test.store.makeStreams([1])
            let part = StreamAppend(
                stream: id(1), expected: made, events: [],
                keys: keys(after: 0, count: 2_300))
            #expect(try await test.store.append([part]) == [.appended])
            let stream = try await test.store.whole(id(1))
            #expect(stream.head.version.keyed == 2_300)
            #expect(stream.keys == keys(after: 1_300, count: 1_000).map(ParsedKey.init))
        },
    ]
}

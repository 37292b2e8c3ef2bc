import EventStorage
import FoundationEssentials
import RandomTestSupport
import Testing

extension ConformanceSuite {
    static let appendChecks = [
        EventStoreCheck("an append at the expected version is written") { (test) async throws in
            try await test.store.makeStreams([1])
            let part = StreamAppend(
                stream: id(1), expected: made, events: events(after: 2, count: 3), keys: keys(after: 0, count: 2))
            #expect(try await test.store.append([part]) == [.appended])
            let stream = try await test.second.whole(id(1))
            #expect(stream.head == StreamHead(epoch: "epoch-1", version: StreamVersion(seq: 5, keyed: 2)))
            #expect(stream.events == (events(after: 0, count: 2) + part.events).map(ParsedEvent.init))
            #expect(stream.keys == part.keys.map(ParsedKey.init))
        },
        EventStoreCheck("a stream of another epoch is reported alone, and the epoch is compared only where it is given")
        {
            (test) async throws in
            try await test.store.makeStreams(1...3)
            let before = try await test.store.whole(id(2))
            let batch = [(1, "epoch-1"), (2, "epoch-1"), (3, nil)].map { n, epoch in
                StreamAppend(
                    stream: id(n), expected: made, events: events(after: 2, count: 1),
                    directory: entry(n, owner: id(801)), epoch: epoch)
            }
            #expect(try await test.store.append(batch) == [.appended, .conflict, .appended])
            #expect(try await test.store.whole(id(2)) == before)
            var plain = StreamAppend(stream: id(2), expected: made, events: events(after: 2, count: 1), epoch: "")
            #expect(try await test.store.append([plain]) == [.conflict])
            plain.epoch = "epoch-2"
            #expect(try await test.store.append([plain]) == [.appended])
        },
        EventStoreCheck("a stream at another version is reported alone and nothing of it is written") {
            (test) async throws in
            try await test.store.makeStreams(1...4)
            let before = [try await test.store.whole(id(2)), try await test.store.whole(id(3))]
            // The expected versions of streams 2 and 3 are too low and too high; stream 9 does not exist.
            let batch = [
                (1, 2), (2, 1), (3, 3), (9, 2), (4, 2),
            ].map { n, seq in
                StreamAppend(
                    stream: id(n), expected: StreamVersion(seq: seq, keyed: 0), events: events(after: seq, count: 2),
                    keys: keys(after: 0, count: 1), directory: entry(n, owner: id(801), name: "New \(n)"),
                    joined: [id(802)], left: [id(800)])
            }
            #expect(try await test.store.append(batch) == [.appended, .conflict, .conflict, .conflict, .appended])
            #expect([try await test.store.whole(id(2)), try await test.store.whole(id(3))] == before)
            #expect(try await test.store.load(id(9), reducerVersion: 1, after: nil) == nil)
            for n in [1, 4] {
                let stream = try await test.store.whole(id(n))
                #expect(stream.head.version == StreamVersion(seq: 4, keyed: 1))
                #expect(stream.events == events(after: 0, count: 4).map(ParsedEvent.init))
                #expect(stream.keys == keys(after: 0, count: 1).map(ParsedKey.init))
                #expect(try await test.store.listedEntry(of: id(n)) == entry(n, owner: id(801), name: "New \(n)"))
            }
            for n in [2, 3] {
                #expect(try await test.store.listedEntry(of: id(n)) == entry(n, owner: id(800)))
            }
            #expect(try await test.store.listedEntry(of: id(9)) == nil)
            #expect(Set(try await test.store.memberships(of: id(802))) == [id(1), id(4)])
            #expect(Set(try await test.store.memberships(of: id(800))) == [id(2), id(3)])
        },
        EventStoreCheck("another event at the expected number is a conflict, where both sides know its checksum") {
            (test) async throws in
            try await test.store.makeStreams([1])
            // The first events have no checksum.
            try await test.store.append(sealed(1, after: StreamVersion(seq: 2, keyed: 0, tail: 8), count: 2))
            let head = try await test.second.heads(of: [id(1)])[id(1)]
            #expect(head?.version == StreamVersion(seq: 4, keyed: 0, tail: 4))
            #expect(try await test.store.load(id(1), reducerVersion: 1, after: nil)?.head == head)
            for tail in [5, 3] as [Int64] {
                let other = sealed(1, after: StreamVersion(seq: 4, keyed: 0, tail: tail), count: 1)
                let outcomes = try await test.store.append([other])
                #expect(outcomes == [.conflict])
                // In a batch of several likewise.
                try await test.store.makeStreams([Int(tail) * 10])
                let beside = sealed(Int(tail) * 10, after: made, count: 1)
                let both = try await test.store.append([other, beside])
                #expect(both == [.conflict, .appended])
            }
            // A keyed command alone keeps the tail.
            let keyed = StreamAppend(
                stream: id(1), expected: StreamVersion(seq: 4, keyed: 0, tail: 4), events: [],
                keys: keys(after: 0, count: 1, seq: 4))
            #expect(try await test.store.append([keyed]) == [.appended])
            try await test.store.append(sealed(1, after: StreamVersion(seq: 4, keyed: 1, tail: 4), count: 1))
            try await test.store.append(sealed(1, after: StreamVersion(seq: 5, keyed: 1), count: 1))
            #expect(try await test.second.heads(of: [id(1)])[id(1)]?.version.tail == 6)
        },
        EventStoreCheck("an epoch is replaced once, by whoever names the one that is there") { (test) async throws in
            try await test.store.makeStreams([1])
            try await test.store.append(sealed(1, after: made, count: 2))
            try await test.store.save(StoredSnapshot(seq: 4, reducerVersion: 1, state: [1]), of: id(1))
            let renewal = EpochRenewal(stream: id(1), epoch: "renewed", checksum: 7)
            #expect(try await !test.store.renew(renewal, replacing: "another"))
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 1) != nil)
            #expect(try await test.store.renew(renewal, replacing: "epoch-1"))
            #expect(try await !test.second.renew(renewal, replacing: "epoch-1"))
            let version = StreamVersion(seq: 4, keyed: 0, tail: 4)
            #expect(try await test.second.heads(of: [id(1)])[id(1)] == StreamHead(epoch: "renewed", version: version))
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 1) == nil)
            let nobody = EpochRenewal(stream: id(9), epoch: "renewed", checksum: 7)
            #expect(try await !test.store.renew(nobody, replacing: "epoch-9"))
        },
        EventStoreCheck("a wrong count of keyed commands alone is a conflict") { (test) async throws in
            try await test.store.makeStreams([1])
            for keyed in [1, 7] {
                let part = StreamAppend(
                    stream: id(1), expected: StreamVersion(seq: 2, keyed: keyed), events: events(after: 2, count: 1),
                    keys: keys(after: keyed, count: 1))
                #expect(try await test.store.append([part]) == [.conflict])
            }
            let stream = try await test.store.whole(id(1))
            #expect(stream.head.version == made)
            #expect(stream.events.count == 2)
            #expect(stream.keys.isEmpty)
        },
        EventStoreCheck("a keyed command without an event moves only the count of keyed commands") {
            (test) async throws in
            try await test.store.makeStreams([1])
            let part = StreamAppend(
                stream: id(1), expected: made, events: [], keys: keys(after: 0, count: 1, seq: 2))
            #expect(try await test.store.append([part]) == [.appended])
            #expect(try await test.store.append([part]) == [.conflict])
            let stream = try await test.store.whole(id(1))
            #expect(stream.head.version == StreamVersion(seq: 2, keyed: 1))
            #expect(stream.events.count == 2)
            #expect(stream.keys == part.keys.map(ParsedKey.init))
        },
        EventStoreCheck("the same append a second time is a conflict and changes nothing") { (test) async throws in
            try await test.store.makeStreams([1])
            let part = StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 2))
            #expect(try await test.store.append([part]) == [.appended])
            let after = try await test.store.whole(id(1))
            #expect(try await test.second.append([part]) == [.conflict])
            #expect(try await test.store.whole(id(1)) == after)
        },
        EventStoreCheck("an append without events or keys changes the entry where the version is the expected one") {
            (test) async throws in
            try await test.store.makeStreams(1...2)
            let changed = entry(1, owner: nil, name: "Renamed")
            let batch = [
                StreamAppend(stream: id(1), expected: made, events: [], directory: changed),
                StreamAppend(stream: id(2), expected: .start, events: [], directory: changed),
            ]
            #expect(try await test.store.append(batch) == [.appended, .conflict])
            #expect(try await test.store.listedEntry(of: id(1)) == changed)
            #expect(try await test.store.listedEntry(of: id(2)) == entry(2, owner: id(800)))
            #expect(try await test.store.whole(id(1)).head.version == made)
        },
        EventStoreCheck("an empty batch has no outcomes") { (test) async throws in
            #expect(try await test.store.append([]) == [])
        },
        EventStoreCheck("outcomes come in the order of the batch") { (test) async throws in
            try await test.store.makeStreams(0..<60)
            var mixer = SeededRandom(seed: TestSeed.fixed(1))
            let order = (0..<60).shuffled(using: &mixer)
            let batch = order.map { n in
                let expected = n.isMultiple(of: 3) ? StreamVersion(seq: 1, keyed: 0) : made
                return StreamAppend(
                    stream: id(n), expected: expected, events: events(after: expected.seq, count: 1 + n % 4),
                    keys: keys(after: 0, count: n % 2))
            }
            let outcomes = try await test.store.append(batch)
            #expect(outcomes == order.map { $0.isMultiple(of: 3) ? .conflict : .appended })
            let heads = try await test.store.heads(of: order.map(id))
            #expect(heads.count == 60)
            for (part, outcome) in zip(batch, outcomes) {
                #expect(heads[part.stream]?.version == (outcome == .appended ? part.resulting : made))
            }
        },
        EventStoreCheck("a thousand events in one append and a thousand streams in one batch are written") {
            (test) async throws in
            try await test.store.makeStreams([1])
            let long = StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 1_000))
            #expect(try await test.store.append([long]) == [.appended])
            #expect(try await test.store.whole(id(1)).events == events(after: 0, count: 1_002).map(ParsedEvent.init))
            try await test.store.makeStreams(2...200)
            let wide = (2...1_001).map { n in
                StreamAppend(stream: id(n), expected: made, events: events(after: 2, count: 2))
            }
            let outcomes = try await test.store.append(wide)
            #expect(outcomes == wide.indices.map { $0 < 199 ? .appended : .conflict })
            let heads = try await test.store.heads(of: wide.map(\.stream))
            #expect(heads.count == 199)
            #expect(heads.values.allSatisfy { $0.version.seq == 4 })
        },
        EventStoreCheck("events are read back as they were written") { (test) async throws in
            try await test.store.makeStreams([1])
            let written = payloads.enumerated().map { index, payload in
                StoredEvent(
                    seq: 3 + index, at: index.isMultiple(of: 2) ? noon : -1, type: "type.of/\(index) ü",
                    payload: Array(payload.utf8))
            }
            let part = StreamAppend(stream: id(1), expected: made, events: written)
            #expect(try await test.store.append([part]) == [.appended])
            let parsed = written.map(ParsedEvent.init)
            #expect(parsed.allSatisfy { if case .object = $0.payload { true } else { false } })
            #expect(try await test.store.read(id(1), after: 2, limit: 100).map(ParsedEvent.init) == parsed)
            #expect(Array(try await test.second.whole(id(1)).events.dropFirst(2)) == parsed)
        },
    ]

    /// JSON objects that stores have been known to change.
    private static let payloads = [
        "{}",
        #"{"title":"Ünïcödé — 東京 🎧🏳️‍🌈","nfc":"é","nfd":"e\#u{301}","rtl":"שלום","zero width":"a\#u{200d}b"}"#,
        #"{"quotes":"'\"\\\/","controls":"\b\f\n\r\t\u0001\u001f","escaped":"\u00e9\ud83c\udfa7","sql":"'; DROP TABLE rooms; --"}"#,
        #"{"percent":"100%_\\","brackets":"{a,b}","backslash n":"\\n","null text":"null","array text":"{NULL,\"x\"}"}"#,
        #"{"largest":9007199254740992,"smallest":-9007199254740992,"zero":0,"half":0.5,"third":0.3333333333333333,"tiny":1e-7,"huge":1.5e300,"lat":-33.86881,"exp":2.5E+3}"#,
        #"{"nested":{"a":[{"b":[[],[[1,2,[3]]],{}]},null,true,false,{"c":{"d":{"e":{}}}}]},"":"empty name"}"#,
        #"  { "white" : [ 1 ,   2 ] , "z":1,"a":2 }  "#,
        #"{"long":"\#(String(repeating: "Ωmega ", count: 20_000))"}"#,
    ]
}

import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let erasureChecks = [
        EventStoreCheck("streams closed before an instant are removed, oldest first, and no others") {
            (test) async throws in
            try await test.store.makeStreams(1...5)
            try await test.store.closeStream(1, at: noon + 30)
            try await test.store.closeStream(2, at: noon + 10)
            try await test.store.closeStream(3, at: noon + 20)
            try await test.store.closeStream(4, at: noon + 40)
            #expect(try await test.store.removeStreams(closedBefore: noon + 10, limit: 9) == [])
            #expect(try await test.store.removeStreams(closedBefore: noon + 40, limit: 0) == [])
            let first = try await test.store.removeStreams(closedBefore: noon + 40, limit: 2)
            #expect(Set(first) == [id(2), id(3)])
            #expect(try await test.second.removeStreams(closedBefore: noon + 40, limit: 9) == [id(1)])
            #expect(try await test.store.removeStreams(closedBefore: noon + 40, limit: 9) == [])
            #expect(Set(try await test.store.heads(of: (1...5).map(id)).keys) == [id(4), id(5)])
            #expect(try await test.store.whole(id(4)).events.count == 3)
            #expect(try await test.store.whole(id(5)).events.count == 2)
        },
        EventStoreCheck("a stream that is removed is nowhere, and nothing can be written to it") {
            (test) async throws in
            let made = try await test.store.create(creation(1, key: "k"))
            #expect(made == .created)
            try await test.store.makeStreams([2])
            try await test.store.save(StoredSnapshot(seq: 1, reducerVersion: 1, state: [1]), of: id(1))
            let keyed = StreamAppend(
                stream: id(1), expected: EventStoreConformance.made, events: [], keys: keys(after: 0, count: 2))
            #expect(try await test.store.append([keyed]) == [.appended])
            try await test.store.closeStream(1, at: noon + 10)
            let version = try #require(try await test.store.heads(of: [id(1)])[id(1)]).version
            #expect(try await test.store.removeStreams(closedBefore: noon + 11, limit: 1) == [id(1)])

            for store in [test.store, test.second] {
                #expect(try await store.load(id(1), reducerVersion: 1, after: nil) == nil)
                #expect(try await store.load(id(1), reducerVersion: 1, after: version) == nil)
                #expect(try await store.heads(of: [id(1)]).isEmpty)
                #expect(try await store.directory(of: [id(1)]).isEmpty)
                #expect(try await store.stream(code: code(1)) == nil)
                let late = StreamAppend(
                    stream: id(1), expected: version, events: events(after: version.seq, count: 1),
                    keys: keys(after: version.keyed, count: 1), joined: [id(801)])
                let other = StreamAppend(
                    stream: id(2), expected: try await store.heads(of: [id(2)])[id(2)]?.version ?? .start, events: [])
                #expect(try await store.append([late, other]) == [.conflict, .appended])
                await #expect(throws: StorageFault.self) {
                    try await store.save(StoredSnapshot(seq: 2, reducerVersion: 1, state: [2]), of: id(1))
                }
            }
            while try await test.store.sweep(limit: 2) {}
            #expect(try await test.store.read(id(1), after: 0, limit: 9).isEmpty)
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 1) == nil)
            #expect(try await test.store.memberships(of: id(800)) == [id(2)])
            #expect(try await test.store.memberships(of: id(801)).isEmpty)
            // The code and the creator's key can be used again.
            #expect(try await test.store.create(creation(3, key: "k", entry: entry(1, owner: id(800)))) == .created)
            #expect(try await test.store.sweep(limit: 2) == false)
        },
        EventStoreCheck("a stream that is removed is listed nowhere, swept or not") { (test) async throws in
            let archive = try test.archive
            for (n, key) in [(1, "k"), (2, "l")] {
                #expect(try await archive.create(creation(n, key: key)) == .created)
                try await archive.save(StoredSnapshot(seq: 1, reducerVersion: 1, state: [1]), of: id(n))
                let keyed = StreamAppend(
                    stream: id(n), expected: made, events: [], keys: keys(after: 0, count: 2), joined: [id(801)],
                    attachments: [.init(name: "a", bytes: [1])])
                #expect(try await archive.append([keyed]) == [.appended])
            }
            try await archive.closeStream(1, at: noon)
            #expect(try await archive.removeStreams(closedBefore: noon + 1, limit: 1) == [id(1)])
            for isSwept in [false, true] {
                if isSwept { while try await archive.sweep(limit: 2) {} }
                for part in LogPart.allCases {
                    #expect(try await archive.streams(in: part, after: nil, limit: 9) == [id(2)])
                }
                let before = CreationKey(session: id(800), key: "a", stream: id(2), fingerprint: 7, at: noon)
                for after in [nil, before] {
                    #expect(try await archive.creationKeys(after: after, limit: 9).map(\.key) == ["l"])
                }
            }
        },
        EventStoreCheck("many that remove and sweep at once remove each stream once, and whole") {
            (test) async throws in
            try await test.store.makeStreams(1...40)
            for n in 1...30 { try await test.store.closeStream(n, at: noon + Int64(n)) }
            let removed = try await withThrowingTaskGroup(of: [UUID].self) { group in
                for worker in 0..<6 {
                    group.addTask {
                        var removed: [UUID] = []
                        for _ in 0..<30 {
                            let store = test.handle(worker)
                            removed += try await store.removeStreams(closedBefore: noon + 31, limit: 3)
                            _ = try await store.sweep(limit: 2)
                        }
                        return removed
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(removed.sorted() == (1...30).map(id))
            while try await test.store.sweep(limit: 2) {}
            for n in 1...30 { #expect(try await test.store.read(id(n), after: 0, limit: 9).isEmpty) }
            for n in 31...40 { #expect(try await test.store.whole(id(n)).events.count == 2) }
        },
        EventStoreCheck("an append that races a removal is written whole before it or not at all") {
            (test) async throws in
            for n in 0..<30 {
                try await test.store.makeStreams([n])
                try await test.store.closeStream(n, at: noon)
                async let appended = test.store.append([
                    StreamAppend(
                        stream: id(n), expected: StreamVersion(seq: 3, keyed: 0), events: events(after: 3, count: 3))
                ])
                async let removed = test.second.removeStreams(closedBefore: noon + 1, limit: 1)
                let outcome = try await appended
                #expect(outcome == [.appended] || outcome == [.conflict])
                // A removal that meets the append's lock leaves the stream to the next round.
                var gone = try await removed
                if gone.isEmpty { gone = try await test.store.removeStreams(closedBefore: noon + 1, limit: 1) }
                #expect(gone == [id(n)])
                while try await test.store.sweep(limit: 2) {}
                #expect(try await test.store.read(id(n), after: 0, limit: 9).isEmpty)
            }
        },
        EventStoreCheck("only a stream that is to be forgotten is rewritten, and only its payloads") {
            (test) async throws in
            try await test.store.makeStreams(1...3)
            try await test.store.closeStream(1, at: noon + 50, forget: true)
            try await test.store.closeStream(2, at: noon + 40, forget: true)
            try await test.store.closeStream(3, at: noon + 30)
            #expect(try await test.second.streamsToForget(limit: 9) == [id(2), id(1)])
            #expect(try await test.second.streamsToForget(limit: 1) == [id(2)])
            let bare = events(after: 0, count: 2, tag: "bare")
            for n in 1...4 { try await test.store.rewrite(bare, of: id(n)) }
            let whole = try await test.store.whole(id(1))
            #expect(Array(whole.events.prefix(2)) == bare.map(ParsedEvent.init))
            #expect(whole.events.count == 3)
            #expect(whole.head.epoch == "epoch-1")
            #expect(try await test.store.whole(id(2)).events.prefix(2) == bare.map(ParsedEvent.init)[...])
            #expect(
                try await test.store.whole(id(3)).events.prefix(2)
                    == events(after: 0, count: 2).map(ParsedEvent.init)[...])
            #expect(try await test.store.load(id(4), reducerVersion: 1, after: nil) == nil)
        },
        EventStoreCheck("a stream's forgetting ends once, with another epoch and without snapshots and fingerprints") {
            (test) async throws in
            #expect(try await test.store.create(creation(1, key: "k")) == .created)
            try await test.store.makeStreams([2])
            for n in 1...2 {
                try await test.store.save(StoredSnapshot(seq: 1, reducerVersion: 1, state: [1]), of: id(n))
                let keyed = StreamAppend(stream: id(n), expected: made, events: [], keys: keys(after: 0, count: 2))
                #expect(try await test.store.append([keyed]) == [.appended])
            }
            try await test.store.endForgetting(
                EpochRenewal(stream: id(1), epoch: "too early", checksum: 7), at: noon)
            #expect(try await test.store.whole(id(1)).head.epoch == "epoch-1")
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 1) != nil)

            try await test.store.closeStream(1, at: noon + 1, forget: true)
            await #expect(throws: StorageFault.self) {
                try await test.second.save(StoredSnapshot(seq: 2, reducerVersion: 1, state: [2]), of: id(1))
            }
            try await test.store.endForgetting(
                EpochRenewal(stream: id(1), epoch: "renewed", checksum: 7), at: noon + 2)
            try await test.second.endForgetting(
                EpochRenewal(stream: id(1), epoch: "renewed twice", checksum: 7), at: noon + 3)
            let forgotten = try await test.second.whole(id(1))
            #expect(forgotten.head == StreamHead(epoch: "renewed", version: StreamVersion(seq: 3, keyed: 2)))
            #expect(forgotten.keys.map(\.fingerprint) == [CommandKey.forgotten, CommandKey.forgotten])
            #expect(forgotten.keys.map(\.key) == keys(after: 0, count: 2).map(\.key))
            #expect(
                try await test.store.create(creation(3, key: "k"))
                    == .existing(stream: id(1), fingerprint: CommandKey.forgotten))
            #expect(forgotten.events.count == 3)
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 1) == nil)
            #expect(try await test.store.streamsToForget(limit: 9).isEmpty)
            await #expect(throws: StorageFault.self) {
                try await test.store.save(StoredSnapshot(seq: 2, reducerVersion: 1, state: [2]), of: id(1))
            }
            // The other stream is unchanged.
            #expect(try await test.store.whole(id(2)).keys.map(\.fingerprint) == [1, 2])
            #expect(try await test.store.snapshot(of: id(2), atMost: 9, reducerVersion: 1) != nil)
        },
        EventStoreCheck("events before a clearing are rewritten, and the stream goes on meanwhile") {
            (test) async throws in
            #expect(try await test.store.create(creation(1, key: "k")) == .created)
            try await test.store.makeStreams([2, 3])
            for n in 1...3 {
                try await test.store.save(StoredSnapshot(seq: 2, reducerVersion: 1, state: [2]), of: id(n))
                try await test.store.appendClearing(to: n, isClearing: n < 3)
            }
            let asked = (1...2).map { StreamClearing(stream: id($0), cleared: 0, clearing: 4) }
            #expect(try await test.second.streamsToClear(after: nil, limit: 9) == asked)
            #expect(try await test.second.streamsToClear(after: nil, limit: 1) == [asked[0]])
            #expect(try await test.second.streamsToClear(after: id(1), limit: 9) == [asked[1]])
            #expect(try await test.second.streamsToClear(after: id(2), limit: 9).isEmpty)
            // An earlier snapshot cannot be saved, a later one can.
            await #expect(throws: StorageFault.self) {
                try await test.second.save(StoredSnapshot(seq: 3, reducerVersion: 1, state: [3]), of: id(1))
            }
            try await test.store.save(StoredSnapshot(seq: 4, reducerVersion: 1, state: [4]), of: id(1))
            #expect(try await test.store.snapshot(of: id(1), atMost: 3, reducerVersion: 1)?.seq == 2)

            let bare = events(after: 0, count: 2, tag: "bare")
            for n in [1, 3, 4] { try await test.store.clear(bare, of: id(n), through: 2) }
            #expect(
                try await test.second.streamsToClear(after: nil, limit: 9)
                    == [StreamClearing(stream: id(1), cleared: 2, clearing: 4), asked[1]])
            try await test.store.appendClearing(to: 1, isClearing: false)
            for _ in 1...2 { try await test.second.clear([], of: id(1), through: 4) }
            #expect(try await test.store.streamsToClear(after: nil, limit: 9) == [asked[1]])
            let whole = try await test.second.whole(id(1))
            #expect(whole.head == StreamHead(epoch: "epoch-1", version: StreamVersion(seq: 6, keyed: 4)))
            #expect(Array(whole.events.prefix(2)) == bare.map(ParsedEvent.init))
            #expect(whole.events.count == 6)
            // Earlier commands are not compared any more; later ones are.
            #expect(whole.keys.map(\.fingerprint) == [CommandKey.forgotten, 2, 3, 4])
            #expect(try await test.store.snapshot(of: id(1), atMost: 3, reducerVersion: 1) == nil)
            #expect(try await test.store.snapshot(of: id(1), atMost: 9, reducerVersion: 1)?.seq == 4)
            #expect(
                try await test.store.create(creation(5, key: "k"))
                    == .existing(stream: id(1), fingerprint: CommandKey.forgotten))
            // Without a clearing, nothing is rewritten.
            #expect(
                try await test.store.whole(id(3)).events.prefix(2)
                    == events(after: 0, count: 2).map(ParsedEvent.init)[...])
            #expect(try await test.store.snapshot(of: id(3), atMost: 9, reducerVersion: 1)?.seq == 2)
            #expect(try await test.store.load(id(4), reducerVersion: 1, after: nil) == nil)
        },
        EventStoreCheck("what was cleared before is not cleared again for a later clearing") { (test) async throws in
            try await test.store.makeStreams([1])
            for _ in 1...2 { try await test.store.appendClearing(to: 1) }
            #expect(
                try await test.store.streamsToClear(after: nil, limit: 9)
                    == [StreamClearing(stream: id(1), cleared: 0, clearing: 6)])
            // A rewrite that began with the first clearing records only its own progress.
            try await test.store.clear([], of: id(1), through: 4)
            #expect(
                try await test.store.streamsToClear(after: nil, limit: 9)
                    == [StreamClearing(stream: id(1), cleared: 4, clearing: 6)])
            try await test.store.clear([], of: id(1), through: 2)
            try await test.store.clear([], of: id(1), through: 99)
            #expect(try await test.store.streamsToClear(after: nil, limit: 9).isEmpty)
            try await test.store.appendClearing(to: 1)
            #expect(
                try await test.store.streamsToClear(after: nil, limit: 9)
                    == [StreamClearing(stream: id(1), cleared: 6, clearing: 8)])
            // Forgetting a stream includes every clearing.
            try await test.store.closeStream(1, at: noon, forget: true)
            #expect(try await test.store.streamsToClear(after: nil, limit: 9).isEmpty)
        },
        EventStoreCheck("a stream that is to be forgotten can be removed") { (test) async throws in
            try await test.store.makeStreams([1])
            try await test.store.closeStream(1, at: noon, forget: true)
            #expect(try await test.store.removeStreams(closedBefore: noon + 1, limit: 1) == [id(1)])
            #expect(try await test.store.streamsToForget(limit: 9).isEmpty)
            try await test.store.rewrite(events(after: 0, count: 2, tag: "bare"), of: id(1))
            try await test.store.endForgetting(
                EpochRenewal(stream: id(1), epoch: "renewed", checksum: 7), at: noon)
            while try await test.store.sweep(limit: 100) {}
            #expect(try await test.store.load(id(1), reducerVersion: 1, after: nil) == nil)
        },
    ]
}

extension EventStore {
    /// Appends two events to the `n`th stream, each with a key, the second of which clears it.
    fileprivate func appendClearing(to n: Int, isClearing: Bool = true) async throws {
        guard let version = try await heads(of: [id(n)])[id(n)]?.version, let entry = try await listedEntry(of: id(n))
        else { throw CheckFailure("stream \(n) does not exist") }
        var keys = keys(after: version.keyed, count: 2)
        for place in keys.indices { keys[place].seq = version.seq + place + 1 }
        let part = StreamAppend(
            stream: id(n), expected: version, events: events(after: version.seq, count: 2), keys: keys,
            directory: entry, clearing: isClearing ? version.seq + 2 : nil)
        guard try await append([part]) == [.appended] else { throw CheckFailure("stream \(n) was not cleared") }
    }

    /// Closes the `n`th stream at an instant, with one event.
    func closeStream(_ n: Int, at instant: Int64, forget: Bool = false) async throws {
        guard let version = try await heads(of: [id(n)])[id(n)]?.version,
            var entry = try await listedEntry(of: id(n))
        else { throw CheckFailure("stream \(n) does not exist") }
        entry.closedAt = instant
        let part = StreamAppend(
            stream: id(n), expected: version, events: events(after: version.seq, count: 1), directory: entry,
            left: [id(800)], forgetAt: forget ? instant : nil)
        guard try await append([part]) == [.appended] else { throw CheckFailure("stream \(n) was not closed") }
    }
}

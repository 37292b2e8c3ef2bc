import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let archiveChecks = [
        EventStoreCheck("streams are listed by what they have, in pages") { (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([3, 1, 2])
            let part = StreamAppend(
                stream: id(2), expected: made, events: [], keys: keys(after: 0, count: 2), left: [id(800)])
            #expect(try await archive.append([part]) == [.appended])
            let attached = StreamAppend(
                stream: id(3), expected: made, events: [], attachments: [.init(name: "a", bytes: [1])])
            #expect(try await archive.append([attached]) == [.appended])
            try await archive.save(StoredSnapshot(seq: 2, reducerVersion: 1, state: [1]), of: id(3))
            try await archive.save(StoredSnapshot(seq: 1, reducerVersion: 1, state: [1]), of: id(3))
            let expected: [LogPart: [UUID]] = [
                .heads: [id(1), id(2), id(3)], .directory: [id(1), id(2), id(3)], .events: [id(1), id(2), id(3)],
                .keys: [id(2)], .snapshots: [id(3)],
                .memberships: [id(1), id(3)], .attachments: [id(3)],
            ]
            for part in LogPart.allCases {
                #expect(try await archive.streams(in: part, after: nil, limit: 10) == expected[part])
                #expect(try await archive.streams(in: part, after: id(3), limit: 10).isEmpty)
                #expect(try await archive.streams(in: part, after: nil, limit: 0).isEmpty)
            }
            #expect(try await archive.streams(in: .heads, after: nil, limit: 2) == [id(1), id(2)])
            #expect(try await archive.streams(in: .events, after: id(1), limit: 1) == [id(2)])
        },
        EventStoreCheck("a stream is read with all that belongs to it") { (test) async throws in
            let archive = try test.archive
            var sealed = creation(1)
            sealed.checksum = -17
            #expect(try await archive.create(sealed) == .created)
            var remembered = keys(after: 0, count: 3)
            remembered[1].checksum = .min
            let part = StreamAppend(
                stream: id(1), expected: made, events: events(after: 2, count: 5), keys: remembered,
                directory: entry(1, owner: id(801), name: "Renamed"), joined: [id(801)],
                attachments: [.init(name: "b", bytes: [1]), .init(name: "a", bytes: [2], unneededSince: 5)])
            #expect(try await archive.append([part]) == [.appended])
            for seq in [7, 4] {
                try await archive.save(StoredSnapshot(seq: seq, reducerVersion: 9, state: []), of: id(1))
            }
            var found = try #require(try await archive.archived(id(1)))
            found.members.sort()
            for index in found.keys.indices { found.keys[index].key.result = remembered[index].result }
            #expect(
                found
                    == ArchivedStream(
                        stream: id(1),
                        head: StreamHead(epoch: "epoch-1", version: StreamVersion(seq: 7, keyed: 3)), checksum: -17,
                        lastEvent: 7, entry: ArchivedEntry(entry: entry(1, owner: id(801), name: "Renamed")),
                        keys: remembered.map { ArchivedKey(slot: $0.ordinal, key: $0) }, members: [id(800), id(801)],
                        snapshots: [4, 7],
                        attachments: [.init(name: "a", unneededSince: 5), .init(name: "b")]))
            #expect(try await archive.archived(id(2)) == nil)
        },
        EventStoreCheck("checksums are kept as they are") { (test) async throws in
            let archive = try test.archive
            var first = creation(1)
            for (index, checksum) in [Int64.min, .max].enumerated() { first.first.events[index].checksum = checksum }
            #expect(try await archive.create(first) == .created)
            var more = events(after: 2, count: 3)
            more[1].checksum = -1
            var remembered = keys(after: 0, count: 2)
            remembered[0].checksum = 99
            let part = StreamAppend(stream: id(1), expected: made, events: more, keys: remembered)
            #expect(try await archive.append([part]) == [.appended])
            let snapshot = StoredSnapshot(seq: 5, reducerVersion: 1, state: [1, 2], checksum: -5)
            try await archive.save(snapshot, of: id(1))
            let read = try await archive.read(id(1), after: 0, limit: 10)
            #expect(read.map(\.checksum) == [.min, .max, nil, -1, nil])
            let loaded = try #require(try await archive.load(id(1), reducerVersion: 1, after: made))
            #expect(loaded.events.map(\.checksum) == [nil, -1, nil])
            #expect(loaded.keys.map(\.checksum) == [99, nil])
            #expect(try await archive.load(id(1), reducerVersion: 1, after: nil)?.snapshot == snapshot)
            #expect(try await archive.snapshot(of: id(1), at: 5) == snapshot)
            #expect(try await archive.snapshot(of: id(1), at: 4) == nil)
            try await archive.save(StoredSnapshot(seq: 5, reducerVersion: 1, state: [1, 2]), of: id(1))
            #expect(try await archive.snapshot(of: id(1), at: 5)?.checksum == nil)
        },
        EventStoreCheck("a page of events ends at its rows, at its bytes and at the position given") {
            (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([1])
            let text = String(repeating: "x", count: 1_000)
            let part = StreamAppend(
                stream: id(1), expected: made, events: events(after: 2, count: 18, tag: text))
            #expect(try await archive.append([part]) == [.appended])
            func page(after seq: Int, through last: Int, rows: Int, bytes: Int) async throws -> [Int] {
                let limit = PageLimit(rows: rows, bytes: bytes)
                return try await archive.events(of: id(1), after: seq, through: last, page: limit).map(\.seq)
            }
            #expect(try await page(after: 2, through: 20, rows: 7, bytes: 1 << 20) == Array(3...9))
            #expect(try await page(after: 2, through: 5, rows: 7, bytes: 1 << 20) == Array(3...5))
            #expect(try await page(after: 2, through: 20, rows: 7, bytes: 2_500) == Array(3...5))
            #expect(try await page(after: 2, through: 20, rows: 7, bytes: 1) == [3])
            #expect(try await page(after: 20, through: 30, rows: 7, bytes: 1 << 20).isEmpty)
            #expect(
                try await archive.events(of: id(2), after: 0, through: 9, page: PageLimit(rows: 9, bytes: 9)).isEmpty)
        },
        EventStoreCheck("sessions and creation keys are read in pages") { (test) async throws in
            let archive = try test.archive
            for n in [5, 4, 6] { try await archive.insert(archivedSession(n)) }
            #expect(try await archive.sessions(after: nil, limit: 2) == [archivedSession(4), archivedSession(5)])
            #expect(try await archive.sessions(after: id(5), limit: 2) == [archivedSession(6)])
            #expect(try await archive.sessions(after: id(6), limit: 2).isEmpty)
            for (n, creator, key) in [(1, 802, "b"), (2, 801, "é"), (3, 801, "z"), (4, 801, "Z")] {
                let made = creation(n, creator: id(creator), key: key, fingerprint: Int64(n), at: noon + Int64(n))
                #expect(try await archive.create(made) == .created)
            }
            var pages: [CreationKey] = []
            while true {
                let page = try await archive.creationKeys(after: pages.last, limit: 3)
                guard !page.isEmpty else { break }
                pages += page
            }
            #expect(
                pages
                    == [(801, "Z", 4), (801, "z", 3), (801, "é", 2), (802, "b", 1)].map { creator, key, n in
                        CreationKey(
                            session: id(creator), key: key, stream: id(n), fingerprint: Int64(n), at: noon + Int64(n))
                    })
        },
        EventStoreCheck("an epoch is renewed") { (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([1, 2])
            try await archive.renewEpochs([
                EpochRenewal(stream: id(2), epoch: "new", checksum: 5),
                EpochRenewal(stream: id(9), epoch: "nobody's", checksum: 6),
            ])
            let heads = try await archive.heads(of: [id(1), id(2), id(9)])
            #expect(heads.mapValues(\.epoch) == [id(1): "epoch-1", id(2): "new"])
            #expect(try await archive.archived(id(2))?.checksum == 5)
            try await archive.renewEpochs([])
        },
        EventStoreCheck("what is imported in parts is as if it had been written") { (test) async throws in
            let archive = try test.archive
            #expect(try await archive.hasUnfinishedImport() == false)
            #expect(try await archive.beginImport())
            #expect(try await archive.beginImport() == false)
            #expect(try await archive.hasUnfinishedImport())
            let head = StreamHead(epoch: "epoch-1", version: StreamVersion(seq: 5, keyed: 1_007))
            var hidden = entry(1, owner: id(801))
            hidden.closedAt = noon
            var part = ImportedStream(stream: id(1), head: head, checksum: 12, entry: hidden)
            part.events = events(after: 0, count: 3)
            part.events[1].checksum = 8
            // Another open room with the same code, while the first is only partly imported.
            let other = ImportedStream(
                stream: id(2), head: StreamHead(epoch: "e", version: .start), checksum: nil, entry: entry(2))
            var batch = ImportBatch()
            batch.streams = [part, other]
            try await archive.write(batch)
            part.entry = entry(1, owner: id(801))
            part.events = events(after: 3, count: 2)
            part.keys = keys(after: 7, count: 1_000, seq: 5)
            part.members = [id(801), id(802)]
            batch.streams = [part]
            batch.creationKeys = [
                CreationKey(session: id(801), key: "k", stream: id(1), fingerprint: 4, at: noon),
                CreationKey(session: id(801), key: "l", stream: id(9), fingerprint: 4, at: noon),
            ]
            batch.sessions = [archivedSession(4)]
            try await archive.write(batch)
            try await archive.finishImport()
            #expect(try await archive.hasUnfinishedImport() == false)
            #expect(try await archive.beginImport() == false)

            var found = try #require(try await archive.archived(id(1)))
            found.members.sort()
            for index in found.keys.indices { found.keys[index].key.result = part.keys[index].result }
            #expect(
                found
                    == ArchivedStream(
                        stream: id(1), head: head, checksum: 12, lastEvent: 5,
                        entry: ArchivedEntry(entry: part.entry),
                        keys: part.keys.map { ArchivedKey(slot: $0.ordinal % 1_000, key: $0) },
                        members: [id(801), id(802)], snapshots: []))
            let all = try await archive.read(id(1), after: 0, limit: 9)
            #expect(all.map(\.checksum) == [nil, 8, nil, nil, nil])
            #expect(all.map(\.at) == events(after: 0, count: 5).map(\.at))
            #expect(try await archive.creationKeys(after: nil, limit: 9) == [batch.creationKeys[0]])
            #expect(try await archive.sessions(after: nil, limit: 9) == batch.sessions)
            #expect(try await archive.memberships(of: id(802)) == [id(1)])
            #expect(try await archive.stream(code: code(1)) == id(1))
            // The store still works.
            let next = StreamAppend(
                stream: id(1), expected: head.version, events: events(after: 5, count: 1),
                keys: keys(after: 1_007, count: 1))
            #expect(try await archive.append([next]) == [.appended])
        },
        EventStoreCheck("a log that holds anything is not imported into") { (test) async throws in
            let archive = try test.archive
            try await archive.insert(archivedSession(1))
            #expect(try await archive.beginImport() == false)
            #expect(try await archive.hasUnfinishedImport() == false)
        },
    ]

    private static func archivedSession(_ n: Int) -> SessionRecord {
        SessionRecord(
            id: id(n), tokenHash: Array(repeating: UInt8(n), count: 32), name: "Ana", createdAt: noon,
            expiresAt: noon + 1, hasEnded: n == 5)
    }
}

extension StoreUnderTest {
    /// The store as tools use it.
    var archive: any LogArchive {
        get throws {
            guard let archive = store as? any LogArchive else { throw CheckFailure("the store is no archive") }
            return archive
        }
    }
}

import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let creationChecks = [
        EventStoreCheck("a stream is made with its events, keys, entry and memberships") { (test) async throws in
            let full = DirectoryEntry(
                code: "7ZQ4XK", name: "Ünïcödé '\"\\% 🎧", isPublic: false, createdAt: noon, closedAt: nil,
                owner: id(801), djName: "Ana", nowPlayingTitle: "Title", nowPlayingArtist: "Artist"
            ).withStored(latitude: -33.868_81, longitude: 151.209_29)
            var wanted = creation(1, creator: id(801), key: "k", entry: full)
            wanted.first.keys = keys(after: 0, count: 2)
            wanted.first.joined = [id(801), id(802)]
            #expect(try await test.store.create(wanted) == .created)
            let stream = try await test.second.whole(id(1))
            #expect(stream.head == StreamHead(epoch: "epoch-1", version: StreamVersion(seq: 2, keyed: 2)))
            #expect(stream.events == events(after: 0, count: 2).map(ParsedEvent.init))
            #expect(stream.keys == keys(after: 0, count: 2).map(ParsedKey.init))
            #expect(stream.snapshot == nil)
            #expect(try await test.second.directory(of: [id(1)]) == [DirectoryRecord(stream: id(1), entry: full)])
            #expect(try await test.second.memberships(of: id(801)) == [id(1)])
            #expect(try await test.second.memberships(of: id(802)) == [id(1)])
        },
        EventStoreCheck("the same key of the same session gives the stream that it made") { (test) async throws in
            #expect(try await test.store.create(creation(1, key: "k", fingerprint: 11)) == .created)
            let existing = CreationOutcome.existing(stream: id(1), fingerprint: 11)
            #expect(try await test.store.create(creation(2, key: "k", fingerprint: 12)) == existing)
            #expect(try await test.second.create(creation(3, key: "k", fingerprint: 11)) == existing)
            // The key takes precedence over the code and the limit.
            #expect(try await test.store.create(creation(1, key: "k", ownerLimit: 0)) == existing)
            #expect(try await test.store.heads(of: [id(2), id(3)]).isEmpty)
            #expect(try await test.store.stream(code: code(2)) == nil)
            #expect(try await test.store.memberships(of: id(800)) == [id(1)])
        },
        EventStoreCheck("a key survives the closing of the stream that it made") { (test) async throws in
            #expect(try await test.store.create(creation(1, key: "k")) == .created)
            try await test.store.close(1)
            #expect(try await test.store.create(creation(2, key: "k")) == .existing(stream: id(1), fingerprint: 7))
        },
        EventStoreCheck("keys of other sessions and other keys are apart") { (test) async throws in
            #expect(try await test.store.create(creation(1, creator: id(801), key: "k")) == .created)
            #expect(try await test.store.create(creation(2, creator: id(802), key: "k")) == .created)
            #expect(try await test.store.create(creation(3, creator: id(801), key: "K")) == .created)
            #expect(try await test.store.create(creation(4, creator: id(801), key: "")) == .created)
            let existing = CreationOutcome.existing(stream: id(2), fingerprint: 7)
            #expect(try await test.store.create(creation(5, creator: id(802), key: "k")) == existing)
        },
        EventStoreCheck("creations without a key are never the same") { (test) async throws in
            for n in 1...3 {
                #expect(try await test.store.create(creation(n)) == .created)
            }
        },
        EventStoreCheck("a key older than asked for is forgotten and given again") { (test) async throws in
            let first = creation(1, key: "k", fingerprint: 1, at: noon, keysSince: noon - 10)
            #expect(try await test.store.create(first) == .created)
            let atTheEdge = creation(2, key: "k", fingerprint: 2, at: noon + 10, keysSince: noon)
            #expect(try await test.store.create(atTheEdge) == .existing(stream: id(1), fingerprint: 1))
            let later = creation(3, key: "k", fingerprint: 3, at: noon + 11, keysSince: noon + 1)
            #expect(try await test.store.create(later) == .created)
            let again = creation(4, key: "k", fingerprint: 4, at: noon + 12, keysSince: noon + 2)
            #expect(try await test.store.create(again) == .existing(stream: id(3), fingerprint: 3))
        },
        EventStoreCheck("a refused creation writes nothing, its key neither") { (test) async throws in
            #expect(try await test.store.create(creation(1)) == .created)
            let taken = creation(2, creator: id(801), key: "k", entry: entry(1, owner: id(801)))
            #expect(try await test.store.create(taken) == .codeTaken)
            let refused = creation(3, creator: id(801), key: "k", ownerLimit: 0)
            #expect(try await test.store.create(refused) == .ownerLimitReached)
            #expect(try await test.store.heads(of: [id(2), id(3)]).isEmpty)
            #expect(try await test.store.directory(of: [id(2), id(3)]).isEmpty)
            #expect(try await test.store.read(id(2), after: 0, limit: 10).isEmpty)
            #expect(try await test.store.memberships(of: id(801)).isEmpty)
            #expect(try await test.store.stream(code: code(1)) == id(1))
            #expect(try await test.store.create(creation(4, creator: id(801), key: "k")) == .created)
        },
        EventStoreCheck("a code is taken while its stream is open and free when it is closed") { (test) async throws in
            #expect(try await test.store.create(creation(1)) == .created)
            let same = entry(1, owner: id(800))
            #expect(try await test.second.create(creation(2, entry: same)) == .codeTaken)
            try await test.store.close(1)
            #expect(try await test.second.create(creation(2, entry: same)) == .created)
            #expect(try await test.store.create(creation(3, entry: same)) == .codeTaken)
        },
        EventStoreCheck("a session owns no more open streams than its limit") { (test) async throws in
            for n in 1...3 {
                #expect(try await test.store.create(creation(n, ownerLimit: 3)) == .created)
            }
            #expect(try await test.store.create(creation(4, ownerLimit: 3)) == .ownerLimitReached)
            #expect(try await test.store.create(creation(4, creator: id(801), ownerLimit: 3)) == .created)
            // One is closed, one is given to another session, one is given by that session.
            try await test.store.close(1)
            #expect(try await test.store.create(creation(5, ownerLimit: 3)) == .created)
            let given = StreamAppend(stream: id(2), expected: made, events: [], directory: entry(2, owner: id(801)))
            #expect(try await test.store.append([given]) == [.appended])
            #expect(try await test.store.create(creation(6, ownerLimit: 3)) == .created)
            #expect(try await test.store.create(creation(7, ownerLimit: 3)) == .ownerLimitReached)
            #expect(try await test.store.create(creation(7, creator: id(801), ownerLimit: 2)) == .ownerLimitReached)
            #expect(try await test.store.create(creation(7, creator: id(801), ownerLimit: 3)) == .created)
        },
    ]

    static let concurrentCreationChecks = [
        EventStoreCheck("twenty creations at once under one key make one stream") { (test) async throws in
            let outcomes = try await outcomes(ofCreating: 0..<20, test) { creation($0, key: "k", fingerprint: 5) }
            let winners = outcomes.filter { $0.value == .created }.keys
            #expect(winners.count == 1)
            let winner = try #require(winners.first)
            #expect(outcomes.values.count { $0 == .existing(stream: id(winner), fingerprint: 5) } == 19)
            #expect(try await test.store.heads(of: (0..<20).map(id)).count == 1)
            #expect(try await test.store.memberships(of: id(800)) == [id(winner)])
        },
        EventStoreCheck("twenty creations at once with one code make one stream") { (test) async throws in
            let outcomes = try await outcomes(ofCreating: 0..<20, test) { n in
                creation(n, creator: id(800 + n), entry: entry(1, owner: id(800 + n)))
            }
            #expect(outcomes.values.count { $0 == .created } == 1)
            #expect(outcomes.values.count { $0 == .codeTaken } == 19)
            #expect(try await test.store.heads(of: (0..<20).map(id)).count == 1)
        },
        EventStoreCheck("twenty creations at once by one session stop exactly at its limit") { (test) async throws in
            #expect(try await test.store.create(creation(100)) == .created)
            let outcomes = try await outcomes(ofCreating: 0..<20, test) { creation($0, ownerLimit: 7) }
            #expect(outcomes.values.count { $0 == .created } == 6)
            #expect(outcomes.values.count { $0 == .ownerLimitReached } == 14)
            let made = outcomes.filter { $0.value == .created }.map { id($0.key) }
            #expect(Set(try await test.store.heads(of: (0..<20).map(id)).keys) == Set(made))
        },
        EventStoreCheck("creations at once by different sessions are all made") { (test) async throws in
            let outcomes = try await outcomes(ofCreating: 0..<40, test) { n in
                creation(n, creator: id(800 + n % 8), key: "key-\(n)", ownerLimit: 5)
            }
            #expect(outcomes.values.allSatisfy { $0 == .created })
            #expect(try await test.store.heads(of: (0..<40).map(id)).count == 40)
        },
    ]

    private static func outcomes(
        ofCreating numbers: Range<Int>, _ test: StoreUnderTest,
        _ creation: @escaping @Sendable (Int) -> StreamCreation
    ) async throws -> [Int: CreationOutcome] {
        try await withThrowingTaskGroup(of: (Int, CreationOutcome).self) { group in
            for n in numbers {
                group.addTask { (n, try await test.handle(n).create(creation(n))) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }
}

import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let directoryChecks = [
        EventStoreCheck("an append changes every field of an entry") { (test) async throws in
            try await test.store.makeStreams([1])
            let full = DirectoryEntry(
                code: "ZZZZZZ", name: "é", isPublic: false, createdAt: 1, closedAt: 2, owner: id(5), djName: "dj",
                nowPlayingTitle: "title", nowPlayingArtist: "artist"
            ).withStored(latitude: 90, longitude: -180)
            let bare = DirectoryEntry(code: "000000", name: "", isPublic: true, createdAt: noon)
            for (index, entry) in [full, bare, full].enumerated() {
                let part = StreamAppend(
                    stream: id(1), expected: StreamVersion(seq: 2 + index, keyed: 0),
                    events: events(after: 2 + index, count: 1), directory: entry)
                #expect(try await test.store.append([part]) == [.appended])
                #expect(try await test.second.directory(of: [id(1)]) == [DirectoryRecord(stream: id(1), entry: entry)])
            }
            #expect(try await test.store.stream(code: "000000") == nil)
            #expect(try await test.store.stream(code: code(1)) == nil)
        },
        EventStoreCheck("an append without an entry leaves it as it is") { (test) async throws in
            try await test.store.makeStreams([1])
            let part = StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 1))
            #expect(try await test.store.append([part]) == [.appended])
            #expect(try await test.store.listedEntry(of: id(1)) == entry(1, owner: id(800)))
        },
        EventStoreCheck("the entries of the streams that exist are given") { (test) async throws in
            try await test.store.makeStreams(1...3)
            let records = try await test.store.directory(of: [id(3), id(9), id(1)])
            #expect(records.count == 2)
            #expect(
                Set(records) == [
                    DirectoryRecord(stream: id(1), entry: entry(1, owner: id(800))),
                    DirectoryRecord(stream: id(3), entry: entry(3, owner: id(800))),
                ])
            #expect(try await test.store.directory(of: []).isEmpty)
        },
        EventStoreCheck("a code is found letter for letter") { (test) async throws in
            let lettered = DirectoryEntry(code: "ABC123", name: "x", isPublic: true, createdAt: noon)
            #expect(try await test.store.create(creation(1, entry: lettered)) == .created)
            #expect(try await test.second.stream(code: "ABC123") == id(1))
            for other in ["abc123", "ABC12", "ABC1234", "ABC12_", "ABC%", "", "ABC124"] {
                #expect(try await test.store.stream(code: other) == nil)
            }
        },
        EventStoreCheck("a code names the open stream, else the one closed last") { (test) async throws in
            let same = entry(1, owner: id(800))
            #expect(try await test.store.create(creation(3, entry: same)) == .created)
            try await test.store.close(3, as: same, at: noon + 50)
            #expect(try await test.store.stream(code: same.code) == id(3))
            #expect(try await test.store.create(creation(1, entry: same)) == .created)
            #expect(try await test.store.stream(code: same.code) == id(1))
            try await test.store.close(1, as: same, at: noon + 90)
            #expect(try await test.store.stream(code: same.code) == id(1))
            #expect(try await test.store.create(creation(2, entry: same)) == .created)
            #expect(try await test.store.stream(code: same.code) == id(2))
            try await test.store.close(2, as: same, at: noon + 70)
            #expect(try await test.store.stream(code: same.code) == id(1))
        },
        EventStoreCheck("open public streams are listed from the newest, page by page") { (test) async throws in
            // Numbers divisible by three are unlisted, numbers divisible by five are closed.
            for n in (1...30).reversed() {
                var entry = entry(n, owner: id(800))
                entry.isPublic = !n.isMultiple(of: 3)
                #expect(try await test.store.create(creation(n, entry: entry)) == .created)
                if n.isMultiple(of: 5) { try await test.store.close(n, as: entry) }
            }
            let listed = (1...30).reversed().filter { !$0.isMultiple(of: 3) && !$0.isMultiple(of: 5) }
            let records = listed.map { DirectoryRecord(stream: id($0), entry: entry($0, owner: id(800))) }
            #expect(try await test.store.openPublicStreams(matching: nil, before: nil, limit: 100) == records)
            var pages: [DirectoryRecord] = []
            var before: UUID?
            for _ in 0..<6 {
                let page = try await test.second.openPublicStreams(matching: nil, before: before, limit: 3)
                #expect(page == Array(records.dropFirst(pages.count).prefix(3)))
                pages += page
                before = page.last?.stream ?? before
            }
            #expect(pages == records)
            #expect(
                try await test.store.openPublicStreams(matching: nil, before: id(2), limit: 9).map(\.stream) == [id(1)])
            #expect(try await test.store.openPublicStreams(matching: nil, before: id(1), limit: 9).isEmpty)
            #expect(try await test.store.openPublicStreams(matching: nil, before: nil, limit: 0).isEmpty)
        },
        EventStoreCheck("a stream that is closed or unlisted by an append leaves the listing") { (test) async throws in
            try await test.store.makeStreams(1...3)
            try await test.store.close(2)
            var unlisted = entry(1, owner: id(800))
            unlisted.isPublic = false
            let part = StreamAppend(stream: id(1), expected: made, events: [], directory: unlisted)
            #expect(try await test.store.append([part]) == [.appended])
            let listed = try await test.store.openPublicStreams(matching: nil, before: nil, limit: 9)
            #expect(listed.map(\.stream) == [id(3)])
        },
        EventStoreCheck("a listing keeps the names that contain a text, ASCII letters in either case") {
            (test) async throws in
            let names = [
                "100% Disco", "100 Disco", "a_b", "axb", #"back\slash"#, "backslash", "ÄÖÜ bar", "äöü bar", "DISCO",
                "[a-z]", "it's \"quoted\"", "e\u{301}", "\u{e9}", "*?", "İstanbul", "Straße", "🎧 room",
            ]
            for (n, name) in names.enumerated() {
                let named = entry(n, owner: id(800), name: name)
                #expect(try await test.store.create(creation(n, ownerLimit: 100, entry: named)) == .created)
            }
            let texts: [(String, [String])] = [
                ("disco", ["DISCO", "100 Disco", "100% Disco"]),
                ("%", ["100% Disco"]),
                ("0%", ["100% Disco"]),
                ("_", ["a_b"]),
                ("A_B", ["a_b"]),
                (#"\"#, [#"back\slash"#]),
                (#"k\s"#, [#"back\slash"#]),
                (#"\%"#, []),
                ("ö", ["äöü bar"]),
                ("Ö", ["ÄÖÜ bar"]),
                ("BAR", ["äöü bar", "ÄÖÜ bar"]),
                ("[a-z]", ["[a-z]"]),
                ("'", ["it's \"quoted\""]),
                ("\"QUO", ["it's \"quoted\""]),
                ("\u{301}", ["e\u{301}"]),
                ("\u{e9}", ["\u{e9}"]),
                ("*", ["*?"]),
                ("i", ["it's \"quoted\"", "DISCO", "100 Disco", "100% Disco"]),
                ("İ", ["İstanbul"]),
                ("SS", []),
                ("🎧", ["🎧 room"]),
                ("nothing like it", []),
                ("", names.reversed()),
            ]
            for (text, expected) in texts {
                let found = try await test.store.openPublicStreams(matching: text, before: nil, limit: 100)
                #expect(
                    found.map { Array($0.entry.name.unicodeScalars) } == expected.map { Array($0.unicodeScalars) },
                    "matching \(text)")
            }
            let page = try await test.store.openPublicStreams(matching: "disco", before: id(8), limit: 1)
            #expect(page.map(\.stream) == [id(1)])
        },
        EventStoreCheck("memberships follow who joins and who leaves") { (test) async throws in
            try await test.store.makeStreams(1...3)
            let batch = [
                StreamAppend(
                    stream: id(1), expected: made, events: events(after: 2, count: 1), joined: [id(801), id(802)]),
                StreamAppend(
                    stream: id(2), expected: made, events: events(after: 2, count: 1), joined: [id(801)],
                    left: [id(800), id(803)]),
            ]
            #expect(try await test.store.append(batch) == [.appended, .appended])
            #expect(Set(try await test.second.memberships(of: id(800))) == [id(1), id(3)])
            #expect(Set(try await test.store.memberships(of: id(801))) == [id(1), id(2)])
            #expect(try await test.store.memberships(of: id(802)) == [id(1)])
            #expect(try await test.store.memberships(of: id(803)).isEmpty)
            let next = [
                StreamAppend(
                    stream: id(1), expected: StreamVersion(seq: 3, keyed: 0), events: events(after: 3, count: 1),
                    joined: [id(801)], left: [id(802), id(800)])
            ]
            #expect(try await test.store.append(next) == [.appended])
            #expect(Set(try await test.store.memberships(of: id(801))) == [id(1), id(2)])
            #expect(try await test.store.memberships(of: id(802)).isEmpty)
            #expect(try await test.store.memberships(of: id(800)) == [id(3)])
        },
    ]
}

extension EventStore {
    /// Closes the stream of this number, which is at version ``made``.
    func close(_ n: Int, as changed: DirectoryEntry? = nil, at closedAt: Int64 = noon + 100) async throws {
        var closed = changed ?? entry(n, owner: id(800))
        closed.closedAt = closedAt
        let part = StreamAppend(stream: id(n), expected: made, events: events(after: 2, count: 1), directory: closed)
        guard try await append([part]) == [.appended] else { throw CheckFailure("stream \(n) was not closed") }
    }
}

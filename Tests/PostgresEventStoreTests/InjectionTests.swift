import EventStorage
import FoundationEssentials
import Testing

@testable import PostgresEventStore

@Suite
struct InjectionTests {
    private static let texts = [
        "'; DROP TABLE events; --", "$1", "\\'); DELETE FROM rooms; --", "{a,b}", "NULL", "\"", "a\u{1F600}\u{202E}b",
        "%s%n",
        "\\x00", "", "$$;SELECT pg_sleep(9)$$",
    ]

    @Test(arguments: texts)
    func `text is kept as it is in every field`(text: String) async throws {
        let store = try await TestDatabase.migrated().store()
        let (stream, session) = (UUID(), UUID())
        let payload = Array(try JSONEncoder().encode([text: text]))
        let entry = DirectoryEntry(
            code: text, name: text, isPublic: true, createdAt: 1, owner: session, djName: text, nowPlayingTitle: text,
            nowPlayingArtist: text)
        let key = CommandKey(ordinal: 1, session: session, key: text, fingerprint: 1, seq: 1, result: payload)
        let first = StreamAppend(
            stream: stream, expected: .start, events: [StoredEvent(seq: 1, at: 1, type: text, payload: payload)],
            keys: [key], directory: entry, joined: [session])
        let made = StreamCreation(
            first: first, epoch: text, creator: session, key: text, fingerprint: 5, at: 1, keysSince: 0, ownerLimit: 10)
        #expect(try await store.create(made) == .created)
        #expect(try await store.create(made) == .existing(stream: stream, fingerprint: 5))

        var second = first
        second.expected = first.resulting
        second.events[0].seq = 2
        second.keys[0].ordinal = 2
        #expect(try await store.append([second]) == [.appended])

        let loaded = try #require(try await store.load(stream, reducerVersion: 1, after: nil))
        #expect(loaded.head.epoch == text)
        #expect(loaded.events.map(\.type) == [text, text])
        #expect(loaded.keys.map(\.key) == [text, text])
        let decoder = JSONDecoder()
        #expect(
            try loaded.events.map { try decoder.decode([String: String].self, from: Data($0.payload)) } == [
                [text: text], [text: text],
            ])
        #expect(
            try loaded.keys.map { try decoder.decode([String: String].self, from: Data($0.result ?? [])) }
                == [[text: text], [text: text]])
        #expect(try await store.directory(of: [stream]) == [DirectoryRecord(stream: stream, entry: entry)])
        #expect(try await store.stream(code: text) == stream)
        #expect(try await store.openPublicStreams(matching: text, before: nil, limit: 9).map(\.stream) == [stream])
        #expect(try await store.openPublicStreams(matching: text + "~", before: nil, limit: 9).isEmpty)

        let record = SessionRecord(
            id: session, tokenHash: Array(text.utf8), name: text, createdAt: 1, expiresAt: 2)
        try await store.insert(record)
        #expect(try await store.session(tokenHash: Array(text.utf8)) == record)
        #expect(try await store.renameSession(session, to: text + text))
        #expect(try await store.session(tokenHash: Array(text.utf8))?.name == text + text)
    }

    @Test(arguments: [
        #"{"a": "\u0000"}"#, #"{"a": "\ud800"}"#, "{", "", #"{"a": 1}{}"#, "\u{0}", "[1e400000]",
    ])
    func `a payload that the database cannot hold is rejected and nothing is written`(payload: String) async throws {
        let store = try await TestDatabase.migrated().store()
        let stream = try await store.makeStream()
        var part = append(to: stream, after: 1)
        part.events[0].payload = Array(payload.utf8)
        let fault = await fault { () throws(StorageFault) in try await store.append([part]) }
        guard case .rejected(let cause) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(cause.code.hasPrefix("22") || cause.code.hasPrefix("54"))
        #expect(try await store.seq(of: stream) == 1)
    }

    @Test func `a zero byte in a text is rejected`() async throws {
        let store = try await TestDatabase.migrated().store()
        let fault = await fault { () throws(StorageFault) in try await store.create(creation(name: "a\0b")) }
        #expect(fault?.cause?.code == "22021")
        // The transaction that the error left open has been rolled back.
        #expect(try await store.create(creation()) == .created)
    }

    @Test func `a coordinate out of range is rejected`() async throws {
        let store = try await TestDatabase.migrated().store()
        for (latitude, longitude) in [(90.5, 0.0), (.nan, 0), (0, -180.5), (0, .infinity)] {
            var creation = creation()
            creation.first.directory = creation.first.directory?.withStored(latitude: latitude, longitude: longitude)
            #expect(await fault { () throws(StorageFault) in try await store.create(creation) }?.cause?.code == "23514")
        }
    }
}

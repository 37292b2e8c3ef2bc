import EventStorage
import FoundationEssentials
import SchemaFiles
import Testing

@testable import PostgresEventStore

@Suite
struct DirectoryChangeTests {
    @Test func `a transaction that began before a mark and commits after it is returned after it`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let (late, early) = (try await store.makeStream(code: "A"), try await store.makeStream(code: "B"))
        let other = try database.session()
        try await other.script("BEGIN; \(Self.renaming(late, to: "late"))")
        try database.query(Self.renaming(early, to: "early"))
        let mark = try await store.directoryChanges(since: nil).mark
        #expect(try await store.directoryChanges(since: mark).records == [])
        try await other.script("COMMIT")
        let changes = try await store.directoryChanges(since: mark)
        #expect(changes.records?.map(\.stream) == [late])
        #expect(try await store.directoryChanges(since: changes.mark).records == [])
        await other.close()
    }

    @Test func `a transaction that never ends returns no change twice`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let other = try database.session()
        try await other.script("BEGIN; SELECT pg_current_xact_id()")
        let first = try await store.directoryChanges(since: nil).mark
        try database.query(Self.renaming(stream, to: "new"))
        let changes = try await store.directoryChanges(since: first)
        #expect(changes.records?.map(\.stream) == [stream])
        #expect(try await store.directoryChanges(since: changes.mark).records == [])
        await other.close()
    }

    @Test func `votes change no index`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let streams = [try await store.makeStream(code: "A"), try await store.makeStream(code: "B")]
        let before = try database.query("SELECT listed_in FROM directory WHERE room_id = '\(streams[0])'")
        // The other stream's entry is written in the same transactions.
        for seq in 1...20 {
            var listed = append(to: streams[1], after: seq)
            listed.directory = DirectoryEntry(code: "B", name: "\(seq)", isPublic: true, createdAt: 1)
            _ = try await store.append([append(to: streams[0], after: seq), listed])
        }
        #expect(try database.query("SELECT listed_in FROM directory WHERE room_id = '\(streams[0])'") == before)
        let updates = "SELECT pg_stat_get_tuples_updated(oid), pg_stat_get_tuples_hot_updated(oid) FROM pg_class"
        for (table, counts) in [("heads", "40|40"), ("directory", "20|0")] {
            while try database.query(updates + " WHERE relname = '\(table)'") != counts {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }

    @Test func `a database of an earlier release is brought along, with what is in it`() async throws {
        let database = try TestDatabase.empty()
        let store = try database.store()
        _ = try await store.migrate(to: Array(Schema.postgres.prefix(3))).get()
        let id = UUID()
        try database.query(
            """
            INSERT INTO rooms (room_id, epoch, seq, keyed, code, name, is_public, lat, lon, created_at)
            VALUES ('\(id)', 'epoch', 1, 0, 'ABC123', 'Room', true, 52.5, 13.4, 1)
            """)
        #expect(try await store.migrate().get().map(\.number) == [4, 5, 6, 7, 8, 9, 10, 11])
        let mark = try await store.directoryChanges(since: nil).mark
        #expect(try await store.directoryChanges(since: mark).records == [])
        #expect(try await store.openPublicStreams(matching: nil, before: nil, limit: 9).map(\.stream) == [id])
        var part = append(to: id, after: 1)
        part.directory = DirectoryEntry(code: "ABC123", name: "New", isPublic: true, createdAt: 1)
        #expect(try await store.append([part]) == [.appended])
        #expect(try await store.directoryChanges(since: mark).records?.map(\.entry.name) == ["New"])
    }

    @Test func `heads are taken as the last append of an earlier release left them`() async throws {
        let database = try TestDatabase.empty()
        let store = try database.store()
        _ = try await store.migrate(to: Array(Schema.postgres.prefix(7))).get()
        try database.query(
            """
            INSERT INTO rooms (room_id, epoch, seq, keyed, code, name, is_public, created_at)
            VALUES ('\(UUID())', 'epoch', 1, 0, 'ABC123', 'Room', true, 1)
            """)
        let other = try database.session()
        try await other.script("BEGIN; UPDATE rooms SET seq = 2")
        async let migrated = store.migrate()
        _ = try await database.waitForLockedSession()
        try await other.script("COMMIT")
        #expect(try await migrated.get().map(\.number) == [8, 9, 10, 11])
        #expect(try database.query("SELECT seq FROM heads") == "2")
        await other.close()
    }

    private static func renaming(_ stream: UUID, to name: String) -> String {
        "UPDATE directory SET name = '\(name)', listed_in = pg_current_xact_id() WHERE room_id = '\(stream)'"
    }
}

import EventStorage
import Foundation
import GRDB
import SchemaFiles
import Testing

@testable import SQLiteEventStore

@Suite struct SQLiteSchemaTests {
    private let next = Schema.sqlite.count + 1
    private var later: Migration {
        Migration(number: next, name: "later", file: Array("CREATE TABLE later (x INTEGER);".utf8))
    }

    @Test func `an empty file is brought to the schema once`() async throws {
        try await withScratchDirectory { directory in
            let store = try await SQLiteStore.open(directory: directory)
            #expect(try await store.schemaState() == .empty)
            #expect(try await store.migrate() == .success(Schema.sqlite))
            #expect(try await store.schemaState() == .current)
            #expect(try await store.migrate() == .success([]))
            try await store.close()
            let again = try await SQLiteStore.open(directory: directory)
            #expect(try await again.schemaState() == .current)
            try await again.close()
        }
    }

    @Test func `many that migrate one new file at once apply each migration once`() async throws {
        try await withScratchDirectory { directory in
            let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let store = try await SQLiteStore.open(directory: directory, lockTimeout: 300)
                        let applied = try await store.migrate().get()
                        try await store.close()
                        return applied
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(applied == Schema.sqlite)
        }
    }

    @Test func `a file of a newer program is refused and left as it is`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            #expect(try await store.migrate(to: Schema.sqlite + [later]) == .success([later]))
            let refusal = SchemaRefusal.unknownMigration(number: next, name: "later")
            #expect(try await store.schemaState() == .refused(refusal))
            #expect(try await store.migrate() == .failure(refusal))
            try await store.close()
        }
    }

    @Test func `an edited migration is refused`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await store.write {
                try $0.execute(sql: "UPDATE schema_migrations SET checksum = 'x' WHERE number = 1")
            }
            let refusal = SchemaRefusal.editedMigration(
                number: 1, name: "event_log", applied: "x", known: Schema.sqlite[0].checksum)
            #expect(try await store.schemaState() == .refused(refusal))
            #expect(try await store.migrate() == .failure(refusal))
            try await store.close()
        }
    }

    @Test func `a migration that fails leaves nothing behind`() async throws {
        try await withScratchDirectory { directory in
            let store = try await SQLiteStore.open(directory: directory)
            let broken = Migration(
                number: next, name: "broken",
                file: Array("CREATE TABLE half (x INTEGER); SELECT * FROM nowhere;".utf8))
            let fault = await #expect(throws: StorageFault.self) {
                try await store.migrate(to: Schema.sqlite + [broken])
            }
            guard case .rejected? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            #expect(try await store.schemaState() == .empty)
            let tables = try await store.read { db in
                try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            #expect(tables == [])
            try await store.close()
        }
    }

    @Test func `a file of an earlier release is brought along, with what is in it`() async throws {
        try await withScratchDirectory { directory in
            let store = try await SQLiteStore.open(directory: directory)
            _ = try await store.migrate(to: Array(Schema.sqlite.prefix(3))).get()
            let id = UUID()
            try await store.write { db in
                try db.run(
                    """
                    INSERT INTO rooms (room_id, epoch, seq, keyed, code, name, is_public, created_at)
                    VALUES (?, 'epoch', 0, 0, 'ABC123', 'Room', 1, 1)
                    """, [id])
            }
            #expect(try await store.migrate().get().map(\.number) == [4, 5, 6, 7, 8, 9, 10, 11])
            let mark = try await store.directoryChanges(since: nil).mark
            #expect(try await store.directoryChanges(since: mark).records == [])
            let entry = DirectoryEntry(code: "ABC123", name: "New", isPublic: true, createdAt: 1)
            let part = StreamAppend(stream: id, expected: .start, events: [], directory: entry)
            #expect(try await store.append([part]) == [.appended])
            let record = DirectoryRecord(stream: id, entry: entry)
            #expect(try await store.directoryChanges(since: mark).records == [record])
            try await store.close()
        }
    }

    // A scan of a whole table in one of these queries means that an index is missing.
    @Test(
        arguments: [
            "SELECT room_id FROM directory WHERE code = ? ORDER BY closed_at IS NULL DESC, closed_at DESC, room_id DESC",
            "SELECT 1 FROM directory WHERE code = ? AND closed_at IS NULL",
            "SELECT count(*) FROM directory WHERE owner = ? AND closed_at IS NULL",
            "SELECT 1 FROM directory WHERE closed_at IS NULL AND is_public = 1 AND room_id < ? ORDER BY room_id DESC",
            "SELECT name FROM directory WHERE listed_in > ?",
            "SELECT name FROM directory WHERE closed_at IS NULL AND is_public = 1 AND latitude BETWEEN ? AND 9",
            "SELECT seq FROM heads WHERE room_id = ?",
            "SELECT payload FROM events WHERE room_id = ? AND seq > 5 ORDER BY seq",
            "SELECT state FROM snapshots WHERE room_id = ? AND seq <= 5 ORDER BY seq DESC LIMIT 1",
            "SELECT room_id FROM memberships WHERE session = ?",
            "SELECT session FROM memberships WHERE room_id = ?",
            "SELECT key FROM creations WHERE room_id = ?",
            "SELECT room_id FROM directory WHERE closed_at < ? ORDER BY closed_at, room_id LIMIT 5",
            "SELECT room_id FROM directory WHERE forget_at IS NOT NULL AND forgotten_at IS NULL AND ?1 IS NOT NULL "
                + "ORDER BY forget_at, room_id LIMIT 5",
            "SELECT 1 FROM sessions WHERE token_hash = ?",
            "SELECT name FROM sessions WHERE has_ended = 1 UNION ALL "
                + "SELECT name FROM sessions WHERE has_ended = 0 AND expires_at <= ? LIMIT 5",
        ])
    func `frequent queries use an index`(sql: String) async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let plan = try await store.read { db in
                try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: [Data()]).map {
                    $0["detail"] as String
                }
            }
            #expect(!plan.isEmpty)
            #expect(plan.allSatisfy { !$0.hasPrefix("SCAN") || $0.contains("USING INDEX") }, "\(plan)")
            try await store.close()
        }
    }
}

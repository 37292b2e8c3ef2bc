import EventStorage
import SchemaFiles
import Testing

@testable import PostgresEventStore

@Suite
struct SchemaTests {
    private let database: TestDatabase
    private let store: PostgresStore

    init() throws {
        database = try .empty()
        store = try database.store()
    }

    @Test func `an empty database is brought to the schema`() async throws {
        #expect(try await store.schemaState() == .empty)
        #expect(try await store.migrate() == .success(Schema.postgres))
        #expect(try await store.schemaState() == .current)
        #expect(try await store.create(creation()) == .created)
    }

    @Test func `migrating again changes nothing`() async throws {
        _ = try await store.migrate()
        let before = try database.query("SELECT * FROM schema_migrations")
        #expect(try await store.migrate() == .success([]))
        #expect(try database.query("SELECT * FROM schema_migrations") == before)
    }

    @Test func `of many concurrent migrators one applies each migration`() async throws {
        let stores = try (0..<6).map { _ in try database.store() }
        let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
            for store in stores {
                group.addTask { try await store.migrate().get() }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied == Schema.postgres)
        #expect(try await store.schemaState() == .current)
    }

    @Test func `a schema that is made between two looks at it is not a stranger's`() async throws {
        let other = try database.session()
        // Only the question for the tables reads it.
        try await other.script("BEGIN; LOCK TABLE pg_depend")
        async let state = store.schemaState()
        try await database.waitForLockedSessions(1)
        for migration in Schema.postgres {
            let record = "(\(migration.number), '\(migration.name)', '\(migration.checksum)')"
            try await other.script(migration.sql)
            try await other.script("INSERT INTO schema_migrations (number, name, checksum) VALUES \(record)")
        }
        try await other.script("COMMIT")
        #expect(try await state == .current)
        await other.close()
    }

    @Test func `an edited migration is refused and nothing is changed`() async throws {
        _ = try await store.migrate()
        try database.query("UPDATE schema_migrations SET checksum = 'edited' WHERE number = 1")
        let known = Schema.postgres[0]
        let refusal = SchemaRefusal.editedMigration(
            number: 1, name: known.name, applied: "edited", known: known.checksum)
        #expect(try await store.schemaState() == .refused(refusal))
        #expect(try await store.migrate() == .failure(refusal))
        #expect(try database.query("SELECT checksum FROM schema_migrations WHERE number = 1") == "edited")
    }

    @Test func `an unknown migration is refused and nothing is changed`() async throws {
        _ = try await store.migrate()
        try database.query("INSERT INTO schema_migrations (number, name, checksum) VALUES (99, 'later', 'x')")
        let refusal = SchemaRefusal.unknownMigration(number: 99, name: "later")
        #expect(try await store.schemaState() == .refused(refusal))
        #expect(try await store.migrate() == .failure(refusal))
    }

    @Test func `a migration that fails leaves nothing of itself, and what came before it`() async throws {
        let good = Migration(
            number: 1, name: "good",
            file: Array("CREATE TABLE schema_migrations (number bigint, name text, checksum text);".utf8))
        let bad = Migration(
            number: 2, name: "bad", file: Array("CREATE TABLE half (x int); CREATE TABLE half (x int);".utf8))
        let fault = await fault { () throws(StorageFault) in try await store.migrate(to: [good, bad]) }
        #expect(fault?.cause?.code == "42P07")
        #expect(try database.query("SELECT name, to_regclass('half') IS NULL FROM schema_migrations") == "good|t")

        let mended = Migration(number: 2, name: "bad", file: Array("CREATE TABLE half (x int);".utf8))
        #expect(try await store.migrate(to: [good, mended]) == .success([mended]))
    }

    @Test func `a store on a database without the schema says what is missing`() async throws {
        #expect(await fault { () throws(StorageFault) in try await store.checkHealth() }?.cause?.code == "42P01")
        #expect(await fault { () throws(StorageFault) in try await store.create(creation()) }?.cause?.code == "42P01")
        _ = try await store.migrate()
        try await store.checkHealth()
        #expect(try await store.create(creation()) == .created)
    }
}

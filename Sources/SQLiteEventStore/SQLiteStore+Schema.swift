package import EventStorage
import GRDB
package import SchemaFiles

extension SQLiteStore {
    /// Compares the file's schema with ``Schema/sqlite``.
    package func schemaState() async throws(StorageFault) -> SchemaState {
        try await read { db in
            SchemaState(known: Schema.sqlite, applied: try db.appliedMigrations(), tables: try db.tables())
        }
    }

    /// Migrates the file's schema to ``Schema/sqlite``, in one transaction under the file's write lock.
    ///
    /// - Returns: The migrations applied, none if the schema is already right; or the reason why nothing was changed.
    package func migrate() async throws(StorageFault) -> Result<[Migration], SchemaRefusal> {
        try await migrate(to: Schema.sqlite)
    }

    /// Migrates to any list of migrations; see ``migrate()``.
    func migrate(to known: [Migration]) async throws(StorageFault) -> Result<[Migration], SchemaRefusal> {
        try await write { db in
            let (applied, tables) = (try db.appliedMigrations(), try db.tables())
            let plan: MigrationPlan
            do throws(SchemaRefusal) {
                plan = try MigrationPlan(known: known, applied: applied, tables: tables)
            } catch {
                return .failure(error)
            }
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS schema_migrations (
                        number     INTEGER NOT NULL PRIMARY KEY,
                        name       TEXT    NOT NULL,
                        checksum   TEXT    NOT NULL,
                        applied_at INTEGER NOT NULL  -- milliseconds since the Unix epoch
                    ) STRICT
                    """)
            for migration in plan.pending {
                try db.execute(sql: migration.sql)
                try db.run(
                    """
                    INSERT INTO schema_migrations (number, name, checksum, applied_at)
                    VALUES (?, ?, ?, unixepoch() * 1000)
                    """, [migration.number, migration.name, migration.checksum])
            }
            return .success(plan.pending)
        }
    }
}

extension Database {
    /// The refusal of a file that is another program's.
    func ownerRefusal() throws -> SchemaRefusal? {
        // Another process may be making the schema: tables that are found here are recorded.
        let tables = try tables()
        return try tables.isEmpty || !appliedMigrations().isEmpty ? nil : .occupied(tables: tables.sorted())
    }

    /// The names of the tables and views.
    fileprivate func tables() throws -> Set<String> {
        let names = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'"
        return Set(try all(names, []) { try $0.decode(atIndex: 0) })
    }

    /// Returns the rows of this program's table `schema_migrations`; none if there is no such table.
    fileprivate func appliedMigrations() throws -> [AppliedMigration] {
        // Other programs have a table of this name too.
        let columns = "SELECT name FROM pragma_table_info('schema_migrations')"
        guard try Set(all(columns, []) { try $0.decode(atIndex: 0) }).isSuperset(of: ["number", "name", "checksum"])
        else { return [] }
        return try all("SELECT number, name, checksum FROM schema_migrations ORDER BY number", []) { row in
            AppliedMigration(
                number: try row.decode(atIndex: 0), name: try row.decode(atIndex: 1),
                checksum: try row.decode(atIndex: 2))
        }
    }
}

package import EventStorage
package import SchemaFiles

extension PostgresStore {
    /// Compares the database's schema with ``Schema/postgres``.
    package func schemaState() async throws(StorageFault) -> SchemaState {
        if let refusal = try await Self.encodingRefusal(over: pool) { return .refused(refusal) }
        let (tables, applied) = try await Self.contents(over: pool)
        return SchemaState(known: Schema.postgres, applied: applied, tables: tables)
    }

    /// Migrates the database's schema to ``Schema/postgres``, each migration in a transaction of its own.
    ///
    /// It uses one connection of its own, on which it holds an advisory lock: processes that migrate one database at
    /// the same time do so one after the other, and the later ones find nothing left to do. A statement, and the wait
    /// for the lock, may take half an hour. Migrations applied before a fault stay applied.
    ///
    /// - Returns: The migrations applied, none if the schema is already right; or the reason why nothing was changed.
    package func migrate() async throws(StorageFault) -> Result<[Migration], SchemaRefusal> {
        try await migrate(to: Schema.postgres)
    }

    /// Migrates to any list of migrations; see ``migrate()``.
    func migrate(to known: [Migration]) async throws(StorageFault) -> Result<[Migration], SchemaRefusal> {
        let session = try PostgresPool(configuration.forMigrating)
        let outcome: Result<Result<[Migration], SchemaRefusal>, StorageFault>
        do throws(StorageFault) {
            outcome = .success(try await Self.migrate(to: known, over: session))
        } catch {
            outcome = .failure(error)
        }
        // The end of the session releases the lock.
        await session.close()
        return try outcome.get()
    }

    private static func migrate(
        to known: [Migration], over session: PostgresPool
    ) async throws(StorageFault) -> Result<[Migration], SchemaRefusal> {
        if let refusal = try await encodingRefusal(over: session) { return .failure(refusal) }
        _ = try await session.run(.calls([Call(.lockSchema)]), isWrite: false)
        let plan: MigrationPlan
        let (tables, applied) = try await contents(over: session)
        do throws(SchemaRefusal) {
            plan = try MigrationPlan(known: known, applied: applied, tables: tables)
        } catch {
            return .failure(error)
        }
        for migration in plan.pending {
            _ = try await session.run(.calls([Call(.begin)]), isWrite: false)
            _ = try await session.run(.script(migration.sql), isWrite: true)
            let record = Call(.recordMigration, migration.number, migration.name, migration.checksum)
            _ = try await session.run(.calls([record, Call(.commit)]), isWrite: true)
        }
        return .success(plan.pending)
    }

    /// The reason why a database is refused whose encoding lacks most characters.
    private static func encodingRefusal(over pool: PostgresPool) async throws(StorageFault) -> SchemaRefusal? {
        guard let answer = try await pool.run(.calls([Call(.encoding)]), isWrite: false).last,
            let row = answer.rows.first
        else { return nil }
        let encoding = try answer.text(row, 0)
        return encoding == "UTF8" ? nil : .encoding(encoding)
    }

    /// The names of the tables, and the migrations of which they are.
    private static func contents(
        over pool: PostgresPool
    ) async throws(StorageFault) -> (tables: Set<String>, applied: [AppliedMigration]) {
        var before = try await appliedMigrations(over: pool)
        while true {
            var tables: Set<String> = []
            if let answer = try await pool.run(.calls([Call(.tables)]), isWrite: false).last {
                for row in answer.rows { tables.insert(try answer.text(row, 0)) }
            }
            // Another server may be making the schema.
            let applied = try await appliedMigrations(over: pool)
            if applied == before { return (tables, applied) }
            before = applied
        }
    }

    private static func appliedMigrations(over pool: PostgresPool) async throws(StorageFault) -> [AppliedMigration] {
        let table = try await pool.run(.calls([Call(.hasMigrations)]), isWrite: false)
        guard let answer = table.last, let row = answer.rows.first, try answer.bool(row, 0) else { return [] }
        guard let records = try await pool.run(.calls([Call(.appliedMigrations)]), isWrite: false).last else {
            return []
        }
        return try records.rows.map { (row) throws(StorageFault) in
            try AppliedMigration(
                number: records.int(row, 0), name: records.text(row, 1), checksum: records.text(row, 2))
        }
    }
}

extension Statement {
    /// Takes the lock that lets one session at a time migrate a database; the session holds it until it ends.
    ///
    /// The key is "backline" in ASCII.
    fileprivate static let lockSchema = Statement("lock_schema", "SELECT pg_advisory_lock(x'6261636b6c696e65'::bigint)")

    fileprivate static let encoding = Statement("encoding", "SELECT current_setting('server_encoding')")

    /// The tables and views beside this program's migrations, or in the schema in which they would be made, without
    /// those of extensions.
    fileprivate static let tables = Statement(
        "tables",
        """
        SELECT relname FROM pg_class
        WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace = coalesce(
            (SELECT min(relnamespace) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
             WHERE pg_class.oid = to_regclass('schema_migrations') AND attname IN ('number', 'name', 'checksum')
             HAVING count(*) = 3),
            to_regnamespace(quote_ident(current_schema())))
        AND NOT EXISTS (
            SELECT FROM pg_depend
            WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
        """)

    /// Other programs have a table of this name too.
    fileprivate static let hasMigrations = Statement(
        "has_migrations",
        """
        SELECT EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = to_regclass('schema_migrations')
            AND attname IN ('number', 'name', 'checksum') HAVING count(*) = 3)
        """)

    fileprivate static let appliedMigrations = Statement(
        "applied_migrations", "SELECT number, name, checksum FROM schema_migrations ORDER BY number")

    fileprivate static let recordMigration = Statement(
        "record_migration", "INSERT INTO schema_migrations (number, name, checksum) VALUES ($1, $2, $3)")
}

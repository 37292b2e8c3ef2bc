/// The reason why a database's schema cannot be migrated to the schema of this program.
package enum SchemaRefusal: Error, Hashable, Sendable {
    /// The database has a migration that this program does not know: a newer program applied it.
    case unknownMigration(number: Int, name: String)
    /// The database has this migration with another checksum: its file was edited after it was applied.
    case editedMigration(number: Int, name: String, applied: String, known: String)
    /// The database lacks this migration and has a later one: its record was removed, or the database was assembled by
    /// hand.
    case gap(number: Int, name: String)
    /// The database has tables, and no record of a migration: they are another program's, or a part of a backup.
    case occupied(tables: [String])
    /// The database lacks tables that its migrations have made.
    case incomplete(missing: [String])
    /// The database cannot hold every text.
    case encoding(String)
}

extension SchemaRefusal: CustomStringConvertible {
    /// The problem and its remedy for an operator, in one line.
    package var description: String {
        switch self {
        case .unknownMigration(let number, let name):
            """
            the database has migration \(number) (\(name)), which this program does not know; \
            run the program that made it, or a newer one
            """
        case .editedMigration(let number, let name, let applied, let known):
            """
            migration \(number) (\(name)) was applied with checksum \(applied), this program has it with \(known); \
            run the program that applied it, or restore the file and put the change into a migration of its own
            """
        case .gap(let number, let name):
            """
            the database lacks migration \(number) (\(name)) and has a later one; \
            restore its table schema_migrations from a backup
            """
        case .occupied(let tables):
            """
            there are tables that are not recorded as this program's (\(Self.some(of: tables))); give it a schema, a \
            database or a directory of its own, or, if they are of a backup, restore all of it into an empty database
            """
        case .incomplete(let missing):
            """
            tables are missing (\(Self.some(of: missing))) that its migrations have made; \
            restore a whole backup into an empty database
            """
        case .encoding(let encoding):
            "the database's encoding is \(encoding), and not UTF8; make a database with ENCODING 'UTF8' TEMPLATE template0"
        }
    }

    /// The first of these names, and how many more there are.
    private static func some(of names: [String]) -> String {
        let first = names.prefix(3).joined(separator: ", ")
        return names.count > 3 ? "\(first) and \(names.count - 3) more" : first
    }
}

/// The migrations that bring a database to the schema of this program.
package struct MigrationPlan: Hashable, Sendable {
    /// The migrations to apply, in order.
    package let pending: [Migration]

    /// Compares the applied migrations, in any order, with the known ones.
    ///
    /// `tables` are the names of the tables of the database, or of the schema in it that is used.
    ///
    /// - Precondition: `known` is numbered from 1 without gaps.
    package init(
        known: [Migration], applied: [AppliedMigration], tables: Set<String>
    ) throws(SchemaRefusal) {
        precondition(known.map(\.number) == Array(1..<known.count + 1), "migrations are numbered from 1 without holes")
        let applied = applied.sorted { $0.number < $1.number }
        for record in applied {
            guard let migration = known.first(where: { $0.number == record.number }) else {
                throw .unknownMigration(number: record.number, name: record.name)
            }
            guard migration.checksum == record.checksum else {
                throw .editedMigration(
                    number: migration.number, name: migration.name, applied: record.checksum, known: migration.checksum)
            }
        }
        let numbers = Set(applied.map(\.number))
        let last = numbers.max() ?? 0
        if let missing = known.first(where: { $0.number < last && !numbers.contains($0.number) }) {
            throw .gap(number: missing.number, name: missing.name)
        }
        guard !applied.isEmpty || tables.isEmpty else { throw .occupied(tables: tables.sorted()) }
        let missing = known[..<last].tables.subtracting(tables)
        guard missing.isEmpty else { throw .incomplete(missing: missing.sorted()) }
        pending = Array(known[last...])
    }
}

/// The state of a database's schema compared with the schema of this program.
package enum SchemaState: Hashable, Sendable {
    /// It has no schema yet.
    case empty
    /// It lacks these migrations.
    case behind([Migration])
    /// It is the schema of this program.
    case current
    /// This program cannot use it.
    case refused(SchemaRefusal)

    /// Compares the applied migrations with the known ones; see ``MigrationPlan/init(known:applied:tables:)``.
    package init(known: [Migration], applied: [AppliedMigration], tables: Set<String>) {
        do {
            let plan = try MigrationPlan(known: known, applied: applied, tables: tables)
            if plan.pending.isEmpty {
                self = .current
            } else {
                self = applied.isEmpty ? .empty : .behind(plan.pending)
            }
        } catch {
            self = .refused(error)
        }
    }
}

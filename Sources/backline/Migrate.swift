import ArgumentParser
import SchemaFiles

/// `backline migrate`: brings a database's schema up to date.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the event log's schema up to date.",
        discussion: """
            Applies the migrations that the database lacks, in order, each in a transaction, under a lock. On PostgreSQL \
            any number of processes may do so at the same time. No server may use an embedded store meanwhile. Refuses \
            a schema that is newer than this program, or whose applied migrations were edited (exit code 78).
            """)

    @OptionGroup var store: StoreSettings

    func run() async throws {
        let place = try store.place()
        let lock = try place.lock()
        defer { _ = lock }
        let applied = try await place.open().closing { try await $0.migrate() }
        for migration in applied { Console.print("applied \(migration.number) \(migration.name)") }
        Console.print(applied.isEmpty ? "the schema is up to date" : "the schema is up to date now")
    }
}

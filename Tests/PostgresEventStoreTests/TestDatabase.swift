import EventStorage
import PostgresEventStore
import PostgresTestSupport

/// A database of a test's own.
struct TestDatabase {
    /// The server it is on.
    let cluster: PostgresCluster
    /// Its connection string.
    let url: String

    /// A database that has the schema and holds nothing, on the shared server.
    static func migrated() async throws -> TestDatabase {
        let template = try await template.value
        return try TestDatabase(cluster: .shared, url: PostgresCluster.shared.makeDatabase(from: template))
    }

    /// A database without the schema, on the shared server.
    static func empty() throws -> TestDatabase {
        try TestDatabase(cluster: .shared, url: PostgresCluster.shared.makeDatabase())
    }

    /// A database that has the schema, on a server of its own.
    static func migratedAlone(settings: [String] = []) async throws -> TestDatabase {
        let cluster = try PostgresCluster(settings: settings)
        let database = TestDatabase(cluster: cluster, url: try cluster.makeDatabase())
        try await database.migrate()
        return database
    }

    private static let template = Task {
        let name = "migrated"
        let database = TestDatabase(cluster: try .shared, url: try PostgresCluster.shared.makeDatabase(named: name))
        try await database.migrate()
        return name
    }

    /// A store on this database.
    func store(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresEventStore {
        var configuration = try PostgresConfiguration(url: url, environment: [:])
        change(&configuration)
        return try PostgresEventStore(configuration)
    }

    /// Runs SQL beside the store.
    @discardableResult
    func query(_ sql: String) throws -> String {
        try cluster.query(sql, in: url)
    }

    private func migrate() async throws {
        let store = try store()
        _ = try await store.migrate().get()
        await store.close()
    }
}

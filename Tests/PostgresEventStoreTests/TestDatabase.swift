import EventStorage
import PostgresTestSupport

@testable import PostgresEventStore

/// A database for one test.
struct TestDatabase {
    /// The server it is on.
    let cluster: PostgresCluster
    /// Its connection string.
    let url: String

    /// An empty database with the schema, on the shared server.
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

    /// A store on this database, with long timeouts unless changed: a test machine may be slow.
    func store(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresStore {
        try PostgresStore(configuration(change))
    }

    /// One connection to this database apart from the store, for holding locks and looking into sessions.
    func session(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresPool {
        var configuration = try configuration(change)
        configuration.connections = 1
        configuration.reconnects = false
        return try PostgresPool(configuration)
    }

    /// The configuration for this database, with long timeouts unless changed.
    func configuration(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(url: url, environment: [:])
        configuration.connectTimeout = .seconds(300)
        configuration.connectionWait = .seconds(300)
        configuration.statementTimeout = .seconds(240)
        configuration.answerTimeout = .seconds(300)
        change(&configuration)
        return configuration
    }

    /// Its name.
    var name: String {
        get throws { try query("SELECT current_database()") }
    }

    /// Runs SQL beside the store.
    @discardableResult
    func query(_ sql: String) throws -> String {
        try cluster.query(sql, in: url)
    }

    /// Waits until a session of this database waits for a lock, and returns its process.
    func waitForLockedSession() async throws -> String {
        let sql = """
            SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1
            """
        while true {
            let process = try query(sql)
            if !process.isEmpty { return process }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Waits until this many sessions of this database wait for locks.
    func waitForLockedSessions(_ count: Int) async throws {
        let sql = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        while Int(try query(sql)) ?? 0 < count { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Waits until all sessions of this database have ended: then what they counted is complete.
    func waitUntilSessionsHaveEnded() async throws {
        while try query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") != "1" {
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    private func migrate() async throws {
        let store = try store()
        _ = try await store.migrate().get()
        await store.close()
    }
}

import EventStorage
import FoundationEssentials
import PostgresEventStore
import RoomDomain
import RoomWire
import SQLiteEventStore
import SchemaFiles

// Helpers for subcommands that use a log beside the server, or in its place.
extension StoreSettings {
    /// Opens the log, runs `body` with it, and closes it.
    ///
    /// Servers may run meanwhile; to write, on the same database, but not on the same embedded store. The log must exist,
    /// with the schema that this program knows.
    func withLog<Value>(
        _ use: SQLiteStore.Use, _ body: (any LogArchive) async throws -> Value
    ) async throws -> Value {
        try await withStore(use) { try await body($0.archive) }
    }

    /// The same, with the store's statistics, which servers may count meanwhile; at most `jobs` calls at a time.
    func withStatistics<Value>(
        jobs: Int = 1, _ body: (any LogArchive & StatisticsArchive) async throws -> Value
    ) async throws -> Value {
        try await withStore(.reading, connections: jobs + 1) { opened in
            switch opened {
            case .memory: throw Failure.usage("--store: memory has no statistics beside its own process")
            case .sqlite(let store): try await body(store)
            case .postgres(let store): try await body(store)
            }
        }
    }

    private func withStore<Value>(
        _ use: SQLiteStore.Use, connections: Int = 2, _ body: (OpenStore) async throws -> Value
    ) async throws -> Value {
        let place = try place().forTools(connections: connections)
        let lock = use == .reading ? nil : try place.lock()
        defer { _ = lock }
        return try await place.open(to: use).closing(emptyingLog: use != .reading) { opened in
            try await Self.checkSchema(of: opened)
            return try await body(opened)
        }
    }

    private static func checkSchema(of opened: OpenStore) async throws {
        switch try await opened.schemaState() {
        case .current: return
        case .empty:
            throw Failure.configuration("the event log has no schema: run 'backline migrate' with the same settings")
        case .behind(let pending):
            throw Failure.schemaLacks(pending.count)
        case .refused(let refusal): throw Failure.configuration("the schema is refused: \(refusal.description)")
        }
    }
}

extension OpenStore {
    /// Runs `body` with the store and closes it; faults of the store end the program (``Failure/init(_:_:)``).
    func closing<Value>(emptyingLog: Bool = true, _ body: (OpenStore) async throws -> Value) async throws -> Value {
        do {
            let value = try await body(self)
            if let fault = await close(emptyingLog: emptyingLog) {
                Console.error("\(Self.keepsItsLog): \(fault.explanation)")
            }
            return value
        } catch {
            await close(emptyingLog: emptyingLog)
            guard let fault = error as? StorageFault else { throw error }
            throw Failure(fault)
        }
    }
}

extension StorePlace {
    /// The place as a tool opens it: nothing is created, and a database gets more time.
    fileprivate func forTools(connections: Int) throws -> StorePlace {
        switch self {
        case .memory:
            throw Failure.usage("--store: memory has no log beside its own process; give sqlite or postgres")
        case .sqlite(let directory):
            guard FileManager.default.fileExists(atPath: directory + "/" + SQLiteStore.fileName) else {
                throw Failure.usage("--data: there is no event log in \(directory); 'backline migrate' makes one")
            }
            return self
        case .postgres(var configuration):
            configuration.connections = connections
            configuration.statisticsConnections = connections
            configuration.connectionWait = .seconds(10)
            configuration.statementTimeout = .seconds(60)
            configuration.answerTimeout = .seconds(90)
            return .postgres(configuration)
        }
    }
}

extension Failure {
    /// SQLSTATEs of a name that something else has, and of a column that is not there.
    ///
    /// A table that is not there may be one that a standby does not have yet.
    private static let schemaFaults: Set = ["42P07", "42703", "42710"]

    /// A fault of the event log, or of a setting (64) or the schema (78); `said` is what cannot be done (69).
    init(_ fault: StorageFault, _ said: String = "the event log is out of reach") {
        if fault.hasInvalidSetting {
            self = .usage("--database-url, or a variable PG…: \(fault.explanation)")
        } else if Self.schemaFaults.contains(fault.cause?.code ?? "") {
            self = .configuration("the schema is not as this program's migrations make it: \(fault.explanation)")
        } else {
            self = .unavailable("\(said): \(fault.explanation)")
        }
    }
}

extension LogArchive {
    /// Returns the room that an operator names by its id or its code.
    func room(_ text: String) async throws -> UUID {
        let found: UUID? =
            switch RoomReference(text) {
            case .id(let id): try await heads(of: [id.uuid]).keys.first
            case .code(let code): try await stream(code: code.description)
            case nil: throw Failure.usage("'\(text)' is not a room: expected its id or its code")
            }
        guard let found else { throw Failure.usage("there is no room \(text)") }
        return found
    }
}

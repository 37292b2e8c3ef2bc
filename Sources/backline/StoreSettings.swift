import ArgumentParser
import EventStorage
import FoundationEssentials
import PostgresEventStore
import SQLiteEventStore
import SchemaFiles

/// The kinds of event log.
enum StoreKind: String, ExpressibleByArgument, CaseIterable {
    /// A database server, shared by any number of processes.
    case postgres
    /// One file, for one server.
    case sqlite
    /// Memory only: for measurements.
    case memory
}

/// The settings for finding the event log, shared by all subcommands.
struct StoreSettings: ParsableArguments {
    @Option(
        help:
            "Where the event log is kept: postgres, sqlite or memory. [BACKLINE_STORE; default: postgres with a database URL, else sqlite]"
    )
    var store: StoreKind?

    @Option(
        help: ArgumentHelp(
            "The directory of the embedded store and of the development certificate. [BACKLINE_DATA; default: ./.backline]",
            valueName: "dir"))
    var data: String?

    @Option(
        help: ArgumentHelp(
            "URL of the PostgreSQL database: postgres://user:password@host:port/database. The usual PG… variables fill in missing parts. [BACKLINE_DATABASE_URL or DATABASE_URL]",
            valueName: "url"))
    var databaseURL: String?

    /// The directory for files.
    var directory: String { data ?? Environment["BACKLINE_DATA"] ?? "./.backline" }

    /// The database's address; nil if none is configured.
    private var address: String? {
        databaseURL ?? Environment["BACKLINE_DATABASE_URL"] ?? Environment["DATABASE_URL"]
    }

    /// Returns the kind of store that is configured.
    func kind() throws -> StoreKind {
        try store ?? Environment.value("BACKLINE_STORE") ?? (address == nil ? .sqlite : .postgres)
    }

    /// Returns the place of the configured store, without opening or making anything.
    func place() throws -> StorePlace {
        switch try kind() {
        case .memory: return .memory
        case .sqlite: return .sqlite(directory: directory)
        case .postgres:
            do {
                return .postgres(try PostgresConfiguration(url: address, environment: Environment.all))
            } catch {
                throw Failure.usage("--database-url: \(error)")
            }
        }
    }
}

/// The place of a store that can be opened.
enum StorePlace {
    case memory
    case sqlite(directory: String)
    case postgres(PostgresConfiguration)

    /// Opens the store; does not check its schema.
    func open(to use: SQLiteStore.Use = .writing) async throws -> OpenStore {
        switch self {
        case .memory:
            return .memory(MemoryEventStore())
        case .sqlite(let directory):
            do {
                return .sqlite(try await SQLiteStore.open(directory: directory, to: use))
            } catch {
                let reason = "--data: the event log in \(directory) cannot be opened: \(error.explanation)"
                throw Failure(embeddedStore: error, reason)
            }
        case .postgres(let configuration):
            do {
                return .postgres(try PostgresStore(configuration))
            } catch {
                throw Failure.unavailable("PostgreSQL cannot be used: \(error.explanation)")
            }
        }
    }
}

extension Failure {
    /// The embedded store cannot be used.
    fileprivate init(embeddedStore fault: StorageFault, _ message: String) {
        switch fault {
        case .corrupt: self = .configuration(message)
        // A disk that is full, and a file that another program has locked.
        case .exhausted, .transient: self = .unavailable(message)
        case .unreachable, .rejected, .outcomeUnknown, .closed: self = .usage(message)
        }
    }
}

extension StorePlace {
    /// Keeps other processes from writing the embedded store as long as the lock exists; nil for other stores.
    ///
    /// Makes the store's directory if it does not exist. The store is opened after it and closed before it.
    func lock() throws(Failure) -> DirectoryLock? {
        guard case .sqlite(let directory) = self else { return nil }
        do {
            try SQLiteStore.makeDirectory(directory)
        } catch {
            throw Failure(embeddedStore: error, "--data: \(error.explanation)")
        }
        return try DirectoryLock(directory, file: SQLiteStore.fileName)
    }
}

/// An open store.
enum OpenStore {
    case memory(MemoryEventStore)
    case sqlite(SQLiteStore)
    case postgres(PostgresStore)

    /// The store as servers use it.
    var eventStore: any EventStore & StatisticsStore {
        switch self {
        case .memory(let store): store
        case .sqlite(let store): store
        case .postgres(let store): store
        }
    }

    /// The store as tools use it.
    var archive: any LogArchive {
        switch self {
        case .memory(let store): store
        case .sqlite(let store): store
        case .postgres(let store): store
        }
    }

    /// Its kind's name, for people.
    var name: String {
        switch self {
        case .memory: "memory"
        case .sqlite: "the embedded store"
        case .postgres: "PostgreSQL"
        }
    }

    /// Whether other processes may write the same log.
    var isShared: Bool {
        if case .postgres = self { true } else { false }
    }

    /// Whether another server may be found where one takes no writes.
    var hasOtherServers: Bool {
        switch self {
        case .memory, .sqlite: false
        case .postgres(let store): store.hasOtherServers
        }
    }

    /// Makes the bus to the other servers on the same log; nil if there can be none.
    func makeNodeBus() throws -> (any NodeBus)? {
        guard case .postgres(let store) = self else { return nil }
        do {
            return try store.makeNodeBus()
        } catch {
            throw Failure.unavailable("PostgreSQL cannot be used: \(error.explanation)")
        }
    }

    /// Checks its schema; memory has none.
    func schemaState() async throws(StorageFault) -> SchemaState {
        switch self {
        case .memory: .current
        case .sqlite(let store): try await store.schemaState()
        case .postgres(let store): try await store.schemaState()
        }
    }

    /// Migrates its schema to the current version.
    func migrate() async throws -> [Migration] {
        let result: Result<[Migration], SchemaRefusal> =
            switch self {
            case .memory: .success([])
            case .sqlite(let store): try await store.migrate()
            case .postgres(let store): try await store.migrate()
            }
        do {
            return try result.get()
        } catch {
            throw Failure.configuration("the schema is refused: \(error.description)")
        }
    }

    /// What an operator is told where ``close(emptyingLog:)`` gives a reason.
    static let keepsItsLog =
        "Not all of the embedded store is in its main file; its files belong together until a server has stopped"

    /// Closes the store after finishing the work that it was given.
    ///
    /// With `emptyingLog`, the embedded store's main file then holds all data; otherwise returns the reason.
    @discardableResult
    func close(emptyingLog: Bool = true) async -> StorageFault? {
        switch self {
        case .memory: return nil
        case .sqlite(let store):
            do {
                return try await store.close(emptyingLog: emptyingLog)
            } catch {
                return error
            }
        case .postgres(let store):
            await store.close()
            return nil
        }
    }
}

extension StorageFault {
    /// The fault, worded for an operator.
    var explanation: String {
        guard let cause else { return "it was closed" }
        return cause.code.isEmpty ? cause.message : "\(cause.message) (\(cause.code))"
    }
}

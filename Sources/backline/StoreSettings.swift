import ArgumentParser
import EventStorage
import FoundationEssentials
import PostgresEventStore
import SQLiteEventStore
import SchemaFiles

/// Where the event log is kept.
enum StoreKind: String, ExpressibleByArgument, CaseIterable {
    /// A database server, shared by any number of processes.
    case postgres
    /// One file, one process.
    case sqlite
    /// Nowhere: for measuring.
    case memory
}

/// The settings by which an event log is found, shared by all subcommands.
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
            "PostgreSQL's address, postgres://…; what it leaves out comes from the usual PG… variables. [BACKLINE_DATABASE_URL or DATABASE_URL]",
            valueName: "url"))
    var databaseURL: String?

    /// The directory for files.
    var directory: String { data ?? Environment["BACKLINE_DATA"] ?? "./.backline" }

    /// The database's address, where one is configured.
    private var address: String? {
        databaseURL ?? Environment["BACKLINE_DATABASE_URL"] ?? Environment["DATABASE_URL"]
    }

    /// The store that the settings mean.
    func kind() throws -> StoreKind {
        try store ?? Environment.value("BACKLINE_STORE") ?? (address == nil ? .sqlite : .postgres)
    }

    /// The store that the settings mean; nothing is opened or made.
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

/// A store that can be opened.
enum StorePlace {
    case memory
    case sqlite(directory: String)
    case postgres(PostgresConfiguration)

    /// Opens the store; its schema is not looked at.
    func open() async throws -> OpenStore {
        switch self {
        case .memory:
            return .memory(MemoryEventStore())
        case .sqlite(let directory):
            do {
                return .sqlite(try await SQLiteStore.open(directory: directory))
            } catch {
                throw Failure.usage("--data: the event log in \(directory) cannot be opened: \(error.explanation)")
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

extension StorePlace {
    /// Keeps other processes from writing the embedded store while the lock lives; nil for other stores.
    ///
    /// The store was opened before: that makes its directory.
    func lock() throws(Failure) -> DirectoryLock? {
        guard case .sqlite(let directory) = self else { return nil }
        return try DirectoryLock(directory)
    }
}

/// A store that was opened.
enum OpenStore {
    case memory(MemoryEventStore)
    case sqlite(SQLiteStore)
    case postgres(PostgresStore)

    /// What the shells need of it.
    var eventStore: any EventStore {
        switch self {
        case .memory(let store): store
        case .sqlite(let store): store
        case .postgres(let store): store
        }
    }

    /// What tools need of it.
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

    /// The way to the other servers on the same log; nil where there can be none.
    func makeNodeBus() throws -> (any NodeBus)? {
        guard case .postgres(let store) = self else { return nil }
        do {
            return try store.makeNodeBus()
        } catch {
            throw Failure.unavailable("PostgreSQL cannot be used: \(error.explanation)")
        }
    }

    /// How its schema stands; memory has none.
    func schemaState() async throws(StorageFault) -> SchemaState {
        switch self {
        case .memory: .current
        case .sqlite(let store): try await store.schemaState()
        case .postgres(let store): try await store.schemaState()
        }
    }

    /// Brings its schema up to date.
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

    /// Ends its work; what was handed over is finished first.
    ///
    /// With `emptyingLog` all that the embedded store holds is in its main file then; returns why it is not.
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
    /// What an operator can make of it.
    var explanation: String {
        switch self {
        case .unreachable(let cause), .outcomeUnknown(let cause), .transient(let cause), .exhausted(let cause),
            .rejected(let cause), .corrupt(let cause):
            cause.code.isEmpty ? cause.message : "\(cause.message) (\(cause.code))"
        case .closed: "it was closed"
        }
    }
}

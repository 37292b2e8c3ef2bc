import Foundation
import GRDB
public import RoomClient
import Synchronization

/// What a client keeps on the device, in one SQLite file.
///
/// ```swift
/// let path = URL.applicationSupportDirectory.appending(path: "Backline/party.sqlite").path
/// let store = try DatabaseStore(path: path)
/// let client = RoomClient(server, as: .guest(name: "Ana"), transport: transport, store: store)
/// ```
///
/// **Durable.** What was kept survives the end of the process and of the system: write-ahead log, `synchronous=FULL`.
/// Each change waits for the disk, because a command that is sent and then forgotten would be done again by the person,
/// and a command whose sending is forgotten would be sent again when the server has forgotten its key. (On Apple's
/// platforms SQLite does not wait for the cache of the drive itself, which only a sudden loss of power empties.) A call
/// is carried out also where the task that made it is cancelled.
///
/// **Bounded.** The 50 rooms that were saved last are kept, and of those as many as have 64 MB together, but always the
/// newest one. The outbox is bounded by the client.
///
/// **Private.** Directories that are made have the mode 0700, and all files 0600. What is removed is overwritten with
/// zeros. On Apple's platforms the token is in the Keychain, readable on this device after its first unlocking; a
/// program for macOS without a Keychain of its own, and programs elsewhere, have it in the file.
///
/// **Owned.** A file belongs to one session at one server and to one store at a time, in all processes: ordinals are
/// given out in memory. A second store is refused with ``StoreFault/Code/inUse``. The file must be on a local disk, and
/// on iOS in the app's own container: the system ends a suspended app that has locked a file of an App Group.
public final class DatabaseStore: ClientStore {
    /// What is kept of rooms.
    struct Bounds: Sendable {
        /// The most rooms.
        var rooms = 50
        /// The most bytes of all their states.
        var bytes = 64_000_000
    }

    /// Whether the store is closed, as calls see it in their order.
    private final class Life: Sendable {
        let isClosed = Atomic(false)
    }

    /// The absolute path of the database's file.
    public let path: String

    private let queue: DatabaseQueue
    private let lock: Mutex<FileLock?>
    private let life = Life()
    private let vault: (any TokenVault)?
    private let bounds: Bounds

    /// Opens the store in a file; makes the file and its directory if they do not exist.
    ///
    /// It blocks the thread for some milliseconds.
    ///
    /// - Throws: ``StoreFault/Code/inUse`` if another store has the file, ``StoreFault/Code/corrupt``,
    ///   ``StoreFault/Code/foreign`` or ``StoreFault/Code/newer`` if it cannot be read, and
    ///   ``StoreFault/Code/unreachable`` or ``StoreFault/Code/full`` if it cannot be made. None of these changes it.
    public convenience init(path: String) throws(StoreFault) {
        try self.init(path: path, vault: Self.systemVault, bounds: Bounds())
    }

    /// Opens a store with another vault for its token, or other bounds.
    init(path: String, vault: (any TokenVault)?, bounds: Bounds = Bounds()) throws(StoreFault) {
        let files = StoreFiles(path)
        try files.makeDirectory()
        // Before anything else is touched.
        let lock = try FileLock(files.lockPath)
        try files.keepToOwner()
        queue = try Self.open(files.path)
        self.path = files.path
        self.lock = Mutex(lock)
        self.vault = vault
        self.bounds = bounds
    }

    deinit { try? queue.close() }

    private static func open(_ path: String) throws(StoreFault) -> DatabaseQueue {
        var configuration = Configuration()
        configuration.label = "RoomClientGRDB"
        configuration.journalMode = .wal
        // For tools that look into the file.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            // Before the file becomes one with a write-ahead log.
            try StoreSchema.check(db, path: path)
            try db.execute(sql: "PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 4194304")
        }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            // The queue has set NORMAL, with which the last changes are lost when the system crashes.
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            try StoreSchema.migrator.migrate(queue)
            return queue
        } catch {
            throw StoreFault(error, path: path)
        }
    }

    /// Closes the file and lets others open it; returns when the calls before it have ended.
    ///
    /// Later calls throw ``StoreFault/Code/closed``. A store that nobody holds any more is closed too.
    public func close() async {
        await withCheckedContinuation { continuation in
            queue.asyncWriteWithoutTransaction { [life] _ in
                life.isClosed.store(true, ordering: .relaxed)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            // Waits for the disk.
            DispatchQueue(label: "RoomClientGRDB.closing").async { [queue] in
                try? queue.close()
                continuation.resume()
            }
        }
        lock.withLock { $0 = nil }
    }

    /// Deletes the file of a store, and with it all that was kept.
    ///
    /// For a file that is damaged, or a person who signs out for good. It does nothing if there is no file.
    ///
    /// - Throws: ``StoreFault/Code/inUse`` if a store has the file.
    public static func removeFiles(at path: String) throws(StoreFault) {
        let files = StoreFiles(path)
        guard FileManager.default.fileExists(atPath: files.path) else { return }
        let lock = try FileLock(files.lockPath)
        try files.remove()
        _ = consume lock
    }

    // MARK: Access

    /// Carries out a call in its turn, and waits for it even if the task is cancelled.
    ///
    /// GRDB's own asynchronous methods give up when their task is cancelled: a change could be lost.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        let result: Result<Value, StoreFault> = await withCheckedContinuation { continuation in
            queue.asyncWriteWithoutTransaction { [life, path] db in
                let isClosed = life.isClosed.load(ordering: .relaxed)
                continuation.resume(
                    returning: Result {
                        if isClosed { throw StoreFault(.closed, "the store \(path) is closed") }
                        return try body(db)
                    }.mapError { StoreFault($0, path: path) })
            }
        }
        return try result.get()
    }

    /// Carries out a change whole or not at all.
    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFault) -> Value {
        try await perform { db in
            var value: Value?
            try db.inTransaction(.immediate) {
                value = try body(db)
                return .commit
            }
            guard let value else { throw StoreFault(.failed, "the transaction did not run") }
            return value
        }
    }

    // MARK: Rooms

    /// The room of a reference, as it was saved last; nil if it never was, or is not among the newest.
    public func room(_ reference: RoomReference) async throws(StoreFault) -> StoredRoom? {
        let name = reference.description
        return try await perform { db in
            let sql = "SELECT epoch, seq, keyed, state FROM rooms WHERE room = ?"
            guard let row = try Row.fetchOne(db, cached: sql, [name]) else { return nil }
            return StoredRoom(
                epoch: try row.decode(atIndex: 0), sequence: try row.decode(atIndex: 1),
                keyed: try row.decode(atIndex: 2), state: [UInt8](try row.decode(Data.self, atIndex: 3)))
        }
    }

    /// Saves a room, and forgets the rooms that are too many.
    public func save(_ room: StoredRoom, of reference: RoomReference) async throws(StoreFault) {
        let name = reference.description
        try await write { [bounds] db in
            // A row that is replaced gets a new number, the greatest.
            try db.run(
                "INSERT OR REPLACE INTO rooms (room, epoch, seq, keyed, state) VALUES (?, ?, ?, ?, ?)",
                [name, room.epoch, room.sequence, room.keyed, Data(room.state)])
            var bytes = 0
            let sizes = "SELECT saving, length(state) FROM rooms ORDER BY saving DESC"
            let tooMany = try Row.fetchAll(db, cached: sizes).enumerated().filter { place, row in
                bytes += try row.decode(Int.self, atIndex: 1)
                return place > 0 && (place >= bounds.rooms || bytes > bounds.bytes)
            }
            for (_, row) in tooMany {
                try db.run("DELETE FROM rooms WHERE saving = ?", [try row.decode(Int.self, atIndex: 0)])
            }
        }
    }

    /// Forgets a room.
    public func removeRoom(_ reference: RoomReference) async throws(StoreFault) {
        let name = reference.description
        try await perform { try $0.run("DELETE FROM rooms WHERE room = ?", [name]) }
    }

    // MARK: Commands

    /// Keeps a command, in place of what was kept under its ordinal.
    public func put(_ command: StoredCommand) async throws(StoreFault) {
        try await write { db in
            try db.run(
                """
                INSERT OR REPLACE INTO outbox (ordinal, room, key, command, sent_epoch, sent_keyed, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    command.ordinal, command.room, command.key, Data(command.command), command.sentEpoch,
                    command.sentKeyed, command.expiresAt,
                ])
            try db.run("UPDATE session SET last_ordinal = max(last_ordinal, ?)", [command.ordinal])
        }
    }

    /// Forgets a command; its ordinal is remembered if it is the greatest.
    public func removeCommand(_ ordinal: Int) async throws(StoreFault) {
        try await perform { try $0.run("DELETE FROM outbox WHERE ordinal = ?", [ordinal]) }
    }

    // MARK: The session

    /// Everything but the rooms, commands by their ordinals.
    ///
    /// Where the token has not come with the file, as from a backup of another device, the session is over: everything is
    /// forgotten, because nothing of it may become another person's.
    public func load() async throws(StoreFault) -> StoredClient {
        try await write { [vault] db in
            let session = try SessionRow(db)
            var token = session.token
            if session.isInVault {
                token = try vault?.token(under: session.vaultName)
                if token == nil { try SessionRow.forget(db) }
            }
            return StoredClient(token: token, outbox: try StoredCommand.all(db), lastOrdinal: session.lastOrdinal)
        }
    }

    /// Keeps the token of the session; nil forgets it, and with it every room and command.
    public func setToken(_ token: String?) async throws(StoreFault) {
        if let token {
            try await write { [vault] db in
                let name = try SessionRow(db).vaultName
                let isInVault = try vault?.keep(token, under: name) ?? false
                try db.run(
                    "UPDATE session SET token = ?, in_vault = ?", [isInVault ? nil : token, isInVault])
            }
        } else {
            try await perform { [vault] db in
                // The token last: without it, what is left would become another session's.
                try db.inTransaction(.immediate) {
                    try SessionRow.forget(db)
                    return .commit
                }
                try vault?.forget(try SessionRow(db).vaultName)
                // Nothing of it stays in the log. A tool that reads may hold that up until the store is closed.
                _ = try? db.checkpoint(.truncate)
            }
        }
    }
}

package import EventStorage
import Foundation
import GRDB
import Synchronization

/// The event store in one SQLite file, for a server that has no database beside it.
///
/// What is appended is on the disk when ``EventStore/append(_:)`` returns: write-ahead log, `synchronous=FULL`. Any
/// number of processes may open one file on one machine, never over a network file system: writes take the file's write
/// lock first and wait for at most five seconds for each other; reads never wait for writes. SQLite's work is done on
/// GRDB's dispatch queues, one for writing and one for each of four readers, never on a thread of Swift's tasks, and a
/// call that has begun is not cancelled with its task.
///
/// A store is opened, brought to its schema with ``migrate()`` and used until ``close()``.
package final class SQLiteStore: EventStore {
    /// The name of the database's file in its directory; SQLite keeps two more beside it.
    package static let fileName = "backline.sqlite"

    /// The database's file.
    package let path: String

    private let pool: DatabasePool
    /// Calls that have begun and not ended.
    private let underWay = DispatchGroup()
    /// Whether the owner has closed the store.
    private let isClosed = Atomic(false)

    private init(path: String, pool: DatabasePool) {
        self.path = path
        self.pool = pool
    }

    // MARK: Life

    /// Opens the database in this directory; the directory and the file are made where they are missing.
    ///
    /// The directory is made for its owner alone, because the file holds what members may not see of each other. The
    /// schema is left as it is.
    ///
    /// - Throws: ``StorageFault/unreachable(_:)`` where the directory or the file cannot be made, read or written,
    ///   ``StorageFault/corrupt(_:)`` where the file is no SQLite database; both name the path.
    package static func open(directory: String) async throws(StorageFault) -> SQLiteStore {
        try await open(directory: directory, lockTimeout: 5)
    }

    /// As ``open(directory:)``, waiting at most `lockTimeout` seconds for the file's write lock in each call.
    static func open(directory: String, lockTimeout: Double) async throws(StorageFault) -> SQLiteStore {
        let result: Result<SQLiteStore, StorageFault> = await withCheckedContinuation { continuation in
            queue().async {
                continuation.resume(
                    returning: Result { () throws(StorageFault) in
                        try makeDirectory(directory)
                        let path = URL(filePath: directory).appending(path: fileName).path
                        try keepToOwner(path)
                        return SQLiteStore(path: path, pool: try openPool(path: path, lockTimeout: lockTimeout))
                    })
            }
        }
        return try result.get()
    }

    private static func openPool(path: String, lockTimeout: Double) throws(StorageFault) -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "backline.sqlite"
        configuration.busyMode = .timeout(lockTimeout)
        configuration.maximumReaderCount = 4
        // A room that is removed goes before its events do.
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        do {
            let pool = try DatabasePool(path: path, configuration: configuration)
            // DatabasePool sets NORMAL, with which the last commits are lost when the machine stops.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            return pool
        } catch {
            throw StorageFault(error, context: "the database \(path) cannot be opened")
        }
    }

    /// Makes the database's file, where it is missing, and lets nobody but its owner read it and what is beside it.
    ///
    /// SQLite gives the files beside it the main file's mode when it makes them. Files of somebody else keep theirs.
    private static func keepToOwner(_ path: String) throws(StorageFault) {
        // The path is a C string for the length of the call.
        let descriptor = unsafe Foundation.open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        // What is wrong with the file is for SQLite to say.
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
        for file in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            // The structure is filled during the call.
            guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0
            else { continue }
            guard unsafe chmod(file, status.st_mode & 0o700) != 0, errno != EPERM, errno != EROFS else { continue }
            let name = unsafe String(cString: strerror(errno))
            throw .unreachable(.init(message: "the mode of \(file) cannot be changed: \(name)"))
        }
    }

    /// Makes a directory and those above it where they are missing.
    private static func makeDirectory(_ directory: String) throws(StorageFault) {
        let components = URL(filePath: directory).standardizedFileURL.pathComponents
        for count in components.indices.dropFirst() {
            let path = "/" + components[1...count].joined(separator: "/")
            // The pointers that C takes and gives do not outlive these expressions.
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            let name = unsafe String(cString: strerror(errno))
            throw .unreachable(.init(message: "the directory \(path) cannot be made: \(name)"))
        }
    }

    /// Closes the database once what has begun has ended.
    ///
    /// With `emptyingLog` what is in the write-ahead log is moved into the main file first, so that a copy of that file
    /// alone is whole; else it stays in the file beside it, which the next one to open the database reads. Another process
    /// that reads meanwhile is waited for as long as for its lock. Every later call throws ``StorageFault/closed``;
    /// closing again does nothing.
    ///
    /// - Returns: Why the log could not be emptied; nil where it was, or was not to be.
    @discardableResult
    package func close(emptyingLog: Bool = true) async throws(StorageFault) -> StorageFault? {
        guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return nil }
        let result: Result<StorageFault?, StorageFault> = await withCheckedContinuation { continuation in
            // GRDB would run a read that still waits for its queue on a connection that is closed.
            underWay.notify(queue: Self.queue()) { [pool] in
                let fault = emptyingLog ? Self.emptyLog(of: pool) : nil
                continuation.resume(
                    returning: Result {
                        try pool.close()
                        return fault
                    }.mapError { StorageFault($0) })
            }
        }
        return try result.get()
    }

    /// Moves the write-ahead log into the main file, as far as other processes let it; says why not all of it.
    ///
    /// SQLite does so itself only where the last connection that is closed may write, which is not said here.
    private static func emptyLog(of pool: DatabasePool) -> StorageFault? {
        do {
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            return nil
        } catch {
            return StorageFault(error, context: "the write-ahead log cannot be emptied")
        }
    }

    // MARK: Health

    /// Returns when the file's write lock could be taken; nothing is written.
    package func checkHealth() async throws(StorageFault) {
        try await perform { pool, finish in
            pool.asyncWriteWithoutTransaction { db in
                finish(Result { try db.inTransaction(.immediate) { .rollback } }.mapError { StorageFault($0) })
            }
        }
    }

    package func probeWriting() async throws(StorageFault) {
        try await write { db in
            let room = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            // What is deleted is overwritten, so its pages are written although nothing of them stays.
            try db.run(
                "INSERT INTO events (room_id, seq, at, type, payload) VALUES (?, 0, 0, 'probe', hex(zeroblob(32768)))",
                [room])
            try db.run("DELETE FROM events WHERE room_id = ?", [room])
        }
    }

    // MARK: Access

    /// Reads the database as of one instant.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageFault) -> Value {
        try await perform { pool, finish in
            pool.asyncRead { db in
                finish(Result { try body(db.get()) }.mapError { StorageFault($0) })
            }
        }
    }

    /// Writes in one transaction that has the file's write lock from its beginning; nothing is written where `body`
    /// throws.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageFault) -> Value {
        try await perform { pool, finish in
            pool.asyncWriteWithoutTransaction { db in finish(db.transaction(body)) }
        }
    }

    /// Does what cannot be done in a transaction, on the connection that writes.
    func outsideTransaction(_ body: @escaping @Sendable (Database) throws -> Void) async throws(StorageFault) {
        try await perform { pool, finish in
            pool.asyncWriteWithoutTransaction { db in
                finish(Result { try body(db) }.mapError { StorageFault($0) })
            }
        }
    }

    /// Hands work to one of the pool's queues and waits for what it finishes with.
    private func perform<Value: Sendable>(
        _ start: @Sendable (DatabasePool, @escaping @Sendable (Result<Value, StorageFault>) -> Void) -> Void
    ) async throws(StorageFault) -> Value {
        // A call that is counted before the store is closed is waited for; one that is counted later sees it closed.
        underWay.enter()
        defer { underWay.leave() }
        guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw .closed }
        let result: Result<Value, StorageFault> = await withCheckedContinuation { continuation in
            start(pool) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// A queue for what blocks, with a thread that may.
    private static func queue() -> DispatchQueue {
        DispatchQueue(label: "backline.sqlite.life")
    }
}

extension Database {
    /// Runs `body` in a transaction that begins by taking the write lock.
    fileprivate func transaction<Value>(_ body: (Database) throws -> Value) -> Result<Value, StorageFault> {
        var value: Value?
        do {
            try inTransaction(.immediate) {
                value = try body(self)
                return .commit
            }
        } catch {
            let fault = StorageFault(error)
            // Where `body` is done, it was the commit that failed.
            return .failure(value == nil ? fault : fault.ofCommit)
        }
        guard let value else { return .failure(.rejected(.init(message: "the transaction did not run"))) }
        return .success(value)
    }
}

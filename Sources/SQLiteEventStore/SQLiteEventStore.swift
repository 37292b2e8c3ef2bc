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
package final class SQLiteEventStore: EventStore {
    /// The name of the database's file in its directory; SQLite keeps two more beside it.
    package static let fileName = "backline.sqlite"

    /// The database's file.
    package let path: String

    private let pool: DatabasePool
    private let calls = Mutex(Calls())

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
    package static func open(directory: String) async throws(StorageFault) -> SQLiteEventStore {
        try await open(directory: directory, lockTimeout: 5)
    }

    /// As ``open(directory:)``, waiting at most `lockTimeout` seconds for the file's write lock in each call.
    static func open(directory: String, lockTimeout: Double) async throws(StorageFault) -> SQLiteEventStore {
        try await onQueue { () throws(StorageFault) in
            try makeDirectory(directory)
            let path = URL(filePath: directory).appending(path: fileName).path
            do {
                return SQLiteEventStore(path: path, pool: try openPool(path: path, lockTimeout: lockTimeout))
            } catch {
                throw StorageFault(error, context: "the database \(path) cannot be opened")
            }
        }
    }

    private static func openPool(path: String, lockTimeout: Double) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "backline.sqlite"
        configuration.busyMode = .timeout(lockTimeout)
        configuration.maximumReaderCount = 4
        let pool = try DatabasePool(path: path, configuration: configuration)
        // DatabasePool sets NORMAL, with which the last commits are lost when the machine stops.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        return pool
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
    /// Every later call throws ``StorageFault/closed``; closing again does nothing.
    package func close() async throws(StorageFault) {
        let isFirst = calls.withLock { calls in
            defer { calls.isClosed = true }
            return !calls.isClosed
        }
        guard isFirst else { return }
        // GRDB would run a read that waits for its queue on a connection that is closed.
        await withCheckedContinuation { continuation in
            let isIdle = calls.withLock { calls in
                if calls.underWay > 0 { calls.whenIdle = continuation }
                return calls.underWay == 0
            }
            if isIdle { continuation.resume() }
        }
        try await Self.onQueue { [pool] () throws(StorageFault) in
            do {
                try pool.close()
            } catch {
                throw StorageFault(error)
            }
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

    /// Hands work to one of the pool's queues and waits for what it finishes with.
    private func perform<Value: Sendable>(
        _ start: @Sendable (DatabasePool, @escaping @Sendable (Result<Value, StorageFault>) -> Void) -> Void
    ) async throws(StorageFault) -> Value {
        try calls.withLock { (calls) throws(StorageFault) in
            guard !calls.isClosed else { throw .closed }
            calls.underWay += 1
        }
        let result: Result<Value, StorageFault> = await withCheckedContinuation { continuation in
            start(pool) { continuation.resume(returning: $0) }
        }
        let idle = calls.withLock { calls in
            calls.underWay -= 1
            return calls.underWay == 0 ? calls.whenIdle.take() : nil
        }
        idle?.resume()
        return try result.get()
    }

    /// Does what blocks on a thread that may block.
    private static func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StorageFault) -> Value
    ) async throws(StorageFault) -> Value {
        let result: Result<Value, StorageFault> = await withCheckedContinuation { continuation in
            DispatchQueue(label: "backline.sqlite.life").async {
                continuation.resume(returning: Result { () throws(StorageFault) in try body() })
            }
        }
        return try result.get()
    }
}

extension SQLiteEventStore {
    /// Who uses the pool.
    private struct Calls {
        /// Calls that have begun and not ended.
        var underWay = 0
        /// Whether the owner has closed the store; no call begins after that.
        var isClosed = false
        /// Resumed when the last call has ended.
        var whenIdle: CheckedContinuation<Void, Never>?
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

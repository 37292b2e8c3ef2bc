package import EventStorage
import Foundation
import GRDB
import Synchronization
import SystemCalls

/// The event store in one SQLite file, for a server without a database server.
///
/// Appended events are on the disk when ``EventStore/append(_:)`` returns: write-ahead log, `synchronous=FULL`. Any
/// number of processes may open one file on one machine, but never over a network file system. Writes first take the
/// file's write lock and wait at most five seconds for each other; opening waits as long; reads never wait for writes.
/// SQLite runs on GRDB's dispatch queues, one for writing and one for each of four readers, never on a thread of Swift's
/// tasks. Cancelling a task does not cancel a call that has begun.
///
/// Usage: open a store, migrate it with ``migrate()``, use it, and end with ``close()``.
package final class SQLiteStore: EventStore {
    /// The name of the database's file in its directory; SQLite keeps two more files beside it.
    package static let fileName = "backline.sqlite"

    /// The database's file.
    package let path: String

    private let pool: DatabasePool
    private let log: LogLength
    /// The readers for all that is read and computed of statistics, so that no read of the log waits behind a question
    /// that takes long.
    private let statisticsPool: DatabasePool
    /// The file that was opened: its device and number.
    private let file: FileIdentity?
    /// What was seen of the file last.
    private let seen = Mutex<Seen?>(nil)
    /// Calls that have begun and not ended.
    private let underWay = DispatchGroup()
    /// Whether the owner has closed the store.
    private let isClosed = Atomic(false)

    private init(
        path: String, pool: DatabasePool, log: LogLength, statisticsPool: DatabasePool
    ) {
        self.path = path
        self.pool = pool
        self.log = log
        self.statisticsPool = statisticsPool
        file = FileIdentity(of: path)
    }

    /// Throws if the file that is open is not at its path any more, or another one was written over it: what is written
    /// to it would be lost, or mixed with the other.
    private func checkPlace(_ db: Database) throws {
        if let file, file.isSame(as: FileIdentity(of: path)), try isStill(db) { return }
        throw StorageFault.unreachable(
            .init(
                code: "ENOENT",
                message:
                    "\(path) was moved away or replaced while it was open: stop the server before the file is touched"))
    }

    private struct Seen: Equatable {
        var header: FileHeader
        /// Changes where another connection has committed something.
        var version: Int?
    }

    /// Whether the file, which a copy may have been written over, is still the one that the log is of.
    private func isStill(_ db: Database) throws -> Bool {
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA data_version"))
        let now = try Seen(header: db.fileHeader(), version: version)
        return try seen.withLock { known in
            // `sqlite3` may have restored a copy into the file, which then stands in the log.
            guard known != now else { return true }
            guard try db.markOfFileAndLog() != nil else { return false }
            known = now
            return true
        }
    }

    // MARK: Life

    /// Opens the database in this directory; makes the directory and the file if they do not exist.
    ///
    /// Only the owner can access the directory, because the file contains data that members may not see of each other.
    /// The schema is not changed.
    ///
    /// - Throws: ``StorageFault/unreachable(_:)`` if the directory or the file cannot be made, read or written,
    ///   ``StorageFault/corrupt(_:)`` if the file is not an SQLite database, is another program's, has a write-ahead log
    ///   beside it that is not its own, or lacks its log; all name the path.
    package static func open(
        directory: String, to use: Use = .writing
    ) async throws(StorageFault) -> SQLiteStore {
        try await open(directory: directory, to: use, lockTimeout: 5)
    }

    /// What a store is opened for.
    package enum Use: Sendable {
        /// Only to read, perhaps beside a process that writes.
        case reading
        case writing
        /// To write also where the file is found without the write-ahead log that it had: it is lost.
        case writingWithoutLog
    }

    /// Opens the database, with a limit in seconds for waiting for the file's locks, and with what is called between two
    /// tries to open a file that another process has locked; see ``open(directory:to:)``.
    static func open(
        directory: String, to use: Use = .writing, lockTimeout: Double,
        pause: @escaping @Sendable () -> Void = { Thread.sleep(forTimeInterval: .random(in: 0.001...0.02)) }
    ) async throws(StorageFault) -> SQLiteStore {
        let result: Result<SQLiteStore, StorageFault> = await withCheckedContinuation { continuation in
            queue().async {
                continuation.resume(
                    returning: Result { () throws(StorageFault) in
                        try makeDirectory(directory)
                        // SQLite keeps the write-ahead log beside the file itself, not beside a link to it.
                        let path = URL(filePath: directory).appending(path: fileName).resolvingSymlinksInPath().path
                        guard !hasLog(path) || FileIdentity(of: path)?.length ?? 0 > 0 else {
                            // SQLite would remove the log.
                            throw corrupt(
                                """
                                \(path) is missing or empty, and its write-ahead log (\(path)-wal) is there: put the \
                                file back, or remove the log to begin anew
                                """)
                        }
                        try keepToOwner(path)
                        let (pool, log) = try openPool(path: path, use, lockTimeout: lockTimeout, pause: pause)
                        let statisticsPool = try openReaders(path: path, lockTimeout: lockTimeout)
                        return SQLiteStore(path: path, pool: pool, log: log, statisticsPool: statisticsPool)
                    })
            }
        }
        return try result.get()
    }

    private static func openPool(
        path: String, _ use: Use, lockTimeout: Double, pause: () -> Void
    ) throws(StorageFault) -> (DatabasePool, LogLength) {
        var configuration = Configuration()
        configuration.label = "backline.sqlite"
        configuration.busyMode = .timeout(lockTimeout)
        configuration.maximumReaderCount = 4
        // A removed room is deleted before its events.
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA secure_delete = ON") }
        let began = ContinuousClock.now
        while true {
            do {
                let lacksLog = try lacksLog(path: path, use, lockTimeout: lockTimeout)
                // Another process may have begun a log meanwhile, or ended its own: then it is looked at again.
                guard
                    try !lacksLog || use == .writingWithoutLog
                        || !self.lacksLog(path: path, use, lockTimeout: lockTimeout)
                else {
                    throw corrupt(
                        """
                        \(path) is here without its write-ahead log (\(path)-wal), which has what was written last: put \
                        it back, or run 'backline epoch renew' to go on without it
                        """)
                }
                if use != .reading, !hasLog(path) { try? beginEra(path: path, configuration) }
                let pool = try DatabasePool(path: path, configuration: configuration)
                let log = LogLength()
                try pool.writeWithoutTransaction { db in
                    // DatabasePool sets NORMAL, with which the last commits can be lost if the machine crashes.
                    try db.execute(sql: "PRAGMA synchronous = FULL")
                    log.count(commitsOf: db)
                    // From now on the file has an end at which it is not whole without a log.
                    if use != .reading { _ = try? db.moveLog(.passive) }
                }
                return (pool, log)
            } catch let error as DatabaseError
                where error.resultCode == .SQLITE_BUSY && ContinuousClock.now - began < .seconds(lockTimeout)
            {
                // A new file gets its write-ahead log under a lock for which SQLite does not wait, since a process that
                // reads, as this one does then, could wait for ever.
                pause()
            } catch let error as DatabaseError
                where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK && !hasLog(path)
            {
                do {
                    try rollBack(path: path, configuration)
                } catch {
                    throw StorageFault(error, context: "the database \(path) cannot be opened")
                }
            } catch {
                throw StorageFault(error, context: "the database \(path) cannot be opened")
            }
        }
    }

    /// Takes back what a process had begun that was killed before the file had a write-ahead log: SQLite does so for a
    /// connection that may write.
    private static func rollBack(path: String, _ configuration: Configuration) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        _ = try queue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        try queue.close()
    }

    /// Whether there is something in the database's write-ahead log.
    private static func hasLog(_ path: String) -> Bool {
        FileIdentity(of: path + "-wal")?.length ?? 0 > 0
    }

    private static func beginEra(path: String, _ configuration: Configuration) throws {
        var configuration = configuration
        // Whoever has the file open keeps it open.
        configuration.busyMode = .immediateError
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.beginEra() }
        try queue.close()
    }

    /// Whether a file had a write-ahead log that is not there, or of which SQLite would read nothing.
    private static func lacksLog(path: String, _ use: Use, lockTimeout: Double) throws -> Bool {
        let mark = try check(path: path, use, lockTimeout: lockTimeout)
        return try mark.state == .moved && WriteAheadLog(path + "-wal")?.begins != true
    }

    /// Refuses a file that is another program's, that its write-ahead log does not fit, or of which something is damaged,
    /// before anything is changed.
    private static func check(path: String, _ use: Use, lockTimeout: Double) throws -> FileMark {
        var configuration = Configuration()
        configuration.busyMode = .timeout(lockTimeout)
        // A connection that may write would move the log into the file as it is closed.
        configuration.readonly = true
        do {
            return try DatabaseQueue(path: path, configuration: configuration).inDatabase { db in
                guard let mark = try db.markOfFileAndLog() else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
                // Whoever only reads may do so beside a process that writes.
                if use != .reading { try checkLog(path: path, db) }
                if let refusal = try db.ownerRefusal() { throw corrupt("\(refusal)") }
                return mark
            }
        } catch let error as DatabaseError
            where error.resultCode == .SQLITE_CORRUPT && hasLog(path)
        {
            throw corrupt(
                """
                \(path)-wal is not its write-ahead log, or one of them is damaged; was one put back without the other? \
                To go on with the file alone, remove \(fileName)-wal and \(fileName)-shm and run 'backline epoch renew'. \
                To go on where the log ended, put back the file that it is of. Of a damaged log, SQLite's wal_checkpoint \
                keeps the beginning
                """)
        }
    }

    private static func checkLog(path: String, _ db: Database) throws {
        while true {
            let version = try Int.fetchOne(db, sql: "PRAGMA data_version")
            guard let length = FileIdentity(of: path)?.length,
                try WriteAheadLog(path + "-wal")?.lacksSomething(fileLength: length) == true
            else { return }
            // Another process may have written meanwhile: then it is looked at again.
            guard try Int.fetchOne(db, sql: "PRAGMA data_version") != version else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT)
            }
        }
    }

    private static func corrupt(_ message: String) -> StorageFault {
        .corrupt(.init(message: message))
    }

    private static func openReaders(path: String, lockTimeout: Double) throws(StorageFault) -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "backline.sqlite.statistics"
        configuration.busyMode = .timeout(lockTimeout)
        // Two for questions, one for what is watched.
        configuration.maximumReaderCount = 3
        configuration.readonly = true
        do {
            return try DatabasePool(path: path, configuration: configuration)
        } catch {
            throw StorageFault(error, context: "the database \(path) cannot be opened")
        }
    }

    /// Makes the database's file if it does not exist, and makes it and the files beside it readable by the owner only.
    ///
    /// SQLite creates the files beside it with the main file's mode. Files of other owners keep their modes.
    private static func keepToOwner(_ path: String) throws(StorageFault) {
        // The path is a C string for the length of the call. A file that exists is not opened: closing it would end the
        // locks that this process has on it.
        let descriptor = unsafe Foundation.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        // SQLite will report any problem with the file.
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
        for file in [path, path + "-wal", path + "-shm"] {
            var status = stat()
            // The structure is filled during the call.
            guard unsafe stat(file, &status) == 0 else { continue }
            guard status.st_mode & S_IFMT == S_IFREG else {
                throw .unreachable(.init(message: "the database \(path) cannot be opened: \(file) is not a file"))
            }
            guard status.st_mode & 0o077 != 0 else { continue }
            guard unsafe chmod(file, status.st_mode & 0o700) != 0, errno != EPERM, errno != EROFS else { continue }
            throw .unreachable(.init(message: "the mode of \(file) cannot be changed: \(SystemError.current)"))
        }
    }

    /// Makes a directory and its parents, as far as they do not exist; only the owner can access them.
    package static func makeDirectory(_ directory: String) throws(StorageFault) {
        let components = URL(filePath: directory).standardizedFileURL.pathComponents
        for count in components.indices.dropFirst() {
            let path = "/" + components[1...count].joined(separator: "/")
            // The pointers that C takes and gives do not outlive these expressions.
            guard unsafe mkdir(path, 0o700) != 0, errno != EEXIST else { continue }
            let error = SystemError.current
            let cause = StorageFault.Cause(message: "the directory \(path) cannot be made: \(error)")
            throw error.isExhaustion ? .exhausted(cause) : .unreachable(cause)
        }
    }

    /// Closes the database after the calls under way have ended.
    ///
    /// With `emptyingLog`, the write-ahead log is moved into the main file first, so that a copy of that file alone is
    /// complete. Otherwise the log stays in its own file, which the next process that opens the database reads. Another
    /// process that is reading is waited for as long as for its lock. Every later call throws ``StorageFault/closed``;
    /// closing again does nothing.
    ///
    /// - Returns: The reason why the log could not be emptied; nil if it was emptied, or was not to be.
    @discardableResult
    package func close(emptyingLog: Bool = true) async throws(StorageFault) -> StorageFault? {
        guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return nil }
        let result: Result<StorageFault?, StorageFault> = await withCheckedContinuation { continuation in
            // GRDB would run a read that is still queued on a connection that is closed.
            underWay.notify(queue: Self.queue()) { [pool, statisticsPool] in
                let fault = emptyingLog ? Self.emptyLog(of: pool) : nil
                continuation.resume(
                    returning: Result {
                        // With the last connection, SQLite moves the log by itself if that connection may write: it must
                        // not where the log is not the file's.
                        if !emptyingLog || fault != nil { try pool.close() }
                        try statisticsPool.close()
                        try pool.close()
                        return fault
                    }.mapError { StorageFault($0) })
            }
        }
        return try result.get()
    }

    /// Moves the write-ahead log into the main file as far as other processes allow it; returns the reason if not all
    /// moved.
    ///
    /// SQLite does so by itself only if the connection that is closed last may write, which is not certain here.
    private static func emptyLog(of pool: DatabasePool) -> StorageFault? {
        do {
            try pool.writeWithoutTransaction { _ = try $0.moveLog(.truncate, isLast: true) }
            return nil
        } catch {
            return StorageFault(error, context: "the write-ahead log cannot be emptied")
        }
    }

    // MARK: Health

    /// Checks that the file's write lock can be taken; writes nothing.
    package func checkHealth() async throws(StorageFault) {
        try await perform { pool, finish in
            pool.asyncWriteWithoutTransaction { db in
                finish(
                    Result {
                        try self.checkPlace(db)
                        try db.inTransaction(.immediate) { .rollback }
                    }.mapError { StorageFault($0) })
            }
        }
    }

    package func probeWriting() async throws(StorageFault) {
        try await write { db in
            let room = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            // Deleted rows are overwritten with zeros, so their pages are written although no row remains.
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
        try await read(from: pool, body)
    }

    /// Reads what is counted, as of one instant.
    func ask<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageFault) -> Value {
        try await read(from: statisticsPool, body)
    }

    private func read<Value: Sendable>(
        from pool: DatabasePool, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageFault) -> Value {
        try await perform { _, finish in
            pool.asyncRead { db in
                finish(Result { try body(db.get()) }.mapError { StorageFault($0) })
            }
        }
    }

    /// Runs a transaction that holds the file's write lock from its beginning; nothing is written if `body` throws.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StorageFault) -> Value {
        try await perform { pool, finish in
            pool.asyncWriteWithoutTransaction { db in
                finish(
                    db.transaction { db in
                        try self.checkPlace(db)
                        return try body(db)
                    })
                self.log.moveIfLong(db)
            }
        }
    }

    /// Runs statements that cannot run in a transaction, on the writing connection.
    func outsideTransaction(_ body: @escaping @Sendable (Database) throws -> Void) async throws(StorageFault) {
        try await perform { pool, finish in
            pool.asyncWriteWithoutTransaction { db in
                finish(Result { try body(db) }.mapError { StorageFault($0) })
            }
        }
    }

    /// Runs work on one of the pool's queues and waits for its result.
    private func perform<Value: Sendable>(
        _ start: @Sendable (DatabasePool, @escaping @Sendable (Result<Value, StorageFault>) -> Void) -> Void
    ) async throws(StorageFault) -> Value {
        // `close()` waits for a call that is counted before the store is closed; a call counted later finds it closed.
        underWay.enter()
        defer { underWay.leave() }
        guard !isClosed.load(ordering: .sequentiallyConsistent) else { throw .closed }
        let result: Result<Value, StorageFault> = await withCheckedContinuation { continuation in
            start(pool) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Returns a queue for blocking work.
    private static func queue() -> DispatchQueue {
        DispatchQueue(label: "backline.sqlite.life")
    }
}

/// A file, whatever its name is.
private struct FileIdentity {
    var device: dev_t
    var number: ino_t
    var length: Int

    /// The file at a path; nil if there is none.
    init?(of path: String) {
        var status = stat()
        // The structure is filled during the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        (device, number, length) = (status.st_dev, status.st_ino, Int(status.st_size))
    }

    /// Whether it is the same file.
    func isSame(as other: FileIdentity?) -> Bool {
        device == other?.device && number == other?.number
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
            // If `body` has finished, the commit failed.
            return .failure(value == nil ? fault : fault.ofCommit)
        }
        guard let value else { return .failure(.rejected(.init(message: "the transaction did not run"))) }
        return .success(value)
    }
}

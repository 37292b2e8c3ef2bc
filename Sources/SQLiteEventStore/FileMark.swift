import EventStorage
import GRDB
import GRDBSQLite
import Synchronization

/// Tells whether a database's file and its write-ahead log belong together.
///
/// SQLite does not: it applies any log that is intact to the file beside it, also to a copy that was put back while the
/// log of a later state stayed. The mark is the file's `user_version`, which SQLite keeps in its first 100 bytes and
/// otherwise ignores. An *era* is the time from one complete move of the log into the file to the next. The first
/// transaction of an era, which is also the first of the log, names the era before it as its base; the last one before
/// a move says so. So a file without its log has the mark of the end of the era that the log is based on, and a copy,
/// which has the log's state, does not.
///
/// Eras are random numbers of 14 bits: of wrongly restored files one in some 16,000 is not found.
struct FileMark: Equatable {
    /// What the last transaction of the era was made for, in the order in which they come.
    enum State: Int {
        /// Anything.
        case open
        /// The log's move into the file.
        case moved
        /// The log's last move before the database was closed.
        case whole
    }

    /// The era before this one; 0 for none.
    var base = 0
    /// This era; 0 in a file that has never had a mark.
    var era = 0
    var state = State.open

    private static let eras = 1..<1 << 14

    /// The mark of a file that has never had one.
    init() {}

    /// Takes SQLite's `user_version`; nil for a number that is no mark.
    init?(_ userVersion: Int) {
        guard let state = State(rawValue: userVersion & 3), userVersion >> 30 == 0 else { return nil }
        self.state = state
        (base, era) = (userVersion >> 16, userVersion >> 2 & (Self.eras.upperBound - 1))
    }

    private init(base: Int, era: Int) {
        (self.base, self.era) = (base, era)
    }

    /// SQLite's `user_version`.
    var userVersion: Int { base << 16 | era << 2 | state.rawValue }

    /// The mark of the same era in another state.
    func becoming(_ state: State) -> FileMark {
        var mark = self
        mark.state = state
        return mark
    }

    /// The mark of the era after this one.
    func next() -> FileMark {
        var next = era
        while next == era || next == base { next = .random(in: Self.eras) }
        return FileMark(base: era, era: next)
    }
}

/// What of a database's first page tells it from another.
struct FileHeader: Equatable {
    var mark: FileMark
    /// SQLite's number of the schema, which a copy made by SQLite does not share.
    var schemaVersion: Int

    /// Whether this, read with the write-ahead log, can be of a file that without it has the other.
    func fits(file: FileHeader) -> Bool {
        guard file.mark.era == mark.era else { return file.mark.era == mark.base && file.mark.state != .open }
        // A move that was begun has left a part of the log in the file, or all of it.
        guard file.mark.state == .open else { return file.mark.state.rawValue <= mark.state.rawValue }
        return file.mark.era == 0 || file.schemaVersion == schemaVersion
    }
}

/// Counts the pages in the write-ahead log of the connection that writes.
final class LogLength: Sendable {
    /// SQLite's own bound, from which on it would move the log by itself.
    static let bound = 1_000

    private let pages = Atomic(0)
    /// The file's header, when it was looked at last.
    private let file = Mutex<FileHeader?>(nil)
    /// The length from which on the log is to be moved.
    private let bound = Atomic(LogLength.bound)

    /// Counts the commits of a connection, which must not outlive this; SQLite no longer moves its log by itself.
    func count(commitsOf db: Database) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_wal_hook(
            db.sqliteConnection,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue()
                        .pages.store(Int(pages), ordering: .relaxed)
                }
                return SQLITE_OK
            }, context)
    }

    /// Whether the log is still the file's: a copy may have been written over it.
    func isOf(_ db: Database) throws -> Bool {
        let header = try db.fileHeader()
        return try file.withLock { known in
            guard known != header else { return true }
            guard try db.markOfFileAndLog() != nil else { return false }
            known = header
            return true
        }
    }

    /// Moves a long log into the file; does nothing if that fails, and tries again when the log has grown.
    func moveIfLong(_ db: Database) {
        let before = pages.load(ordering: .relaxed)
        guard before >= bound.load(ordering: .relaxed) else { return }
        let isMoved = (try? db.moveLog(.passive)) ?? false
        bound.store(isMoved ? Self.bound : before + Self.bound, ordering: .relaxed)
    }
}

extension Database {
    /// Moves the write-ahead log into the file, as far as readers allow it, and tells whether all of it was moved.
    ///
    /// Before and after that it sets the marks. `isLast` says that the database is closed next.
    @discardableResult
    func moveLog(_ mode: CheckpointMode, isLast: Bool = false) throws -> Bool {
        // A move would mix the two.
        guard try markOfFileAndLog() != nil else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the file was replaced while it was open")
        }
        let file = try fileHeader().mark
        let begun = try change { mark in
            // What was copied while the database was closed is of the era before.
            let mark = mark.state == .whole && file == mark ? mark.next() : mark
            return mark.becoming(isLast ? .whole : .moved)
        }
        guard let mark = begun else { return false }
        defer {
            // Unless another process that moves the log was faster. A move that is told to have ended, and of which the
            // file has nothing, would look like one with an end.
            _ = try? change { current in
                let hasEnded = (try? fileHeader().mark == mark) ?? false
                if current != mark || hasEnded && isLast { return nil }
                return hasEnded ? mark.next() : mark.becoming(.open)
            }
        }
        let pages = try checkpoint(mode)
        return pages.walFrameCount == pages.checkpointedFrameCount
    }

    /// The mark of the file with its write-ahead log; nil if the log is another file's.
    func markOfFileAndLog() throws -> FileMark? {
        while true {
            let file = try fileHeader()
            let header = try header()
            // A process that writes may have moved its log meanwhile.
            guard try fileHeader() == file else { continue }
            return header.fits(file: file) ? header.mark : nil
        }
    }

    /// The header as of the last transaction.
    private func header() throws -> FileHeader {
        var header = FileHeader(mark: FileMark(), schemaVersion: 0)
        // A transaction inside another one.
        try inSavepoint {
            // Neither reads the schema, which cannot be read where the log is another file's.
            header.mark = try FileMark(Int.fetchOne(self, sql: "PRAGMA user_version") ?? 0) ?? FileMark()
            header.schemaVersion = try Int.fetchOne(self, sql: "PRAGMA schema_version") ?? 0
            return .commit
        }
        return header
    }

    /// The header in the file, whatever the write-ahead log has.
    fileprivate func fileHeader() throws -> FileHeader {
        // https://sqlite.org/fileformat2.html#the_database_header
        let bytes = try unsafe [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
            var file: UnsafeMutablePointer<sqlite3_file>?
            unsafe sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
            guard let file = unsafe file, let read = unsafe file.pointee.pMethods.pointee.xRead else {
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the file cannot be read")
            }
            let result = ResultCode(rawValue: unsafe read(file, buffer.baseAddress, Int32(buffer.count), 0))
            // Of a file that is shorter, the rest is zeros.
            guard [.SQLITE_OK, .SQLITE_IOERR_SHORT_READ].contains(result) else {
                throw DatabaseError(resultCode: result, message: "the file cannot be read")
            }
            count = 100
        }
        func number(at position: Int) -> Int {
            bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return FileHeader(mark: FileMark(number(at: 60)) ?? FileMark(), schemaVersion: number(at: 40))
    }

    /// Makes sure that there is a log, in which GRDB would otherwise make and drop a table, so that SQLite's number of
    /// the schema were another than the file's.
    func beginLog() throws {
        try execute(sql: "PRAGMA journal_mode = WAL")
        try change { $0 }
    }

    /// Writes what the mark becomes, unless that is nil, and returns it.
    @discardableResult
    private func change(_ body: (FileMark) -> FileMark?) throws -> FileMark? {
        var mark: FileMark?
        try inTransaction(.immediate) {
            mark = body(try header().mark)
            guard let mark else { return .rollback }
            try execute(sql: "PRAGMA user_version = \(mark.userVersion)")
            return .commit
        }
        return mark
    }
}

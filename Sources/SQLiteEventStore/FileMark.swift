import EventStorage
import GRDB
import GRDBSQLite

/// Tells, with ``FileHeader/schemaVersion``, whether a database's file and its write-ahead log belong together.
///
/// SQLite does not: it applies any log that is intact to the file beside it, also to a copy that was put back while the
/// log of a later state stayed. The mark is the file's `user_version`, which SQLite keeps in its first 100 bytes and
/// otherwise ignores. An *era* begins when all of a log was moved into the file, and when a file without a log is opened
/// to be written. The last transaction before a move says that it is that; the first of the next era, which is also the
/// first of the log, names the era before it as its base. So the file that a log is of has the end of its base, or is in
/// its era.
///
/// Eras are random numbers of 14 bits ([why](../../Documentation/Decisions/0041-a-file-and-the-log-beside-it.md)).
struct FileMark: Equatable {
    /// What the last transaction was made for.
    enum State: Int {
        /// Anything.
        case open
        /// The log's move into the file, after which the log goes on.
        case moved
        /// The log's move into the file, after which there is none, or the beginning of a file without one.
        case whole
        /// Anything after a move that readers have held back: the file may get the rest at any time.
        case held

        /// Whether another era can follow.
        var endsEra: Bool { self == .moved || self == .whole }
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
    /// The numbers of schemas that a file without a log is given one of: SQLite counts on from there.
    static let drawnVersions = 1 << 20..<1 << 30
    /// More changes of a schema than there are in one log.
    private static let mostChanges = 10_000

    var mark: FileMark
    /// SQLite's number of the schema: a copy that SQLite makes has another one, 1 mostly, or the next.
    var schemaVersion: Int

    /// Whether this, read with the write-ahead log, can be of a file that without it has the other.
    func fits(file: FileHeader) -> Bool {
        guard file != self, file.mark.era != 0 || mark.era != 0 else { return true }
        guard (0...Self.mostChanges).contains(schemaVersion - file.schemaVersion) else { return false }
        // In the log's own era, the file has a part of the log, all of it, or none.
        if file.mark.era == mark.era { return file.mark.state == .open || mark.state != .open }
        return file.mark.era == mark.base && file.mark.state.endsEra
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
        let begun = try change { $0.becoming(mode == .truncate ? .whole : .moved) }
        defer {
            if !isLast {
                // Another process may have moved the log meanwhile.
                _ = try? change { mark in
                    guard mark == begun else { return nil }
                    return try fileHeader().mark == mark ? mark.next() : mark.becoming(.held)
                }
            }
        }
        let pages = try checkpoint(mode)
        return pages.walFrameCount == pages.checkpointedFrameCount
    }

    /// Begins an era in a file without a log, so that copies of it, made before or later, are told from it.
    ///
    /// It writes the file itself, and does nothing while another process has it open.
    func beginEra() throws {
        // Held until the connection is closed: nobody may begin a log in between.
        try execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
        // All that changes is in one sector of the disk. A journal in a file could be left beside a copy that is put back.
        guard try String.fetchOne(self, sql: "PRAGMA journal_mode = MEMORY") == "memory" else { return }
        try inTransaction(.exclusive) {
            let next = try header().mark.next().becoming(.whole)
            try execute(sql: "PRAGMA user_version = \(next.userVersion)")
            try execute(sql: "PRAGMA schema_version = \(Int.random(in: FileHeader.drawnVersions))")
            return .commit
        }
        _ = try String.fetchOne(self, sql: "PRAGMA journal_mode = WAL")
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
    func fileHeader() throws -> FileHeader {
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

    /// Writes what the mark becomes, unless that is nil, and returns it.
    @discardableResult
    private func change(_ body: (FileMark) throws -> FileMark?) throws -> FileMark? {
        var mark: FileMark?
        try inTransaction(.immediate) {
            mark = try body(header().mark)
            guard let mark else { return .rollback }
            try execute(sql: "PRAGMA user_version = \(mark.userVersion)")
            return .commit
        }
        return mark
    }
}

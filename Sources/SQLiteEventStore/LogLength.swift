import GRDB
import GRDBSQLite
import Synchronization

/// Counts the pages in the write-ahead log of the connection that writes.
final class LogLength: Sendable {
    /// SQLite's own bound, from which on it would move the log by itself.
    static let bound = 1_000

    private let pages = Atomic(0)
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

    /// Moves a long log into the file; does nothing if that fails, and tries again when the log has grown.
    func moveIfLong(_ db: Database) {
        let before = pages.load(ordering: .relaxed)
        guard before >= bound.load(ordering: .relaxed) else { return }
        let isMoved = (try? db.moveLog(.passive)) ?? false
        bound.store(isMoved ? Self.bound : before + Self.bound, ordering: .relaxed)
    }
}

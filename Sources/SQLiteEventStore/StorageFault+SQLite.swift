import EventStorage
import GRDB

extension StorageFault {
    /// Translates an SQLite error into a storage fault; `context`, the attempted action, precedes its message.
    init(_ error: any Error, context: String? = nil) {
        let prefix = context.map { "\($0): " } ?? ""
        switch error {
        case let fault as StorageFault:
            self = fault
        case let error as DatabaseError:
            // The error's own description would include the statement's arguments; its message does not.
            let result = error.extendedResultCode
            let message = result == .SQLITE_IOERR_SHMSIZE ? "the disk is full" : error.message ?? "\(result)"
            let cause = Cause(code: "\(result.rawValue)", message: prefix + message)
            self = Self.fault(error.resultCode, extended: result, cause)
        case is RowDecodingError:
            self = .corrupt(Cause(message: prefix + "a column does not hold what was written into it"))
        default:
            self = .rejected(Cause(message: prefix + "\(type(of: error))"))
        }
    }

    /// The fault for one of SQLite's result codes (https://sqlite.org/rescode.html).
    private static func fault(_ code: ResultCode, extended: ResultCode, _ cause: Cause) -> StorageFault {
        switch code {
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_SCHEMA:
            .transient(cause)
        case .SQLITE_FULL, .SQLITE_NOMEM:
            .exhausted(cause)
        case .SQLITE_IOERR:
            // There is no room for the index of the write-ahead log.
            [.SQLITE_IOERR_NOMEM, .SQLITE_IOERR_SHMSIZE].contains(extended) ? .exhausted(cause) : .unreachable(cause)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOLFS:
            .unreachable(cause)
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT:
            .corrupt(cause)
        default:
            .rejected(cause)
        }
    }

    /// The fault of a commit that failed.
    ///
    /// A commit that failed because of a lock was not begun. After any other failure the write-ahead log may still hold
    /// the commit, which takes effect if the machine crashes before the next commit overwrites it.
    var ofCommit: StorageFault {
        switch self {
        case .transient, .closed, .outcomeUnknown: self
        case .unreachable(let cause), .exhausted(let cause), .rejected(let cause), .corrupt(let cause):
            .outcomeUnknown(cause)
        }
    }
}

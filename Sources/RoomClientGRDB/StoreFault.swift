import Foundation
import GRDB

/// Why a ``DatabaseStore`` could not be opened, read or written.
///
/// The client reports it as the `cause` of a `ClientError` with the code `store`.
public struct StoreFault: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is; codes may be added.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code as text.
        public let rawValue: String

        /// Any code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code.
        public var description: String { rawValue }

        /// Another store of this process or of another one has the file open.
        public static let inUse = Self(rawValue: "in_use")
        /// The file is damaged, or is no SQLite database.
        ///
        /// It may be deleted with ``DatabaseStore/removeFiles(at:)``; the commands in it are lost then.
        public static let corrupt = Self(rawValue: "corrupt")
        /// The file is an SQLite database of another program; it has not been changed.
        public static let foreign = Self(rawValue: "foreign")
        /// A newer release has written the file; it has not been changed.
        public static let newer = Self(rawValue: "newer")
        /// The directory, the file or the Keychain cannot be used: a permission is missing, a disk has failed, or the
        /// device is locked.
        public static let unreachable = Self(rawValue: "unreachable")
        /// There is no space on the disk; nothing was changed.
        public static let full = Self(rawValue: "full")
        /// The store has been closed.
        public static let closed = Self(rawValue: "closed")
        /// Anything else.
        public static let failed = Self(rawValue: "failed")
    }

    /// What kind of failure it is.
    public var code: Code
    /// A sentence for people, in English, with the path of the file.
    public var message: String
    /// What lies below.
    public var cause: (any Error)?

    /// A fault.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension StoreFault {
    /// A fault of SQLite (https://sqlite.org/rescode.html), or one that was thrown on the way.
    init(_ error: any Error, path: String) {
        switch error {
        case let fault as StoreFault:
            self = fault
        case let error as DatabaseError:
            let text = "\(error.message ?? "unknown error") (\(error.extendedResultCode.rawValue))"
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT:
                self.init(.corrupt, "the file \(path) is damaged or is no database: \(text)", cause: error)
            case .SQLITE_FULL:
                self.init(.full, "there is no space for the file \(path): \(text)", cause: error)
            case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOLFS:
                self.init(.unreachable, "the file \(path) cannot be read or written: \(text)", cause: error)
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                self.init(.inUse, "another program is writing to the file \(path): \(text)", cause: error)
            default:
                self.init(.failed, "the file \(path) cannot be used: \(text)", cause: error)
            }
        case is RowDecodingError:
            self.init(.corrupt, "the file \(path) is damaged: a column has another type", cause: error)
        default:
            self.init(.failed, "the file \(path) cannot be used: \(type(of: error))", cause: error)
        }
    }

    /// A system call that has just failed on this thread.
    static func ofSystem(_ what: String) -> StoreFault {
        let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        let code: Code = [.ENOSPC, .EDQUOT].contains(error.code) ? .full : .unreachable
        // The text belongs to the C library, and is copied at once.
        let text = unsafe String(cString: strerror(error.code.rawValue))
        return StoreFault(code, "\(what): \(text)", cause: error)
    }
}

import Foundation

/// The right to use a store's file, for one store on one machine at a time.
///
/// It is an advisory lock (`flock`) of a file beside the database, which holds the number of the process. The system
/// releases it when the process ends, however it ends. The file is never deleted: of two processes, one could have the
/// lock of the deleted file, and the other that of a new one.
struct FileLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock; does not wait for it.
    init(_ path: String) throws(StoreFault) {
        // The path is a C string for the length of the call.
        let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .ofSystem("the file \(path) cannot be opened") }
        guard Self.lock(descriptor) else {
            let isTaken = errno == EWOULDBLOCK
            let fault = StoreFault.ofSystem("the file \(path) cannot be locked")
            let owner = Self.owner(descriptor)
            close(descriptor)
            throw isTaken ? Self.taken(path, by: owner) : fault
        }
        self.descriptor = descriptor
        Self.write("\(getpid())\n", descriptor)
    }

    deinit {
        // A child that is being started has the descriptor too, until it runs its program: closing would not be enough.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func lock(_ descriptor: Int32) -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    private static func taken(_ path: String, by owner: Int32?) -> StoreFault {
        let database = path.hasSuffix(suffix) ? String(path.dropLast(suffix.count)) : path
        let user =
            switch owner {
            case getpid(): "this process"
            case let owner?: "process \(owner)"
            case nil: "another process"
            }
        return StoreFault(.inUse, "the store \(database) is in use by \(user)")
    }

    /// What the name of the lock's file has after that of the database.
    static let suffix = "-lock"

    /// The number of the process that wrote itself into the file, for a message only.
    private static func owner(_ descriptor: Int32) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        // The buffer is as long as the call is told.
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress, $0.count, 0) }
        return Int32(String(decoding: bytes.prefix { $0 != 0x0a }, as: UTF8.self)).flatMap { count > 0 ? $0 : nil }
    }

    private static func write(_ text: String, _ descriptor: Int32) {
        let bytes = [UInt8](text.utf8)
        guard ftruncate(descriptor, 0) == 0 else { return }
        // The buffer is as long as the call is told. Without the number, messages only lack it.
        _ = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    }
}

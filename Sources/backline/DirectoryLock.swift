import Glibc
import SystemCalls

/// Keeps other processes from writing a directory's store: a server's state in memory must match the store.
///
/// The system releases the lock when the process ends, however it ends.
struct DirectoryLock: ~Copyable {
    private let descriptors: [Int32]

    /// Takes the lock of an existing directory, and that of a file in it, which may have other names; makes the file if
    /// it does not exist.
    ///
    /// The file is closed with the lock, which ends the locks that SQLite has on it: the store must be closed by then.
    init(_ directory: String, file: String) throws(Failure) {
        var descriptors: [Int32] = []
        for path in [directory + "/serve.lock", directory + "/" + file] {
            // The path is a C string for the duration of the call.
            let descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
            if descriptor >= 0 { descriptors.append(descriptor) }
            let error = SystemError.current
            let isLocked = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0
            guard !isLocked else { continue }
            for descriptor in descriptors { _ = close(descriptor) }
            guard descriptor >= 0 else { throw Failure("--data: \(path) cannot be opened: \(error)", error) }
            throw .unavailable("a server or a tool that writes uses the embedded store in \(directory): stop it first")
        }
        self.descriptors = descriptors
    }

    deinit {
        for descriptor in descriptors { _ = close(descriptor) }
    }
}

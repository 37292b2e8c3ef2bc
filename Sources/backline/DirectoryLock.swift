import Glibc

/// Keeps other processes from writing a directory's store: a server's state in memory must match the store.
///
/// The system releases the lock when the process ends, however it ends.
struct DirectoryLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock of an existing directory.
    init(_ directory: String) throws(Failure) {
        let path = directory + "/serve.lock"
        // The path is a C string for the duration of the call.
        descriptor = unsafe open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .usage("--data: \(path) cannot be opened") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            _ = close(descriptor)
            throw .unavailable("a server or a tool that writes uses the embedded store in \(directory): stop it first")
        }
    }

    deinit {
        _ = close(descriptor)
    }
}

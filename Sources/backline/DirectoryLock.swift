import Glibc

/// Keeps a second server off a directory: what one server knows of an embedded store, another one must not change.
///
/// The system gives the lock back when the process ends, however it ends.
struct DirectoryLock: ~Copyable {
    private let descriptor: Int32

    /// Takes the lock of a directory that exists.
    init(_ directory: String) throws(Failure) {
        let path = directory + "/serve.lock"
        // The path is a C string for the length of the call.
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

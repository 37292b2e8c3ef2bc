import Foundation

/// The files of a store, and their permissions.
struct StoreFiles {
    /// The absolute path of the database.
    let path: String

    init(_ path: String) { self.path = URL(filePath: path).standardizedFileURL.path }

    var lockPath: String { path + FileLock.suffix }

    /// The database, and what SQLite keeps beside it.
    private var files: [String] { ["", "-wal", "-shm"].map { path + $0 } }

    /// Makes the directory and its parents, as far as they do not exist.
    func makeDirectory() throws(StoreFault) {
        let directory = URL(filePath: path).deletingLastPathComponent().pathComponents
        for count in directory.indices.dropFirst() {
            let parent = "/" + directory[1...count].joined(separator: "/")
            // The pointers that C takes and gives do not outlive these expressions.
            guard unsafe mkdir(parent, 0o700) != 0, errno != EEXIST else { continue }
            let fault = StoreFault.ofSystem("the directory \(parent) cannot be made")
            // What exists may also be told by another error: a parent of an app's container may not be looked at.
            guard unsafe access(parent, F_OK) != 0 else { continue }
            throw fault
        }
    }

    /// Makes the file if it does not exist, and makes all files the owner's alone.
    ///
    /// SQLite gives the files beside the database its mode. A file that exists is not opened: closing it would take
    /// locks of SQLite in this process away (https://sqlite.org/howtocorrupt.html, 2.2).
    func keepToOwner() throws(StoreFault) {
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { close(descriptor) }
        for file in files {
            var status = stat()
            // The structure is filled during the call.
            guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0
            else { continue }
            guard unsafe chmod(file, 0o600) != 0, errno != EROFS else { continue }
            throw .ofSystem("the mode of \(file) cannot be changed")
        }
    }

    /// Deletes the database and what is beside it, but for the lock.
    func remove() throws(StoreFault) {
        // The log before the database: SQLite would apply it to another database of this name.
        for file in files.reversed() {
            guard unsafe unlink(file) != 0, errno != ENOENT else { continue }
            throw .ofSystem("the file \(file) cannot be deleted")
        }
    }
}

internal import Glibc
import SystemCalls

/// Identifies one version of a file.
struct FileVersion: Equatable, Sendable {
    private let device: UInt
    private let inode: UInt
    private let size: Int
    /// When its content, owner or permissions last changed: unlike the time of the content, nobody can set it.
    private let changed: [Int]

    /// The file that a path, also one of symbolic links, leads to; nil if it cannot be found.
    ///
    /// Blocks.
    init?(of path: String) {
        var status = stat()
        // The structure is filled during the call.
        guard unsafe stat(path, &status) == 0 else { return nil }
        (device, inode, size) = (UInt(status.st_dev), UInt(status.st_ino), status.st_size)
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

/// The file operations that certificates need; all of them block.
enum Files {
    /// The most bytes read from one file: no certificate or key is nearly as large.
    static let sizeLimit = 1 << 20

    /// Checks that a path leads to a file that can be opened for reading, so that a missing file, a directory and what
    /// would have to be waited for are distinguished from an invalid file.
    static func requireReadable(_ path: String, upTo size: Int = .max) throws(TLSFault) {
        let descriptor = try open(path, O_NONBLOCK)
        defer { _ = close(descriptor) }
        var status = stat()
        // The structure is filled during the call.
        guard unsafe fstat(descriptor, &status) == 0 else { throw .file(path: path, .current) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegularFile(path: path) }
        guard status.st_size <= size else { throw .file(path: path, SystemError(code: EFBIG)) }
    }

    /// Reads a file; `nil` if it does not exist.
    static func contents(_ path: String) throws(TLSFault) -> [UInt8]? {
        let descriptor: Int32
        do {
            descriptor = try open(path)
        } catch {
            if case .file(_, let reason) = error, reason.code == ENOENT { return nil }
            throw error
        }
        defer { _ = close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < sizeLimit {
            // Reads at most as many bytes as the array has.
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { throw .file(path: path, .current) }
        }
        return bytes
    }

    /// Makes a directory and its parents, accessible only to the user; existing ones are left as they are.
    static func makeDirectory(_ path: String) throws(TLSFault) {
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += part
            if unsafe mkdir(made, 0o700) != 0, errno != EEXIST { throw .file(path: made, .current) }
            made += "/"
        }
    }

    /// Writes a file atomically: it appears under its name complete or not at all.
    ///
    /// A file of that name is replaced, or left alone if `replacing` is false.
    static func write(_ bytes: [UInt8], to path: String, mode: mode_t, replacing: Bool) throws(TLSFault) {
        let temporary = "\(path).\(getpid()).\(UInt32.random(in: .min ... .max))"
        let descriptor = create(temporary, mode)
        guard descriptor >= 0 else { throw .file(path: path, .current) }
        defer { _ = unsafe unlink(temporary) }
        do throws(SystemError) {
            defer { _ = close(descriptor) }
            try writeAll(bytes, to: descriptor)
            if fsync(descriptor) != 0 { throw .current }
        } catch {
            throw .file(path: path, error)
        }
        let placed =
            replacing ? unsafe rename(temporary, path) == 0 : unsafe link(temporary, path) == 0 || errno == EEXIST
        if !placed { throw .file(path: path, .current) }
    }

    /// Makes a file readable by its owner only; a file of another owner is left as it is.
    static func keepToOwner(_ path: String) {
        var status = stat()
        // The structure is filled during the call.
        guard unsafe stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        _ = unsafe chmod(path, status.st_mode & 0o700)
    }

    private static func open(_ path: String, _ flags: Int32 = 0) throws(TLSFault) -> Int32 {
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { throw .file(path: path, .current) }
        return descriptor
    }

    private static func create(_ path: String, _ mode: mode_t) -> Int32 {
        unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Self.write(descriptor, $0) }
            if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw .current }
        }
    }
}

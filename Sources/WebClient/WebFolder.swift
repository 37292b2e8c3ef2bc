import Glibc
package import SystemCalls

/// A folder from which the page is served while it is changed: each request reads its file anew.
///
/// Only regular files of known types are served whose real path lies in the folder and has no hidden part: no link
/// leads out, and nothing but a regular file is ever opened for reading. All operations block.
package struct WebFolder: Sendable {
    /// The reason for which there is no file.
    package enum Fault: Error, Equatable {
        /// There is none of this path that may be served.
        case notFound
        /// The file changes so fast that no whole one was read.
        case changing
    }

    /// The most bytes of a file; a longer one is not served.
    package static let sizeLimit = 8 << 20
    /// The most entries of the folder that are looked at for its version.
    static let entryLimit = 10_000
    /// The most times a file is read that changes meanwhile.
    private static let attempts = 5

    /// Linux' `O_PATH`, which neither waits for a writer of a FIFO nor wakes a device.
    private static let pathOnly: Int32 = 0o10_000_000

    /// The folder's real path.
    package let root: String

    /// Takes the folder at `path`; a relative path is one in the current directory.
    package init(_ path: String) throws(SystemError) {
        guard let real = unsafe realpath(path, nil) else { throw .current }
        defer { unsafe free(real) }
        root = unsafe String(cString: real)
        var status = stat()
        guard unsafe stat(root, &status) == 0 else { throw .current }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(code: ENOTDIR) }
        guard unsafe access(root, R_OK | X_OK) == 0 else { throw .current }
    }

    /// Reads the file of a path, as it is now.
    package func file(at path: String) throws(Fault) -> WebFile {
        guard WebPath.isValid(path), let type = WebFileType(path: path) else { throw .notFound }
        var bytes = try contents(of: path)
        if WebFiles.namesVersion(path) { bytes = WebFiles.filled(bytes, version: version()) }
        return WebFile(type: type, bytes: bytes)
    }

    private func contents(of path: String) throws(Fault) -> [UInt8] {
        let place = unsafe open("\(root)/\(path)", Self.pathOnly | O_CLOEXEC)
        guard place >= 0 else { throw .notFound }
        defer { _ = close(place) }
        var status = stat()
        guard unsafe fstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG, isInside(place) else {
            throw .notFound
        }
        for _ in 0..<Self.attempts {
            // What was checked is opened, whatever its path leads to by now.
            let file = unsafe open("/proc/self/fd/\(place)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
            guard file >= 0 else { throw .notFound }
            defer { _ = close(file) }
            guard unsafe fstat(file, &status) == 0, status.st_size <= Self.sizeLimit else { throw .notFound }
            let before = Stamp(status)
            guard let bytes = Self.read(file) else { throw .notFound }
            if unsafe fstat(file, &status) == 0, Stamp(status) == before, bytes.count == before.size { return bytes }
        }
        throw .changing
    }

    /// Whether the real path of an open file lies in the folder and may be served.
    private func isInside(_ place: Int32) -> Bool {
        guard let real = Self.target(of: "/proc/self/fd/\(place)"), real.hasPrefix(prefix) else { return false }
        let inner = real.dropFirst(prefix.count)
        return WebPath.isValid(inner) && WebFileType(path: inner) != nil
    }

    private var prefix: String { root == "/" ? root : root + "/" }

    private static func target(of link: String) -> String? {
        var text = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &text, text.count)
        guard count > 0, count < text.count else { return nil }
        return String(validating: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Reads to the end; nil on an error, and beyond the limit.
    private static func read(_ file: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= sizeLimit {
            let count = unsafe Glibc.read(file, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { return nil }
        }
        return nil
    }
}

/// The fields of a file's status that change whenever the file does.
struct Stamp: Equatable {
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    init(_ status: stat) {
        size = status.st_size
        seconds = status.st_mtim.tv_sec
        nanoseconds = status.st_mtim.tv_nsec
    }
}

import Glibc
import NIOPosix

/// A file or standard output that is written in order, on a thread that may block.
struct OutputStream {
    private let descriptor: Int32
    private let name: String

    /// Standard output.
    static let standard = OutputStream(descriptor: STDOUT_FILENO, name: "standard output")

    private init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Makes a new file that only its owner may read.
    init(creating path: String) throws(Failure) {
        // The path is a C string for the duration of the call.
        descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        name = path
        guard descriptor >= 0 else { throw .usage("--out: \(path) cannot be made: \(Self.error(errno))") }
    }

    /// Writes all bytes; false if the reader is gone.
    func write(_ bytes: [UInt8]) async throws -> Bool {
        let code = try await NIOThreadPool.singleton.runIfActive { [descriptor] in Self.write(bytes, to: descriptor) }
        guard code != EPIPE else { return false }
        guard code == 0 else { throw Failure.unavailable("\(name) cannot be written: \(Self.error(code))") }
        return true
    }

    /// Waits until everything written is on the disk.
    func finish() async throws {
        guard descriptor != STDOUT_FILENO else { return }
        let code = try await NIOThreadPool.singleton.runIfActive { [descriptor] in fsync(descriptor) == 0 ? 0 : errno }
        guard code == 0 else { throw Failure.unavailable("\(name) cannot be written: \(Self.error(code))") }
        _ = close(descriptor)
    }

    /// Whether the reader of the stream is gone.
    var isAbandoned: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        // The structure is used during the call only.
        return unsafe poll(&state, 1, 0) == 1 && Int32(state.revents) & (POLLERR | POLLHUP) != 0
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The pointer does not leave the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 {
                guard errno == EINTR else { return errno }
                continue
            }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    fileprivate static func error(_ code: Int32) -> String {
        // The string belongs to the system and is copied.
        unsafe String(cString: strerror(code))
    }
}

/// A file or standard input that is read line by line, on a thread that may block.
struct LineReader: ~Copyable {
    /// The longest line; an event of 500 tracks with the longest texts has some 7 MB.
    private static let longestLine = 1 << 25
    private static let chunk = 1 << 16

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    /// The start of the next line.
    private var start = 0
    /// The position up to which no line feed was found.
    private var searched = 0
    private var hasEnded = false

    /// Opens a file; nil means standard input.
    init(_ path: String?) throws(Failure) {
        guard let path, path != "-" else {
            descriptor = STDIN_FILENO
            name = "standard input"
            return
        }
        // The path is a C string for the duration of the call.
        descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        name = path
        guard descriptor >= 0 else { throw .usage("\(path) cannot be read: \(OutputStream.error(errno))") }
    }

    deinit {
        if descriptor != STDIN_FILENO { _ = close(descriptor) }
    }

    /// Returns the next line without its line feed; nil at the end.
    ///
    /// A last line may lack its line feed.
    mutating func next() async throws -> ArraySlice<UInt8>? {
        while true {
            if let end = buffer[searched...].firstIndex(of: 0x0A) {
                defer {
                    start = end + 1
                    searched = start
                }
                return buffer[start..<end]
            }
            searched = buffer.count
            guard !hasEnded else {
                defer { start = buffer.count }
                return start < buffer.count ? buffer[start...] : nil
            }
            guard buffer.count - start <= Self.longestLine else {
                throw Failure.data("\(name): a line is longer than \(Self.longestLine) bytes: this is not an export")
            }
            try await readMore()
        }
    }

    private mutating func readMore() async throws {
        buffer.removeFirst(start)
        searched -= start
        start = 0
        let result = try await NIOThreadPool.singleton.runIfActive { [descriptor] in Self.read(descriptor) }
        switch result {
        case .success(let bytes):
            hasEnded = bytes.isEmpty
            buffer += bytes
        case .failure(let error): throw Failure.unavailable("\(name) cannot be read: \(OutputStream.error(error.code))")
        }
    }

    private struct ReadError: Error {
        let code: Int32
    }

    private static func read(_ descriptor: Int32) -> Result<[UInt8], ReadError> {
        while true {
            var code: Int32 = 0
            // The pointer does not leave the call.
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
                let read = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                code = read < 0 ? errno : 0
                count = max(0, read)
            }
            guard code == EINTR else { return code == 0 ? .success(bytes) : .failure(ReadError(code: code)) }
        }
    }
}

import Glibc
import SystemCalls

/// The folder in which the program remembers servers, sessions and rooms: `$XDG_CONFIG_HOME/backline`, else
/// `~/.config/backline`.
///
/// The folder and its file are the user's alone (0700, 0600): a token in it is as good as a password. The file is
/// replaced whole, under a lock, so that two commands at the same time lose nothing.
struct ConfigurationFolder: Sendable {
    /// Empty where the environment names no folder: then nothing is remembered, and nothing can be.
    let path: String

    private var file: String { path + "/terminal.json" }

    init(path: String) { self.path = path }

    /// The folder that the environment names.
    init(environment: [String: String]) {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            path = folder + "/backline"
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            path = home + "/.config/backline"
        } else {
            path = ""
        }
    }

    /// Throws if nothing can be remembered.
    func check() throws(TerminalFailure) {
        guard path.isEmpty else { return }
        throw .usage(
            "there is no folder for settings: HOME or XDG_CONFIG_HOME must name one, or BACKLINE_TOKEN a session")
    }

    /// What is remembered; nothing if there is no file yet.
    func load() throws(TerminalFailure) -> Configuration {
        guard !path.isEmpty, let bytes = try contents() else { return Configuration() }
        do {
            return try Configuration.read(bytes)
        } catch {
            throw .unavailable("\(file) cannot be read: correct it, or remove it to begin anew")
        }
    }

    /// Changes what is remembered, and returns it as it is then.
    @discardableResult
    func update(_ body: (inout Configuration) -> Void) throws(TerminalFailure) -> Configuration {
        try check()
        try makeFolder()
        let lock = try open(path + "/lock", O_CREAT | O_RDWR)
        defer { _ = close(lock) }
        while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw failure(path + "/lock", .current) } }
        let before = try load()
        var configuration = before
        body(&configuration)
        guard configuration != before else { return before }
        let bytes: [UInt8]
        do {
            bytes = try configuration.encoded()
        } catch {
            throw .unavailable("the settings cannot be written: \(error)")
        }
        try replace(with: bytes)
        return configuration
    }

    private func makeFolder() throws(TerminalFailure) {
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            // The path is a C string for the duration of the call.
            if unsafe mkdir(made, 0o700) != 0, errno != EEXIST { throw failure(made, .current) }
        }
        var status = stat()
        // The structure is filled during the call.
        guard unsafe stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return }
        _ = unsafe chmod(path, 0o700)
    }

    private func contents() throws(TerminalFailure) -> [UInt8]? {
        // The path is a C string for the duration of the call.
        let descriptor = unsafe Glibc.open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let error = SystemError.current
            if error.code == ENOENT { return nil }
            throw failure(file, error)
        }
        defer { _ = close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while bytes.count < 1 << 20 {
            // Reads at most as many bytes as the array has.
            let count = unsafe read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { throw failure(file, .current) }
        }
        return bytes
    }

    private func replace(with bytes: [UInt8]) throws(TerminalFailure) {
        let temporary = "\(file).\(getpid())"
        // What a command that was killed has left behind.
        _ = unsafe unlink(temporary)
        let descriptor = try open(temporary, O_CREAT | O_EXCL | O_WRONLY)
        defer { _ = unsafe unlink(temporary) }
        do {
            defer { _ = close(descriptor) }
            var rest = bytes[...]
            while !rest.isEmpty {
                // The pointer does not leave the call.
                let count = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    throw failure(file, .current)
                }
            }
            guard fsync(descriptor) == 0 else { throw failure(file, .current) }
        }
        guard unsafe rename(temporary, file) == 0 else { throw failure(file, .current) }
    }

    private func open(_ path: String, _ flags: Int32) throws(TerminalFailure) -> Int32 {
        // The path is a C string for the duration of the call.
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(path, .current) }
        return descriptor
    }

    private func failure(_ path: String, _ error: SystemError) -> TerminalFailure {
        .unavailable("\(path): \(error)")
    }
}

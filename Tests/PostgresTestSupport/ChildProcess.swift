import CSpawn
import Glibc

/// A program started by the tests.
///
/// It is not Foundation's `Process`, which considers a program running as long as any of its descendants runs, and so
/// would wait for the server that `pg_ctl` leaves behind.
struct ChildProcess {
    private let id: pid_t

    /// Starts a program, found in `PATH`; its standard error goes to `output` too.
    init(_ command: [String], input: borrowing OwnedDescriptor, output: borrowing OwnedDescriptor) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.number, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.number, 2)
        // The folder of the tests may be closed to the user that PostgreSQL runs as, whose programs would complain.
        unsafe posix_spawn_file_actions_addchdir_np(&actions, "/")
        // A server would hold the sockets of other tests: their ports would go on accepting, and their connections stay.
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        // The strings live until they are freed below, after the call has copied them.
        let arguments = unsafe command.map { unsafe strdup($0) }
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var id = pid_t()
        let result = unsafe posix_spawnp(&id, command[0], &actions, nil, arguments + [nil], environ)
        guard result == 0 else {
            throw PostgresClusterError(description: "cannot start \(command[0]): errno \(result)")
        }
        self.id = id
    }

    /// Waits for the program's end; true if it succeeded.
    func wait() -> Bool {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return false }
        }
        // It exited, with 0.
        return status == 0
    }
}

/// A descriptor that is closed with its owner.
struct OwnedDescriptor: ~Copyable, Sendable {
    /// The descriptor.
    let number: Int32

    deinit { close(number) }

    /// Reads up to the end.
    func readAll() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            // The buffer is written to during the call only.
            let count = unsafe read(number, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }
}

/// A pipe that programs do not inherit unless told to.
struct PipeEnds: ~Copyable {
    /// The end for reading.
    let reading: OwnedDescriptor
    /// The end for writing.
    let writing: OwnedDescriptor

    init() throws {
        var ends: [Int32] = [-1, -1]
        // Unlike `pipe`, it never leaves them open to a program that is started meanwhile. The two numbers are written
        // during the call only.
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw PostgresClusterError(description: "cannot make a pipe: errno \(errno)")
        }
        reading = OwnedDescriptor(number: ends[0])
        writing = OwnedDescriptor(number: ends[1])
    }

    /// Closes the other end.
    consuming func readingEnd() -> OwnedDescriptor { reading }

    /// Closes the other end.
    consuming func writingEnd() -> OwnedDescriptor { writing }
}

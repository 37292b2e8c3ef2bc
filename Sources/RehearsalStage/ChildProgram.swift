import Glibc
import SystemCalls

/// A program under test, with pipes to its standard streams, in a process group of its own.
///
/// It is ended with everything that it has started. Confined to one thread.
final class ChildProgram {
    let id: pid_t
    /// The ends of the pipes that are this program's: whoever takes one closes it.
    let input, output, errors: Int32
    /// Its exit as `waitpid` tells it, once it has been waited for.
    private(set) var status: Int32?

    /// Starts a program, found in `PATH`.
    init(_ command: [String]) throws(SystemError) {
        let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
        Self.keepToOneself()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.reading, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, output.writing, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, errors.writing, 2)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
        // This program ignores SIGPIPE; a program under test need not.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        // The strings live until they are freed below, after the call has copied them.
        let arguments = unsafe command.map { unsafe strdup($0) }
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var id = pid_t()
        let result = unsafe posix_spawnp(&id, command[0], &actions, &attributes, arguments + [nil], environ)
        for descriptor in [input.reading, output.writing, errors.writing] { close(descriptor) }
        guard result == 0 else {
            for descriptor in [input.writing, output.reading, errors.reading] { close(descriptor) }
            throw SystemError(code: result)
        }
        (self.id, self.input, self.output, self.errors) = (id, input.writing, output.reading, errors.reading)
    }

    /// Marks what is open here as not to be inherited: a connection of another conversation that a program held too would
    /// not end when it is closed here.
    private static func keepToOneself() {
        // More than 64 conversations at a time can have open, with 200 connections each.
        for descriptor in Int32(3)..<16_384 where fcntl(descriptor, F_GETFD) == 0 {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    private struct Pipe {
        let reading, writing: Int32

        init() throws(SystemError) {
            var ends: [Int32] = [-1, -1]
            // The two numbers are written during the call only.
            guard unsafe pipe(&ends) == 0 else { throw .current }
            // Programs are started on this thread only, so that none inherits them in between.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (ends[0], ends[1])
        }
    }

    /// Ends it and what it has started, at once.
    func kill() {
        guard status == nil else { return }
        _ = Glibc.kill(-id, SIGKILL)
    }

    /// Whether it has ended; never waits.
    func hasEnded() -> Bool {
        guard status == nil else { return true }
        var status: Int32 = 0
        // The number is written during the call only.
        guard unsafe waitpid(id, &status, WNOHANG) != 0 else { return false }
        self.status = status
        // What it has started and left behind.
        _ = Glibc.kill(-id, SIGKILL)
        return true
    }

    /// How it has ended, for a message.
    var ending: String {
        guard let status else { return "it has closed its standard output" }
        // The lowest seven bits are the signal, the next eight the exit code.
        return status & 0x7F == 0 ? "exit code \(status >> 8 & 0xFF)" : "signal \(status & 0x7F)"
    }
}

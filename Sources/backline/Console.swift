import Glibc
import LogOutput

/// The program's messages to the person or script that started it.
///
/// Logs go to standard error as well; scripts rely on standard output. Failed writes are ignored.
enum Console {
    /// The queue of log lines for standard error.
    static let log = LogQueue(descriptor: STDERR_FILENO)

    /// The time for which the end of the program waits for the readers of its outputs.
    static let lastWords = Duration.seconds(2)

    /// Writes one line to standard output and waits as long as needed.
    static func print(_ line: String) {
        write(line, to: STDOUT_FILENO, waiting: -1)
    }

    /// Writes one line to standard output; drops it if nobody reads for two seconds.
    static func announce(_ line: String) {
        write(line, to: STDOUT_FILENO, waiting: 2_000)
    }

    /// Writes one line to standard error; drops it if nobody reads for two seconds.
    static func error(_ line: String) {
        write("backline: " + line, to: STDERR_FILENO, waiting: 2_000)
    }

    /// Writes a line; waits `waiting` milliseconds while the descriptor accepts nothing, or for ever if it is -1.
    private static func write(_ line: String, to descriptor: Int32, waiting: Int32) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // The structure is used during the call only.
            let ready = unsafe poll(&state, 1, waiting)
            if ready < 0, errno == EINTR { continue }
            guard ready != 0 else { return }
            // A pipe that is ready accepts this many bytes without blocking. The pointer does not leave the call.
            let piece = rest.prefix(Int(PIPE_BUF))
            let count = unsafe piece.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count <= 0 else {
                rest = rest.dropFirst(count)
                continue
            }
            guard errno == EINTR || errno == EAGAIN else { return }
        }
    }
}

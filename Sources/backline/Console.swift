import Glibc
import LogOutput

/// What the program says to who started it.
///
/// Logs go to standard error as well; scripts rely on standard output. Where writing fails, nothing happens.
enum Console {
    /// The log's lines on their way to standard error.
    static let log = LogQueue(descriptor: STDERR_FILENO)

    /// How long the end of the program waits for whoever reads its outputs.
    static let lastWords = Duration.seconds(2)

    /// One line on standard output, at once.
    static func print(_ line: String) {
        write(line, to: STDOUT_FILENO, waiting: -1)
    }

    /// One line on standard output; dropped where nobody reads for two seconds.
    static func announce(_ line: String) {
        write(line, to: STDOUT_FILENO, waiting: 2_000)
    }

    /// One line on standard error; dropped where nobody reads for two seconds.
    static func error(_ line: String) {
        write("backline: " + line, to: STDERR_FILENO, waiting: 2_000)
    }

    /// Writes a line, waiting for so many milliseconds while the descriptor takes nothing; -1: for ever.
    private static func write(_ line: String, to descriptor: Int32, waiting: Int32) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            // The structure is used during the call only.
            let ready = unsafe poll(&state, 1, waiting)
            if ready < 0, errno == EINTR { continue }
            guard ready != 0 else { return }
            // A pipe that is ready takes so many without blocking. The pointer does not leave the call.
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

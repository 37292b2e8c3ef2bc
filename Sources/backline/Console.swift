import Glibc

/// What the program says to who started it.
///
/// Logs go to standard error as well; scripts rely on standard output.
enum Console {
    /// One line on standard output, at once.
    static func print(_ line: String) {
        write(line, to: STDOUT_FILENO)
    }

    /// One line on standard error.
    static func error(_ line: String) {
        write("backline: " + line, to: STDERR_FILENO)
    }

    private static func write(_ line: String, to descriptor: Int32) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            // The pointer does not leave the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

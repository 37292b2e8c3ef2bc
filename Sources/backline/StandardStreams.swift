import Glibc

/// Standard input, output and error as the program was given them, which may be broken or closed.
enum StandardStreams {
    /// To be called before anything is opened or written.
    ///
    /// A reader that has gone, and a file that has reached its limit, are errors of the write then and end nothing. A
    /// stream that is closed is opened so that its use fails: else the next file that is opened, such as the event log,
    /// would take its number and get the program's log.
    static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        _ = signal(SIGXFSZ, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number, which is this one. The path is a C string for the length of the call.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

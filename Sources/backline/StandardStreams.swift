import Glibc

/// Standard input, output and error as the program was given them; they may be broken or closed.
enum StandardStreams {
    /// Prepares the streams; must be called before anything is opened or written.
    ///
    /// A missing reader, or a file that has reached its size limit, then makes a write fail instead of ending the
    /// process. A closed stream is opened in such a way that using it fails: otherwise the next opened file, such as
    /// the event log, would get its number and receive the program's log.
    static func prepare() {
        _ = signal(SIGPIPE, SIG_IGN)
        _ = signal(SIGXFSZ, SIG_IGN)
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number, which is this one. The path is a C string for the duration of the call.
            _ = unsafe open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}

import Glibc

/// Gives the terminal back when the program ends by a trap or a fault.
enum TerminalRescue {
    /// The sequences that take back what ``FullScreen`` has asked for.
    static let leaving: StaticString = "\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    /// The terminal's attributes before the program changed them.
    ///
    /// Safe: written once by ``prepare()`` before the handlers are set, and only read afterwards. It is never freed,
    /// because a handler may read it at any time.
    private nonisolated(unsafe) static let saved: UnsafeMutablePointer<termios>? = {
        let place = UnsafeMutablePointer<termios>.allocate(capacity: 1)
        unsafe place.initialize(to: termios())
        // The structure is filled during the call.
        return unsafe tcgetattr(STDIN_FILENO, place) == 0 ? place : nil
    }()

    private static let isPrepared: Bool = {
        guard unsafe saved != nil else { return false }
        for number in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE] {
            // The handler calls only functions that POSIX allows there (tcsetattr, write, signal, raise).
            _ = signal(number) { number in
                TerminalRescue.restore()
                // The string is static, and so are its bytes.
                _ = unsafe write(STDOUT_FILENO, leavingBytes, leavingCount)
                _ = signal(number, SIG_DFL)
                raise(number)
            }
        }
        return true
    }()

    // Read before the handlers are set, so that a handler initializes nothing.
    private nonisolated(unsafe) static let leavingBytes = unsafe leaving.utf8Start
    private static let leavingCount = leaving.utf8CodeUnitCount

    /// Remembers the terminal's attributes and sets the handlers, once.
    static func prepare() {
        _ = unsafe (leavingBytes, leavingCount)
        _ = isPrepared
    }

    /// Keys one by one, not echoed; Ctrl-C and Ctrl-Z go on to send signals.
    static func setRaw() {
        guard let saved = unsafe saved else { return }
        var attributes = unsafe saved.pointee
        attributes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
        attributes.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | ISTRIP)
        // The structure is read during the call.
        _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes)
    }

    /// The attributes as they were.
    static func restore() {
        if let saved = unsafe saved { _ = unsafe tcsetattr(STDIN_FILENO, TCSADRAIN, saved) }
    }
}

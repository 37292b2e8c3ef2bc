import Glibc
import UnixSignals

/// The signals by which an operator tells the server something; they are caught from the creation of this value on.
///
/// SIGUSR1 and SIGUSR2 have no meaning and are ignored: tools that rotate logs send them.
struct ServerSignals {
    private let signals: UnixSignalsSequence
    /// The terminal in which the server was started; nil: none.
    private let terminal = [STDIN_FILENO, STDERR_FILENO].first { isatty($0) == 1 }

    /// Lets nothing but a request to stop end the process before signals are caught.
    static func ignoreOthersThanStops() {
        for signal in [SIGHUP, SIGUSR1, SIGUSR2] { _ = Glibc.signal(signal, SIG_IGN) }
    }

    /// Begins to catch signals.
    init() async {
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup, .sigusr1, .sigusr2)
    }

    /// Calls `stop` at the first SIGTERM or SIGINT, and ends the process if one of them comes a second time.
    ///
    /// Calls `reload` at each SIGHUP, but `stop` where it says that the terminal is gone.
    ///
    /// Ending at once loses nothing, because everything acknowledged is in the event log. One signal of each kind
    /// counts as a single request: a terminal and a process manager may both forward it. Returns when cancelled.
    func run(stop: () async -> Void, reload: () -> Void) async {
        var received: Set<Int32> = []
        for await signal in signals {
            let number: Int32
            switch signal {
            case .sigterm: number = SIGTERM
            case .sigint: number = SIGINT
            case .sighup:
                guard let terminal, isatty(terminal) != 1 else {
                    reload()
                    continue
                }
                number = SIGHUP
            default: continue
            }
            let isFirst = received.isEmpty
            guard !received.insert(number).inserted else {
                if isFirst { await stop() }
                continue
            }
            // The program no longer handles the signal: the default action ends the process.
            _ = Glibc.signal(number, SIG_DFL)
            // Sent to the process, because this thread may have the signal blocked.
            kill(getpid(), number)
        }
    }
}

import Glibc
import UnixSignals

/// The signals with which an operator stops the server; they are caught from the creation of this value on.
struct StopSignals {
    private let signals: UnixSignalsSequence

    /// Begins to catch SIGTERM and SIGINT.
    init() async {
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    }

    /// Calls `stop` at the first SIGTERM or SIGINT; if one of them comes a second time, the process ends at once.
    ///
    /// Ending at once loses nothing, because everything acknowledged is in the event log. One signal of each kind
    /// counts as a single request: a terminal and a process manager may both forward it. Returns when cancelled.
    func run(stop: () async -> Void) async {
        var received: Set<Int32> = []
        for await signal in signals {
            let number = signal == .sigterm ? SIGTERM : SIGINT
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

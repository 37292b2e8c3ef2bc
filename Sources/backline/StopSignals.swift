import Glibc
import UnixSignals

/// The signals by which an operator stops the server: caught from when this is made.
struct StopSignals {
    private let signals: UnixSignalsSequence

    /// Begins to catch SIGTERM and SIGINT.
    init() async {
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
    }

    /// Calls `stop` at the first SIGTERM or SIGINT; one that comes a second time ends the process at once.
    ///
    /// What was acknowledged is in the event log, so that ending at once loses nothing. One of each is one wish to stop:
    /// a terminal and whoever manages the process may both pass it on. Returns when cancelled.
    func run(stop: () async -> Void) async {
        var received: Set<Int32> = []
        for await signal in signals {
            let number = signal == .sigterm ? SIGTERM : SIGINT
            let isFirst = received.isEmpty
            guard !received.insert(number).inserted else {
                if isFirst { await stop() }
                continue
            }
            // No handler of ours stands in the way any more: the default action ends the process.
            _ = Glibc.signal(number, SIG_DFL)
            // Sent to the process: this thread may have the signal blocked.
            kill(getpid(), number)
        }
    }
}

import Logging

/// Notices when the machine's time is set while the server runs.
struct ClockWatch {
    /// The difference from which on it warns, in milliseconds.
    static let tolerance = 10_000.0

    private let clock: ServerClock
    private let logger: Logger
    private var wasBehind = false

    init(_ clock: ServerClock, logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    /// Warns if the wall clock has come to lie behind the time that events have.
    mutating func look() {
        let behind = clock.milliseconds - clock.wallMilliseconds
        defer { wasBehind = behind > Self.tolerance }
        guard behind > Self.tolerance, !wasBehind else { return }
        logger.warning(
            "The machine's time was set back; events go on from the later time until the server is started again",
            metadata: ["seconds": "\(Int(behind / 1_000))"])
    }
}

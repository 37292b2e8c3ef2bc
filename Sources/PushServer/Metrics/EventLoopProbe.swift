import CoreMetrics
import NIOCore

/// Measures how late an event loop does what is due, four times a second, until ``stop()``.
///
/// Confined to its loop.
final class EventLoopProbe {
    /// Rare enough to cost nothing, often enough to meet a stall that a client would feel.
    private static let interval = TimeAmount.milliseconds(250)

    private let loop: NIOIsolatedEventLoop
    private let lag: CoreMetrics.Timer
    private var next: Scheduled<Void>?

    /// Begins to measure; call on the loop.
    init(loop: any EventLoop, lag: CoreMetrics.Timer) {
        self.loop = loop.assumeIsolated()
        self.lag = lag
        schedule()
    }

    /// Ends it; call on the loop.
    func stop() {
        next?.cancel()
        next = nil
    }

    private func schedule() {
        let due = NIODeadline.now() + Self.interval
        next = loop.scheduleTask(deadline: due) {
            self.lag.recordNanoseconds((NIODeadline.now() - due).nanoseconds)
            self.schedule()
        }
    }
}

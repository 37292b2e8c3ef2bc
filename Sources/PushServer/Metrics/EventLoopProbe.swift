import CoreMetrics
import NIOCore

/// Measures four times a second how late an event loop runs its scheduled work, until ``stop()``.
///
/// Confined to its loop.
final class EventLoopProbe {
    /// Rare enough to cost nothing, and often enough to see a stall that a client would notice.
    private static let interval = TimeAmount.milliseconds(250)

    private let loop: NIOIsolatedEventLoop
    private let lag: CoreMetrics.Timer
    private var next: Scheduled<Void>?

    /// Starts the measurement; call on the loop.
    init(loop: any EventLoop, lag: CoreMetrics.Timer) {
        self.loop = loop.assumeIsolated()
        self.lag = lag
        schedule()
    }

    /// Ends the measurement; call on the loop.
    func stop() {
        next?.cancel()
        next = nil
    }

    private func schedule() {
        let due = loop.nonisolated().now + Self.interval
        next = loop.scheduleTask(deadline: due) {
            self.lag.recordNanoseconds((self.loop.nonisolated().now - due).nanoseconds)
            self.schedule()
        }
    }
}

import CoreMetrics
import Synchronization

/// Keeps every value of `backline_statistics_lag_seconds`, and nothing of other metrics.
final class LagTimes: MetricsFactory {
    private final class Times: TimerHandler {
        let times = Mutex<[Duration]>([])

        func recordNanoseconds(_ duration: Int64) { times.withLock { $0.append(.nanoseconds(duration)) } }
    }

    private let lag = Times()

    /// Forgets what was recorded.
    func reset() { lag.times.withLock { $0 = [] } }

    /// What was recorded.
    func take() -> [Duration] { lag.times.withLock { $0 } }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        label == "backline_statistics_lag_seconds"
            ? lag : NOOPMetricsHandler.instance.makeTimer(label: label, dimensions: dimensions)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance.makeCounter(label: label, dimensions: dimensions)
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        NOOPMetricsHandler.instance.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    func destroyTimer(_: any TimerHandler) {}
    func destroyCounter(_: any CounterHandler) {}
    func destroyRecorder(_: any RecorderHandler) {}
}

import CoreMetrics
import NIOCore

/// The metrics of counting.
final class StatisticsMetrics: Sendable {
    /// The help texts of the metrics, by name.
    static let help = [
        "backline_statistics_lag_seconds":
            "Time from an event until it was counted durably, for the oldest event of each room in a flush, in seconds.",
        "backline_statistics_rooms_behind": "Rooms that this server has found uncounted, and counts from the log.",
        "backline_statistics_flush_seconds": "Time of one write of counts, in seconds.",
        "backline_statistics_conflicts_total": "Counts of one room that another server had written already.",
        "backline_statistics_dropped_tallies_total": "Counts in memory that were dropped, to be read from the log.",
        "backline_statistics_unreadable_total":
            "Times that a room could not be counted because its log cannot be read.",
    ]

    private let lag: CoreMetrics.Timer
    private let roomsBehind: Gauge
    private let flush: CoreMetrics.Timer
    private let conflicts: Counter
    private let droppedTallies: Counter
    private let unreadable: Counter

    init(factory: any MetricsFactory) {
        lag = CoreMetrics.Timer(label: "backline_statistics_lag_seconds", factory: factory)
        roomsBehind = Gauge(label: "backline_statistics_rooms_behind", factory: factory)
        flush = CoreMetrics.Timer(label: "backline_statistics_flush_seconds", factory: factory)
        conflicts = Counter(label: "backline_statistics_conflicts_total", factory: factory)
        droppedTallies = Counter(label: "backline_statistics_dropped_tallies_total", factory: factory)
        unreadable = Counter(label: "backline_statistics_unreadable_total", factory: factory)
    }

    /// Records that a room's counts became durable, so long after the oldest event in them.
    func counted(after milliseconds: Int64) { lag.recordMilliseconds(max(0, milliseconds)) }

    /// Records how many rooms are being counted from the log.
    func behind(_ rooms: Int) { roomsBehind.record(rooms) }

    /// Records a write.
    func flushed(in duration: TimeAmount) { flush.recordNanoseconds(duration.nanoseconds) }

    /// Records that another server had counted a room already.
    func conflicted() { conflicts.increment() }

    /// Records that the counts of rooms were dropped.
    func dropped(_ tallies: Int) { droppedTallies.increment(by: tallies) }

    /// Records that a room's log cannot be read.
    func failed() { unreadable.increment() }
}

import CoreMetrics
import EventStorage
import NIOCore

/// The metrics of the log: what is written, what fails, and who may write no more.
final class LogMetrics: Sendable {
    /// The help texts of the metrics, by name; `backline_rate_limited_total` is in ``RoomMetrics/help``.
    static let help = [
        "backline_append_duration_seconds": "Time of one write to the event log, failed ones included, in seconds.",
        "backline_append_rooms": "Rooms in one write to the event log.",
        "backline_append_events": "Events in one write to the event log.",
        "backline_events_appended_total": "Events that became durable; those that make a room are not counted.",
        "backline_append_conflicts_total": "Appends of one room that lost the race for its log.",
        "backline_append_failures_total": "Writes to the event log that failed, by what failed.",
    ]

    /// The owner of a share of the log that is used up, as a label.
    enum Share: String, CaseIterable {
        /// A session's share in one room.
        case room = "log_room"
        /// A session's share in all rooms.
        case session = "log_session"
        /// An address's share.
        case address = "log_address"
    }

    /// The owner of a share of what is read of logs, as a label.
    enum ReadShare: String, CaseIterable {
        case session = "reads_session"
        case address = "reads_address"
    }

    private let appendDuration: CoreMetrics.Timer
    private let appendRooms: Recorder
    private let appendEvents: Recorder
    private let eventsAppended: Counter
    private let appendConflicts: Counter
    private let appendFailures: [StorageFault.Kind: Counter]
    private let sharesUsedUp: [Share: Counter]
    private let readSharesUsedUp: [ReadShare: Counter]

    init(factory: any MetricsFactory) {
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: dimensions, factory: factory)
        }
        appendDuration = CoreMetrics.Timer(label: "backline_append_duration_seconds", factory: factory)
        appendRooms = Recorder(label: "backline_append_rooms", factory: factory)
        appendEvents = Recorder(label: "backline_append_events", factory: factory)
        eventsAppended = counter("backline_events_appended_total")
        appendConflicts = counter("backline_append_conflicts_total")
        appendFailures = eachLabel { counter("backline_append_failures_total", [("fault", $0)]) }
        sharesUsedUp = eachLabel { counter("backline_rate_limited_total", [("limit", $0)]) }
        readSharesUsedUp = eachLabel { counter("backline_rate_limited_total", [("limit", $0)]) }
    }

    // MARK: Appending

    /// Records that the store was given `batch`, and how long it took.
    func appended(_ batch: [StreamAppend], in duration: TimeAmount) {
        appendDuration.recordNanoseconds(duration.nanoseconds)
        appendRooms.record(batch.count)
        appendEvents.record(batch.reduce(0) { $0 + $1.events.count })
    }

    /// Records the outcome of one room's append.
    func appendEnded(_ outcome: AppendOutcome, events: Int) {
        switch outcome {
        case .appended: eventsAppended.increment(by: events)
        case .conflict: appendConflicts.increment()
        }
    }

    /// Records a failure of the store.
    func appendFailed(_ fault: StorageFault) {
        appendFailures[fault.kind]?.increment()
    }

    /// Records that a command was refused because a share of the log is used up.
    func shareUsedUp(_ share: Share) {
        sharesUsedUp[share]?.increment()
    }

    /// Records that a read was refused because too much was read before.
    func shareUsedUp(_ share: ReadShare) {
        readSharesUsedUp[share]?.increment()
    }
}

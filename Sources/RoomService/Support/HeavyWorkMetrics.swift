import CoreMetrics

/// What heavy work records of itself, by kind.
struct HeavyWorkMetrics: Sendable {
    /// What the metrics mean, by name.
    static let help = [
        "backline_heavy_work_running": "Work beside the event loops that runs, by kind.",
        "backline_heavy_work_waiting": "Work beside the event loops that waits for its turn, by kind.",
        "backline_heavy_work_wait_seconds": "Time from asking for work beside the event loops to its turn, by kind.",
        "backline_heavy_work_refused_total": "Work beside the event loops that was not done, by kind and reason.",
    ]

    private let running: [HeavyWorkKind: Meter]
    private let waiting: [HeavyWorkKind: Meter]
    private let waits: [HeavyWorkKind: CoreMetrics.Timer]
    private let refused: [HeavyWorkKind: [HeavyWorkRefusal: Counter]]

    init(factory: any MetricsFactory) {
        func each<Metric>(_ make: ((String, String)) -> Metric) -> [HeavyWorkKind: Metric] {
            Dictionary(uniqueKeysWithValues: HeavyWorkKind.allCases.map { ($0, make(("kind", $0.rawValue))) })
        }
        running = each { Meter(label: "backline_heavy_work_running", dimensions: [$0], factory: factory) }
        waiting = each { Meter(label: "backline_heavy_work_waiting", dimensions: [$0], factory: factory) }
        waits = each {
            CoreMetrics.Timer(label: "backline_heavy_work_wait_seconds", dimensions: [$0], factory: factory)
        }
        refused = each { kind in
            Dictionary(
                uniqueKeysWithValues: HeavyWorkRefusal.allCases.map {
                    let dimensions = [kind, ("reason", $0.rawValue)]
                    let label = "backline_heavy_work_refused_total"
                    return ($0, Counter(label: label, dimensions: dimensions, factory: factory))
                })
        }
    }

    /// Work waits for its turn.
    func beganWaiting(_ kind: HeavyWorkKind) {
        waiting[kind]?.increment()
    }

    /// Work waits no longer, whatever became of it.
    func endedWaiting(_ kind: HeavyWorkKind) {
        waiting[kind]?.decrement()
    }

    /// Work that was asked for so long ago begins.
    func began(_ kind: HeavyWorkKind, after nanoseconds: Int64) {
        running[kind]?.increment()
        waits[kind]?.recordNanoseconds(nanoseconds)
    }

    /// Work has ended.
    func ended(_ kind: HeavyWorkKind) {
        running[kind]?.decrement()
    }

    /// Work is not done.
    func refused(_ kind: HeavyWorkKind, because refusal: HeavyWorkRefusal) {
        refused[kind]?[refusal]?.increment()
    }
}

import CoreMetrics

/// The metrics of heavy work, by kind.
struct HeavyWorkMetrics: Sendable {
    /// The help texts of the metrics, by name.
    static let help = [
        "backline_heavy_work_running": "Heavy work that is running, by kind.",
        "backline_heavy_work_waiting": "Heavy work that waits for its turn, by kind.",
        "backline_heavy_work_wait_seconds": "Time that heavy work waits for its turn, by kind.",
        "backline_heavy_work_refused_total": "Heavy work that was refused, by kind and reason.",
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

    /// Records that work waits for its turn.
    func beganWaiting(_ kind: HeavyWorkKind) {
        waiting[kind]?.increment()
    }

    /// Records that work waits no longer, for any reason.
    func endedWaiting(_ kind: HeavyWorkKind) {
        waiting[kind]?.decrement()
    }

    /// Records that work begins, `nanoseconds` after it was requested.
    func began(_ kind: HeavyWorkKind, after nanoseconds: Int64) {
        running[kind]?.increment()
        waits[kind]?.recordNanoseconds(nanoseconds)
    }

    /// Records that work has ended.
    func ended(_ kind: HeavyWorkKind) {
        running[kind]?.decrement()
    }

    /// Records that work was refused.
    func refused(_ kind: HeavyWorkKind, because refusal: HeavyWorkRefusal) {
        refused[kind]?[refusal]?.increment()
    }
}

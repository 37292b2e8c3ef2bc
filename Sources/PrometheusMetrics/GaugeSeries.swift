import CoreMetrics

/// A number that goes up and down.
final class GaugeSeries: MeterHandler, RecorderHandler {
    private let level = AtomicDouble()

    /// The current value.
    var value: Double { level.value }

    func set(_ value: Int64) { level.set(Double(value)) }

    func set(_ value: Double) { level.set(value) }

    func increment(by amount: Double) { level.add(amount) }

    func decrement(by amount: Double) { level.add(-amount) }

    func record(_ value: Int64) { level.set(Double(value)) }

    func record(_ value: Double) { level.set(value) }
}

import CoreMetrics
import Synchronization

/// A number that only grows; beyond 2⁶⁴ − 1 it begins again at zero, as after a restart.
final class CounterSeries: CounterHandler {
    private let count = Atomic<UInt64>(0)

    /// The current count.
    var value: UInt64 { count.load(ordering: .relaxed) }

    /// Ignores a negative `amount`: a counter never decreases.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    func reset() {
        count.store(0, ordering: .relaxed)
    }
}

/// A number with a fraction that only grows.
final class FloatingPointCounterSeries: FloatingPointCounterHandler {
    private let sum = AtomicDouble()

    /// The current sum.
    var value: Double { sum.value }

    /// Ignores an `amount` that is negative, infinite or not a number.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        sum.add(amount)
    }

    func reset() {
        sum.set(0)
    }
}

import CoreMetrics
import Synchronization

/// A number that grows; beyond 2⁶⁴ − 1 it begins again at zero, as after a restart.
final class CounterSeries: CounterHandler {
    private let count = Atomic<UInt64>(0)

    /// What was counted.
    var value: UInt64 { count.load(ordering: .relaxed) }

    /// Nothing changes where `amount` is negative: a counter does not go back.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.wrappingAdd(UInt64(amount), ordering: .relaxed)
    }

    func reset() {
        count.store(0, ordering: .relaxed)
    }
}

/// A number with a fraction that grows.
final class FloatingPointCounterSeries: FloatingPointCounterHandler {
    private let sum = AtomicDouble()

    /// What was counted.
    var value: Double { sum.value }

    /// Nothing changes where `amount` is negative, infinite or not a number.
    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        sum.add(amount)
    }

    func reset() {
        sum.set(0)
    }
}

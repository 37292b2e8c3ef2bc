import Synchronization

/// A floating-point number that many threads may change.
struct AtomicDouble: ~Copyable, Sendable {
    private let bits = Atomic<UInt64>(0)

    /// The current value.
    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    /// Sets the value.
    func set(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    /// Adds `amount`; concurrent additions are not lost.
    func add(_ amount: Double) {
        var seen = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: seen) + amount).bitPattern
            let (isDone, found) = bits.weakCompareExchange(expected: seen, desired: sum, ordering: .relaxed)
            if isDone { return }
            seen = found
        }
    }
}

import CoreMetrics

/// How often values of which size were recorded: fixed buckets, each with a counter of its own.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// Upper bounds, ascending; a value that equals one belongs to its bucket.
    let bounds: [Double]
    /// One more than there are bounds, for what is above all of them.
    private let buckets: [CounterSeries]
    private let total = AtomicDouble()

    /// Makes an empty histogram with these upper bounds, which ascend.
    init(bounds: [Double]) {
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in CounterSeries() }
    }

    /// How many values each bucket holds, without those below it; the last is above all bounds.
    var counts: [UInt64] { buckets.map(\.value) }

    /// The sum of all values.
    var sum: Double { total.value }

    func record(_ value: Int64) { record(Double(value)) }

    /// What is infinite or not a number is left out: one such value would spoil the sum for good.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].increment(by: 1)
        total.add(value)
    }

    /// Kept in seconds; a duration below zero counts as none.
    func recordNanoseconds(_ duration: Int64) {
        // Divided, not multiplied by 1e-9, so that a duration on a bound is in its bucket.
        record(Double(max(duration, 0)) / 1e9)
    }
}

import CoreMetrics

/// A distribution of recorded values: fixed buckets, each with a counter of its own.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// Upper bounds, ascending; a value that equals a bound belongs to that bound's bucket.
    let bounds: [Double]
    /// One more bucket than bounds: the last one is for values above all bounds.
    private let buckets: [CounterSeries]
    private let total = AtomicDouble()

    /// Makes an empty histogram with these upper bounds, which must ascend.
    init(bounds: [Double]) {
        self.bounds = bounds
        buckets = (0...bounds.count).map { _ in CounterSeries() }
    }

    /// The number of values in each bucket, without those in lower buckets; the last is above all bounds.
    var counts: [UInt64] { buckets.map(\.value) }

    /// The sum of all values.
    var sum: Double { total.value }

    func record(_ value: Int64) { record(Double(value)) }

    /// Ignores values that are infinite or not a number: one such value would make the sum useless for ever.
    func record(_ value: Double) {
        guard value.isFinite else { return }
        buckets[bounds.firstIndex { value <= $0 } ?? bounds.count].increment(by: 1)
        total.add(value)
    }

    /// Records a duration in seconds; a negative duration counts as 0.
    func recordNanoseconds(_ duration: Int64) {
        // Divided, not multiplied by 1e-9, so that a duration that equals a bound is in its bucket.
        record(Double(max(duration, 0)) / 1e9)
    }
}

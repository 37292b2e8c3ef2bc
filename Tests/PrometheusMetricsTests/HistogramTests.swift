import CoreMetrics
import PrometheusMetrics
import Testing

/// The assignment of values to buckets.
@Suite struct HistogramTests {
    let registry = PrometheusRegistry()

    /// The number of values in each bucket, without lower buckets; the last is above all bounds.
    private func counts(_ name: String) throws -> [Int] {
        let samples = try ExpositionParser(registry.exposition()).metrics[name]?.samples ?? []
        let cumulative = samples.filter { $0.name == name + "_bucket" }.map { Int($0.value) }
        return zip(cumulative, [0] + cumulative).map { $0 - $1 }
    }

    /// One value in the bucket at `place`, and one in the next.
    private func twoBuckets(_ place: Int, of bounds: [Double]) -> [Int] {
        var counts = [Int](repeating: 0, count: bounds.count + 1)
        counts[place] = 1
        counts[place + 1] = 1
        return counts
    }

    @Test func `a value on a bound is in its bucket and the next above it is not`() throws {
        for (place, bound) in PrometheusRegistry.sizeBounds.enumerated() {
            let recorder = Recorder(label: "h\(place)", factory: registry)
            recorder.record(bound)
            recorder.record(bound.nextUp)
            #expect(try counts("h\(place)") == twoBuckets(place, of: PrometheusRegistry.sizeBounds), "\(bound)")
        }
    }

    @Test func `a duration on a bound is in its bucket and one nanosecond more is not`() throws {
        for (place, bound) in PrometheusRegistry.timeBounds.enumerated() {
            let timer = CoreMetrics.Timer(label: "h\(place)", factory: registry)
            let nanoseconds = Int64((bound * 1e9).rounded())
            timer.recordNanoseconds(nanoseconds)
            timer.recordNanoseconds(nanoseconds + 1)
            #expect(try counts("h\(place)") == twoBuckets(place, of: PrometheusRegistry.timeBounds), "\(bound)")
        }
    }

    @Test func `bounds ascend, and those of time span what a client notices`() {
        for bounds in [PrometheusRegistry.timeBounds, PrometheusRegistry.sizeBounds] {
            #expect(zip(bounds, bounds.dropFirst()).allSatisfy(<))
        }
        #expect(PrometheusRegistry.timeBounds.first == 0.0001)
        #expect(PrometheusRegistry.timeBounds.last == 10)
    }

    @Test func `a value that is not a finite number is ignored`() throws {
        let recorder = Recorder(label: "h", factory: registry)
        for value in [Double.nan, .infinity, -.infinity, 2] { recorder.record(value) }
        let parsed = try ExpositionParser(registry.exposition())
        #expect(parsed.value("h_count") == 1)
        #expect(parsed.value("h_sum") == 2)
    }

    @Test func `a duration below zero is none, and the longest is above all bounds`() throws {
        let timer = CoreMetrics.Timer(label: "h", factory: registry)
        timer.recordNanoseconds(-5)
        timer.recordNanoseconds(.max)
        let counts = try counts("h")
        #expect(counts.first == 1 && counts.last == 1)
        #expect(try ExpositionParser(registry.exposition()).value("h_sum") == Double(Int64.max) / 1e9)
    }
}

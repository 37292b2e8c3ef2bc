import CoreMetrics
import PrometheusMetrics
import Testing

/// Counters and gauges with unusual amounts.
@Suite struct CounterTests {
    let registry = PrometheusRegistry()

    private func value(_ name: String) throws -> Double? { try ExpositionParser(registry.exposition()).value(name) }

    @Test func `a counter does not go back`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        counter.increment(by: 5)
        counter.increment(by: -3)
        counter.increment(by: 0)
        #expect(try value("a_total") == 5)
        counter.reset()
        #expect(try value("a_total") == 0)
    }

    @Test func `a counter begins again at its end, as after a restart`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        for amount in [Int64.max, .max, 3] { counter.increment(by: amount) }
        #expect(try value("a_total") == 1)
    }

    @Test func `a counter with fractions takes finite amounts above zero only`() throws {
        let counter = FloatingPointCounter(label: "a_total", factory: registry)
        for amount in [0.5, -1, .nan, .infinity, 0.25] { counter.increment(by: amount) }
        #expect(try value("a_total") == 0.75)
        counter.reset()
        #expect(try value("a_total") == 0)
    }

    @Test func `a gauge goes up and down and shows what was set last`() throws {
        let meter = Meter(label: "a", factory: registry)
        meter.set(5)
        meter.increment(by: 2.5)
        meter.decrement(by: 10)
        #expect(try value("a") == -2.5)
        let gauge = Gauge(label: "b", factory: registry)
        gauge.record(3)
        gauge.record(1.25)
        #expect(try value("b") == 1.25)
    }
}

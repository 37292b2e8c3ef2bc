import CoreMetrics
import PrometheusMetrics
import Testing

/// The assignment of objects to series.
@Suite struct RegistryTests {
    let registry = PrometheusRegistry(seriesLimit: 3)

    private func parsed() throws -> ExpositionParser { try ExpositionParser(registry.exposition()) }

    @Test func `objects with the same name and labels share a series, in whatever order the labels are`() throws {
        Counter(label: "a_total", dimensions: [("x", "1"), ("y", "2")], factory: registry).increment()
        Counter(label: "a_total", dimensions: [("y", "2"), ("x", "1")], factory: registry).increment()
        #expect(try parsed().metrics["a_total"]?.samples.map(\.value) == [2])
    }

    @Test func `a series outlives the object that made it`() throws {
        let counter = Counter(label: "a_total", factory: registry)
        counter.increment()
        counter.destroy()
        #expect(try parsed().value("a_total") == 1)
    }

    @Test func `if two kinds of metric have the same name, the first is kept and the second ignored`() throws {
        Counter(label: "a", factory: registry).increment()
        Meter(label: "a", factory: registry).set(9)
        FloatingPointCounter(label: "a", factory: registry).increment(by: 9)
        Recorder(label: "a", factory: registry).record(9)
        Gauge(label: "a", factory: registry).record(9)
        CoreMetrics.Timer(label: "a", factory: registry).recordSeconds(9)
        Recorder(label: "b", factory: registry).record(1)
        CoreMetrics.Timer(label: "b", factory: registry).recordSeconds(9)
        Counter(label: "b", factory: registry).increment()
        let parsed = try parsed()
        #expect(parsed.order == ["a", "b"])
        #expect(parsed.metrics["a"]?.type == "counter")
        #expect(parsed.value("a") == 1)
        #expect(parsed.value("b_count") == 1)
    }

    @Test(arguments: ["h", "h_bucket", "h_sum", "h_count"])
    func `a metric may not be called as a line of a histogram is`(name: String) throws {
        Recorder(label: "h", factory: registry).record(1)
        Counter(label: name, factory: registry).increment()
        #expect(try parsed().order == ["h"])
        let other = PrometheusRegistry()
        Counter(label: name, factory: other).increment()
        Recorder(label: "h", factory: other).record(1)
        #expect(try ExpositionParser(other.exposition()).order == [name])
    }

    @Test func `labels beyond the limit share one series`() throws {
        for number in 0..<100 {
            Counter(label: "a_total", dimensions: [("n", "\(number)")], factory: registry).increment()
            Counter(label: "a_total", dimensions: [("n", "\(number)"), ("m", "\(number)")], factory: registry)
                .increment()
        }
        Counter(label: "a_total", factory: registry).increment()
        let parsed = try parsed()
        #expect(parsed.metrics["a_total"]?.samples.count == 5)
        #expect(parsed.value("a_total", ["n": "0"]) == 1)
        #expect(parsed.value("a_total", ["n": "0", "m": "0"]) == 1)
        #expect(parsed.value("a_total", ["n": "1"]) == 1)
        #expect(parsed.value("a_total", ["n": "other", "m": "other"]) == 197)
        #expect(parsed.value("a_total") == 1)
    }

    @Test func `a series that was there before the limit is still found after it`() throws {
        for value in ["other", "1", "2", "3", "4", "1"] {
            Counter(label: "a_total", dimensions: [("n", value)], factory: registry).increment()
        }
        let parsed = try parsed()
        #expect(parsed.metrics["a_total"]?.samples.count == 3)
        #expect(parsed.value("a_total", ["n": "1"]) == 2)
        #expect(parsed.value("a_total", ["n": "other"]) == 3)
    }

    @Test(arguments: [
        ("hb.requests-total", "hb_requests_total"), ("9lives", "_9lives"), ("", "_"), ("a:b", "a_b"), ("für", "f_r"),
        ("a b\n", "a_b_"), ("__a", "__a"),
    ])
    func `a name that the format does not take is made one that it does`(label: String, name: String) throws {
        Counter(label: label, factory: registry).increment()
        #expect(try parsed().order == [name])
    }

    @Test func `labels that the format does not take are made ones that it does`() throws {
        Recorder(
            label: "h", dimensions: [("le", "x"), ("__name__", "y"), ("a.b", "1"), ("a-b", "2"), ("__", "z")],
            factory: registry
        ).record(1)
        #expect(try parsed().value("h_count", ["le_": "x", "_name__": "y", "a_b": "1", "_": "z"]) == 1)
    }

    @Test func `no value that many tasks record concurrently is lost`() async throws {
        let registry = registry
        let (tasks, rounds) = (16, 2_000)
        await withDiscardingTaskGroup { group in
            for task in 0..<tasks {
                group.addTask {
                    // Made anew in each task, so that making is concurrent too.
                    let counter = Counter(label: "a_total", dimensions: [("n", "\(task % 3)")], factory: registry)
                    let sum = FloatingPointCounter(label: "b_total", factory: registry)
                    let timer = CoreMetrics.Timer(label: "c_seconds", factory: registry)
                    let level = Meter(label: "d", factory: registry)
                    for round in 0..<rounds {
                        counter.increment()
                        sum.increment(by: 0.5)
                        timer.recordMilliseconds(round % 2 == 0 ? 1 : 250)
                        level.increment(by: 2)
                        level.decrement()
                        if round % 500 == 0 {
                            #expect(throws: Never.self) { try ExpositionParser(registry.exposition()) }
                        }
                    }
                }
            }
        }
        let parsed = try parsed()
        let total = Double(tasks * rounds)
        #expect(parsed.metrics["a_total"]?.samples.map(\.value).reduce(0, +) == total)
        #expect(parsed.value("b_total") == total / 2)
        #expect(parsed.value("c_seconds_count") == total)
        #expect(parsed.value("c_seconds_bucket", ["le": "0.001"]) == total / 2)
        #expect(parsed.value("d") == total)
        let sum = try #require(parsed.value("c_seconds_sum"))
        #expect(abs(sum - total / 2 * 0.251) < 0.001)
    }
}

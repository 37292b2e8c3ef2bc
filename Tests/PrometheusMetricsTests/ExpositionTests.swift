import CoreMetrics
import PrometheusMetrics
import Testing

/// The text that a Prometheus server reads.
@Suite struct ExpositionTests {
    let registry = PrometheusRegistry()

    private func parsed() throws -> ExpositionParser { try ExpositionParser(registry.exposition()) }

    @Test func `an empty registry writes nothing`() {
        #expect(registry.exposition() == [])
    }

    @Test func `every kind of metric is written under its type, by name and labels`() throws {
        registry.describe(["rooms": "Rooms in memory.", "votes_total": "Votes,\nand \\ those taken back."])
        Counter(label: "votes_total", dimensions: [("outcome", "refused")], factory: registry).increment(by: 2)
        Counter(label: "votes_total", dimensions: [("outcome", "accepted")], factory: registry).increment(by: 40)
        FloatingPointCounter(label: "seconds_total", factory: registry).increment(by: 1.5)
        Gauge(label: "level", factory: registry).record(-0.25)
        let rooms = Meter(label: "rooms", factory: registry)
        rooms.set(7)
        rooms.decrement()
        Recorder(label: "batch", factory: registry).record(3)
        let expected = """
            # TYPE batch histogram
            batch_bucket{le="1"} 0
            batch_bucket{le="2"} 0
            batch_bucket{le="5"} 1
            batch_bucket{le="10"} 1
            batch_bucket{le="20"} 1
            batch_bucket{le="50"} 1
            batch_bucket{le="100"} 1
            batch_bucket{le="200"} 1
            batch_bucket{le="500"} 1
            batch_bucket{le="1000"} 1
            batch_bucket{le="2000"} 1
            batch_bucket{le="5000"} 1
            batch_bucket{le="10000"} 1
            batch_bucket{le="+Inf"} 1
            batch_sum 3
            batch_count 1
            # TYPE level gauge
            level -0.25
            # HELP rooms Rooms in memory.
            # TYPE rooms gauge
            rooms 6
            # TYPE seconds_total counter
            seconds_total 1.5
            # HELP votes_total Votes,\\nand \\\\ those taken back.
            # TYPE votes_total counter
            votes_total{outcome="accepted"} 40
            votes_total{outcome="refused"} 2

            """
        #expect(String(decoding: registry.exposition(), as: UTF8.self) == expected)
        #expect(try parsed().metrics["votes_total"]?.help == "Votes,\nand \\ those taken back.")
    }

    @Test func `a timer is a histogram in seconds, with the labels before its bound`() throws {
        let timer = CoreMetrics.Timer(label: "wait_seconds", dimensions: [("loop", "0")], factory: registry)
        timer.recordMilliseconds(3)
        let parsed = try parsed()
        #expect(parsed.metrics["wait_seconds"]?.type == "histogram")
        #expect(parsed.value("wait_seconds_bucket", ["loop": "0", "le": "0.0025"]) == 0)
        #expect(parsed.value("wait_seconds_bucket", ["loop": "0", "le": "0.005"]) == 1)
        #expect(parsed.value("wait_seconds_sum", ["loop": "0"]) == 0.003)
        let text = String(decoding: registry.exposition(), as: UTF8.self)
        #expect(text.contains(#"wait_seconds_bucket{loop="0",le="0.0001"} 0"#))
    }

    @Test(arguments: [
        "", "\\", "\"", "\n", "a\\nb", "\\\"\n\\", "æther, \u{1F600}, e\u{301}", "\r\n", "{}=,# ", "\u{0}",
    ])
    func `any text may be a label's value`(value: String) throws {
        Counter(label: "a_total", dimensions: [("text", value)], factory: registry).increment()
        let sample = try #require(try parsed().metrics["a_total"]?.samples.first)
        #expect(sample.labels["text"].map { Array($0.utf8) } == Array(value.utf8))
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (1, "1"), (-3, "-3"), (0.0001, "0.0001"), (0.00001, "1e-05"), (1.5, "1.5"),
        (9_007_199_254_740_991, "9007199254740991"), (1e22, "1e+22"), (.infinity, "+Inf"), (-.infinity, "-Inf"),
        (.nan, "NaN"),
    ])
    func `numbers are written as the format has them`(value: Double, text: String) {
        Meter(label: "a", factory: registry).set(value)
        #expect(String(decoding: registry.exposition(), as: UTF8.self) == "# TYPE a gauge\na \(text)\n")
    }

    @Test func `the same metrics give the same bytes whatever the order in which they were made`() {
        let names = (0..<50).map { "metric_\($0)_total" }
        func bytes(_ names: [String], _ values: [Int]) -> [UInt8] {
            let registry = PrometheusRegistry()
            for name in names {
                for value in values {
                    Counter(label: name, dimensions: [("n", "\(value)"), ("a", "b")], factory: registry).increment()
                }
            }
            return registry.exposition()
        }
        #expect(bytes(names, [1, 2, 10]) == bytes(names.reversed(), [10, 2, 1]))
    }
}

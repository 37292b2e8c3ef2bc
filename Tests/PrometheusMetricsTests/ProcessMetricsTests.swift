import PrometheusMetrics
import Testing

/// The system's values for the process.
@Suite struct ProcessMetricsTests {
    @Test func `a program's name may hold anything`() {
        let end = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n"
        for name in ["backline", "a b", "a) S 1 2", "(((", ""] {
            #expect(ProcessReading.startTicks(stat: "17 (\(name))\(end)") == 4711)
        }
    }

    @Test(arguments: ["", "17 backline S 1", "17 (a) S 1 2 3", "17 (a)"])
    func `a text that is not a status file gives nothing`(stat: String) {
        #expect(ProcessReading.startTicks(stat: stat) == nil)
    }

    @Test func `resident memory is the second number`() {
        #expect(ProcessReading.residentPages(statm: "5000 1234 77 1 0 900 0\n") == 1234)
        #expect(ProcessReading.residentPages(statm: "5000") == nil)
        #expect(ProcessReading.residentPages(statm: "a b") == nil)
    }

    #if os(Linux)
        @Test func `this process is described`() throws {
            let registry = PrometheusRegistry()
            let metrics = try #require(ProcessMetrics(registry: registry))
            let first = try ExpositionParser(registry.exposition())
            #expect(first.order == first.order.sorted() && first.order.count == 5)
            let memory = try #require(first.value("process_resident_memory_bytes"))
            #expect((1_000_000...100_000_000_000).contains(memory))
            let files = try #require(first.value("process_open_fds"))
            let limit = try #require(first.value("process_max_fds"))
            #expect(files >= 3 && files < limit)
            // After the year 2020, and not after the time of the reading.
            let start = try #require(first.value("process_start_time_seconds"))
            #expect(start > 1_577_836_800)
            var burnt = 0.0
            repeat {
                for number in 0..<10_000 { burnt += Double(number).squareRoot() }
                metrics.collect()
            } while try ExpositionParser(registry.exposition()).value("process_cpu_seconds_total")
                ?? 0 <= first.value("process_cpu_seconds_total") ?? 0
            #expect(burnt > 0)
        }
    #endif
}

import CoreMetrics
import Synchronization

/// The metrics of the process that every Prometheus client provides, under the usual names; Linux only.
package final class ProcessMetrics: Sendable {
    private let residentMemory: Meter
    private let openFiles: Meter
    private let fileLimit: Meter
    private let cpuSeconds: FloatingPointCounter
    /// The processor time that has already been counted.
    private let countedSeconds = Mutex(0.0)

    /// Makes the metrics in `registry`; nil if the system does not provide the values.
    package init?(registry: PrometheusRegistry) {
        guard let start = ProcessReading.startTime(), ProcessReading() != nil else { return nil }
        registry.describe(Self.help)
        residentMemory = Meter(label: "process_resident_memory_bytes", factory: registry)
        openFiles = Meter(label: "process_open_fds", factory: registry)
        fileLimit = Meter(label: "process_max_fds", factory: registry)
        cpuSeconds = FloatingPointCounter(label: "process_cpu_seconds_total", factory: registry)
        Meter(label: "process_start_time_seconds", factory: registry).set(start)
        collect()
    }

    /// Updates the metrics.
    ///
    /// Takes time in proportion to the number of open files.
    package func collect() {
        guard let reading = ProcessReading() else { return }
        residentMemory.set(reading.residentBytes)
        openFiles.set(reading.openFiles)
        fileLimit.set(reading.fileLimit)
        countedSeconds.withLock { counted in
            cpuSeconds.increment(by: max(0, reading.cpuSeconds - counted))
            counted = max(counted, reading.cpuSeconds)
        }
    }

    private static let help = [
        "process_resident_memory_bytes": "Memory of the process that is in RAM, in bytes.",
        "process_open_fds": "Open file descriptors.",
        "process_max_fds": "How many file descriptors may be open at once.",
        "process_cpu_seconds_total": "Processor time in user and system mode, in seconds.",
        "process_start_time_seconds": "When the process started, in seconds since the Unix epoch.",
    ]
}

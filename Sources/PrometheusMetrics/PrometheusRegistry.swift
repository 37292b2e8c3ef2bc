import CoreMetrics
import Synchronization

/// The metrics of a process, kept for a Prometheus server to scrape.
///
/// It is the `MetricsFactory` behind swift-metrics: counters and floating-point counters become counters, meters and
/// gauges become gauges, timers become histograms in seconds, and recorders become histograms, or gauges if they do not
/// aggregate. Objects with the same label and dimensions share one series, in whatever order the dimensions are given.
///
/// Making a metric takes a lock; recording is lock-free and allocates nothing. A series lives as long as the registry:
/// destroying the object that made it changes nothing.
package final class PrometheusRegistry: Sendable {
    /// The default limit of series with labels for each metric.
    ///
    /// It is far above the number that fixed sets of label values make, and far below a number that would harm the
    /// server or Prometheus.
    package static let defaultSeriesLimit = 1_000

    /// Upper bounds of the buckets of timers, in seconds.
    ///
    /// There are three per decade, from 100 µs, a delay that nobody notices, to 10 s, after which everybody has given
    /// up.
    package static let timeBounds: [Double] = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]

    /// Upper bounds of the buckets of recorders, which count how many items came at once.
    package static let sizeBounds: [Double] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000,
    ]

    private struct State {
        var families: [String: MetricFamily] = [:]
        /// The names of all samples, with the metric that each belongs to.
        var owners: [String: String] = [:]
        var help: [String: String] = [:]
    }

    private let seriesLimit: Int
    private let state = Mutex(State())

    /// Makes an empty registry.
    ///
    /// - Parameter seriesLimit: The most series with labels of one metric. Values with further labels are recorded in
    ///   one
    ///   more series, whose labels all have the value `other`.
    package init(seriesLimit: Int = PrometheusRegistry.defaultSeriesLimit) {
        self.seriesLimit = seriesLimit
    }

    /// Sets the help texts of metrics, by name; may be called before and after the metrics are made.
    package func describe(_ help: [String: String]) {
        state.withLock { $0.help.merge(help) { _, new in new } }
    }

    /// Returns everything that was recorded, in the text format 0.0.4: metrics by name, their series by labels.
    ///
    /// Values recorded during the call may be included or not. A histogram's count is always the sum of its buckets;
    /// its sum may differ by the values that are being recorded. Takes time in proportion to the number of series.
    package func exposition() -> [UInt8] {
        let (families, help) = state.withLock { ($0.families, $0.help) }
        var writer = ExpositionWriter()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            writer.write(family, name: name, help: help[name])
        }
        return writer.bytes
    }

    /// Returns the series with this name and these labels, made if there is none; nil if the name is already that of a
    /// metric of another kind.
    func series(_ kind: MetricFamily.Kind, _ label: String, _ dimensions: [(String, String)]) -> MetricSeries? {
        let name = MetricName.metric(label)
        let labels = MetricLabels(dimensions, reserved: kind.reservedLabel)
        return state.withLock { state in
            if state.families[name] == nil {
                let samples = kind.sampleNames(of: name)
                guard samples.allSatisfy({ state.owners[$0] == nil }) else { return nil }
                for sample in samples { state.owners[sample] = name }
            }
            guard state.families[name, default: MetricFamily(kind: kind)].kind == kind else { return nil }
            return state.families[name, default: MetricFamily(kind: kind)].series(labels, limit: seriesLimit)
        }
    }
}

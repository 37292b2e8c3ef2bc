/// One metric: its kind, and its series by their labels.
struct MetricFamily {
    /// What a metric is, for who records and for who reads.
    enum Kind {
        case counter
        case floatingPointCounter
        case gauge
        /// A histogram of numbers.
        case sizes
        /// A histogram of seconds.
        case times

        /// What the metric is called behind `# TYPE`.
        var typeName: String {
            switch self {
            case .counter, .floatingPointCounter: "counter"
            case .gauge: "gauge"
            case .sizes, .times: "histogram"
            }
        }

        /// A label that the format keeps for itself.
        var reservedLabel: String? {
            switch self {
            case .counter, .floatingPointCounter, .gauge: nil
            case .sizes, .times: "le"
            }
        }

        /// All names that lines of a metric begin with.
        func sampleNames(of name: String) -> [String] {
            switch self {
            case .counter, .floatingPointCounter, .gauge: [name]
            case .sizes, .times: [name, name + "_bucket", name + "_sum", name + "_count"]
            }
        }

        fileprivate func makeSeries() -> MetricSeries {
            switch self {
            case .counter: .counter(CounterSeries())
            case .floatingPointCounter: .floatingPointCounter(FloatingPointCounterSeries())
            case .gauge: .gauge(GaugeSeries())
            case .sizes: .histogram(HistogramSeries(bounds: PrometheusRegistry.sizeBounds))
            case .times: .histogram(HistogramSeries(bounds: PrometheusRegistry.timeBounds))
            }
        }
    }

    let kind: Kind
    private(set) var series: [MetricLabels: MetricSeries] = [:]
    /// The labels of the series for all that is beyond the limit.
    private var collapsed: MetricLabels?

    init(kind: Kind) {
        self.kind = kind
    }

    /// The series with these labels, or the one for what is beyond the limit.
    mutating func series(_ labels: MetricLabels, limit: Int) -> MetricSeries {
        if let known = series[labels] { return known }
        let labelled = series.count - (series[MetricLabels([])] == nil ? 0 : 1)
        let isBeyond = !labels.isEmpty && labelled >= limit
        let labels = isBeyond ? collapsed ?? labels.collapsed : labels
        if isBeyond { collapsed = labels }
        if let known = series[labels] { return known }
        let new = kind.makeSeries()
        series[labels] = new
        return new
    }
}

/// Where one series is recorded.
enum MetricSeries {
    case counter(CounterSeries)
    case floatingPointCounter(FloatingPointCounterSeries)
    case gauge(GaugeSeries)
    case histogram(HistogramSeries)
}

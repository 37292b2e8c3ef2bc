/// One metric: its kind, and its series by their labels.
struct MetricFamily {
    /// The kind of a metric, for recording and for the format.
    enum Kind {
        case counter
        case floatingPointCounter
        case gauge
        /// A histogram of numbers.
        case sizes
        /// A histogram of seconds.
        case times

        /// The name of the type after `# TYPE`.
        var typeName: String {
            switch self {
            case .counter, .floatingPointCounter: "counter"
            case .gauge: "gauge"
            case .sizes, .times: "histogram"
            }
        }

        /// The label that the format reserves for this kind.
        var reservedLabel: String? {
            switch self {
            case .counter, .floatingPointCounter, .gauge: nil
            case .sizes, .times: "le"
            }
        }

        /// Returns all names with which lines of a metric begin.
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
    /// The labels of the series for everything beyond the limit.
    private var collapsed: MetricLabels?

    init(kind: Kind) {
        self.kind = kind
    }

    /// Returns the series with these labels, or the one for everything beyond the limit.
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

/// The object that records one series.
enum MetricSeries {
    case counter(CounterSeries)
    case floatingPointCounter(FloatingPointCounterSeries)
    case gauge(GaugeSeries)
    case histogram(HistogramSeries)
}

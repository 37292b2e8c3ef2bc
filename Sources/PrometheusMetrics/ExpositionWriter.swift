/// Writes metrics in Prometheus' text format 0.0.4.
struct ExpositionWriter {
    private(set) var bytes: [UInt8] = []

    /// Writes a metric with all its series.
    mutating func write(_ family: MetricFamily, name: String, help: String?) {
        if let help { write("# HELP \(name) \(Self.escaped(help))\n") }
        write("# TYPE \(name) \(family.kind.typeName)\n")
        for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
            switch series {
            case .counter(let series): write(name, labels.text, "\(series.value)")
            case .floatingPointCounter(let series): write(name, labels.text, Self.text(series.value))
            case .gauge(let series): write(name, labels.text, Self.text(series.value))
            case .histogram(let series): write(series, name, labels.text)
            }
        }
    }

    private mutating func write(_ series: HistogramSeries, _ name: String, _ labels: String) {
        let sum = series.sum
        let separator = labels.isEmpty ? "" : ","
        var count: UInt64 = 0
        for (bound, bucket) in zip(series.bounds + [.infinity], series.counts) {
            count &+= bucket
            write(name + "_bucket", "\(labels)\(separator)le=\"\(Self.text(bound))\"", "\(count)")
        }
        write(name + "_sum", labels, Self.text(sum))
        write(name + "_count", labels, "\(count)")
    }

    private mutating func write(_ name: String, _ labels: String, _ value: String) {
        write(labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n")
    }

    private mutating func write(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Returns a number in the format's notation.
    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Integers below 2⁵³ are written without a fraction or an exponent.
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return "\(whole)" }
        return "\(value)"
    }

    /// Text format 0.0.4: in a help text, only backslash and line feed are escaped.
    private static func escaped(_ help: String) -> String {
        var text = ""
        for scalar in help.unicodeScalars {
            switch scalar {
            case "\\": text += #"\\"#
            case "\n": text += #"\n"#
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

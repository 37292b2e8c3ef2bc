/// The labels of one series as they are written between braces: sorted by name, escaped.
struct MetricLabels: Hashable, Comparable {
    /// `name="value"`, separated by commas; empty if there are no labels.
    let text: String
    /// The same with every value `other`.
    private let collapsedText: String

    /// Makes the labels of `dimensions`.
    ///
    /// If two have the same name, the first counts. A label named `reserved`, which the format reserves, gets an
    /// underscore.
    init(_ dimensions: [(String, String)], reserved: String? = nil) {
        var values: [String: String] = [:]
        for (key, value) in dimensions {
            var name = MetricName.label(key)
            if name == reserved { name += "_" }
            if values[name] == nil { values[name] = value }
        }
        let sorted = values.sorted { $0.key < $1.key }
        text = Self.text(sorted)
        collapsedText = Self.text(sorted.map { (key: $0.key, value: "other") })
    }

    private init(collapsed text: String) {
        self.text = text
        collapsedText = text
    }

    /// Whether there are no labels.
    var isEmpty: Bool { text.isEmpty }

    /// The labels with the same names, and `other` as every value.
    var collapsed: MetricLabels { MetricLabels(collapsed: collapsedText) }

    static func == (one: MetricLabels, other: MetricLabels) -> Bool { one.text == other.text }

    static func < (one: MetricLabels, other: MetricLabels) -> Bool { one.text < other.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    private static func text(_ labels: [(key: String, value: String)]) -> String {
        labels.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    }

    /// Text format 0.0.4: in a label's value, only backslash, double quote and line feed are escaped.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n": text += #"\n"#
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// Converts names to names that the format allows.
enum MetricName {
    /// Returns a metric's name: ASCII letters, digits and underscores, no digit first; colons are left to recording
    /// rules.
    static func metric(_ label: String) -> String {
        made(of: label)
    }

    /// Returns a label's name by the same rules, without two leading underscores, which Prometheus reserves.
    static func label(_ key: String) -> String {
        let name = made(of: key)
        return name.hasPrefix("__") ? "_" + name.drop { $0 == "_" } : name
    }

    private static func made(of text: String) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name += "_" }
                name.unicodeScalars.append(scalar)
            default: name += "_"
            }
        }
        return name.isEmpty ? "_" : name
    }
}

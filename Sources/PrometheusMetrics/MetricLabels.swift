/// The labels of one series, as they are written between braces: sorted by name, escaped.
struct MetricLabels: Hashable, Comparable {
    /// `name="value"`, separated by commas; empty where there are no labels.
    let text: String
    /// The same with every value `other`.
    private let collapsedText: String

    /// Makes the labels of `dimensions`; of two with the same name the first counts, and one that bears the name
    /// `reserved`, which the format keeps for itself, gets an underscore.
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

    /// Whether there are none.
    var isEmpty: Bool { text.isEmpty }

    /// The same names, every value `other`.
    var collapsed: MetricLabels { MetricLabels(collapsed: collapsedText) }

    static func == (one: MetricLabels, other: MetricLabels) -> Bool { one.text == other.text }

    static func < (one: MetricLabels, other: MetricLabels) -> Bool { one.text < other.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    private static func text(_ labels: [(key: String, value: String)]) -> String {
        labels.map { "\($0.key)=\"\(escaped($0.value))\"" }.joined(separator: ",")
    }

    /// Text format 0.0.4: backslash, double quote and line feed are escaped in a label's value, and nothing else is.
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

/// Makes names that the format takes of names that it may not take.
enum MetricName {
    /// A metric's name: ASCII letters, digits and underscores, no digit first; colons are left to recording rules.
    static func metric(_ label: String) -> String {
        made(of: label)
    }

    /// A label's name: the same, without the two leading underscores of what a reader of metrics keeps for itself.
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

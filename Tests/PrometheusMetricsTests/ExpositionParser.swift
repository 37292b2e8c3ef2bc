/// Reads Prometheus' text format 0.0.4 as its specification defines it, more strictly than servers do.
///
/// It is written from the specification only, and not from the code that writes the format.
struct ExpositionParser {
    /// One line with a value.
    struct Sample: Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    /// One metric with all its lines.
    struct Metric: Equatable {
        var help: String?
        var type: String
        var samples: [Sample] = []
    }

    /// A violation of the format, with its line.
    struct Violation: Error, CustomStringConvertible {
        var line: Int
        var description: String
    }

    private(set) var metrics: [String: Metric] = [:]
    /// The metrics in the order in which they came.
    private(set) var order: [String] = []
    private var line = 0

    init(_ bytes: [UInt8]) throws {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw violation("not UTF-8") }
        if text.isEmpty { return }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.removeLast().isEmpty else { throw violation("the last line does not end") }
        for text in lines {
            line += 1
            if text.hasPrefix("#") { try comment(text) } else { try sample(text) }
        }
        for name in order { try check(name) }
    }

    /// The value of one series; nil if there is none.
    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        metrics.values.lazy.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
    }

    private func violation(_ what: String) -> Violation { Violation(line: line, description: "line \(line): \(what)") }

    // MARK: Lines

    private mutating func comment(_ text: Substring) throws {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "#" else { throw violation("neither help nor type") }
        let name = String(parts[2])
        guard Self.isName(name) else { throw violation("\(name) is no name") }
        switch parts[1] {
        case "HELP":
            guard metrics[name] == nil else { throw violation("help of \(name) is not the first of it") }
            metrics[name] = Metric(help: try unescaped(parts[3], quotes: false), type: "")
            order.append(name)
        case "TYPE":
            guard ["counter", "gauge", "histogram"].contains(parts[3]) else { throw violation("type \(parts[3])") }
            if metrics[name] == nil {
                metrics[name] = Metric(type: "")
                order.append(name)
            }
            guard order.last == name, metrics[name]?.type == "" else { throw violation("type of \(name)") }
            metrics[name]?.type = String(parts[3])
        default:
            throw violation("neither help nor type")
        }
    }

    private mutating func sample(_ text: Substring) throws {
        var rest = text
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        guard Self.isName(name) else { throw violation("\(name) is no name") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" { labels = try self.labels(&rest) }
        guard rest.first == " ", let value = Self.number(rest.dropFirst()) else { throw violation("no value") }
        guard let owner = order.last, let type = metrics[owner]?.type, type != "",
            Self.sampleNames(of: owner, type).contains(name)
        else { throw violation("\(name) stands under another metric") }
        let sample = Sample(name: name, labels: labels, value: value)
        let known = metrics[owner]?.samples ?? []
        guard !known.contains(where: { $0.name == name && $0.labels == labels }) else {
            throw violation("\(name) twice")
        }
        metrics[owner]?.samples.append(sample)
    }

    private func labels(_ rest: inout Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        repeat {
            rest = rest.dropFirst()
            let name = String(rest.prefix { $0 != "=" })
            guard Self.isName(name), !name.contains(":"), !name.hasPrefix("__") else {
                throw violation("\(name) is no label")
            }
            rest = rest.dropFirst(name.count + 1)
            guard rest.first == "\"" else { throw violation("a value without quotes") }
            rest = rest.dropFirst()
            var end = rest.startIndex
            while end < rest.endIndex, rest[end] != "\"" {
                end = rest.index(end, offsetBy: rest[end] == "\\" ? 2 : 1, limitedBy: rest.endIndex) ?? rest.endIndex
            }
            guard end < rest.endIndex else { throw violation("a value that does not end") }
            guard labels.updateValue(try unescaped(rest[..<end], quotes: true), forKey: name) == nil else {
                throw violation("label \(name) twice")
            }
            rest = rest[rest.index(after: end)...]
        } while rest.first == ","
        guard rest.first == "}" else { throw violation("labels that do not end") }
        rest = rest.dropFirst()
        return labels
    }

    // MARK: Parts

    private func unescaped(_ text: Substring, quotes: Bool) throws -> String {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\\" else {
                result.append(character)
                continue
            }
            switch rest.popFirst() {
            case "\\": result += "\\"
            case "n": result += "\n"
            case "\"" where quotes: result += "\""
            default: throw violation("an unknown escape")
            }
        }
        return result
    }

    private static func isName(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?/) == nil ? nil : Double(text)
        }
    }

    private static func sampleNames(of name: String, _ type: String) -> [String] {
        type == "histogram" ? [name + "_bucket", name + "_sum", name + "_count"] : [name]
    }

    /// Checks the rules for a metric as a whole.
    private func check(_ name: String) throws {
        guard let metric = metrics[name], metric.type != "", !metric.samples.isEmpty else {
            throw violation("\(name) has no type or no samples")
        }
        if metric.type == "counter", metric.samples.contains(where: { !($0.value >= 0) }) {
            throw violation("\(name) is a counter below zero")
        }
        guard metric.type == "histogram" else { return }
        var series: [[String: String]: [Sample]] = [:]
        for sample in metric.samples {
            series[sample.labels.filter { $0.key != "le" }, default: []].append(sample)
        }
        for samples in series.values {
            let buckets = samples.filter { $0.name == name + "_bucket" }
            let bounds = buckets.compactMap { $0.labels["le"].flatMap { Self.number($0[...]) } }
            let counts = buckets.map(\.value)
            guard bounds.count == buckets.count, bounds.last == .infinity,
                zip(bounds, bounds.dropFirst()).allSatisfy(<),
                zip(counts, counts.dropFirst()).allSatisfy(<=),
                samples.filter({ $0.name == name + "_count" }).map(\.value) == counts.suffix(1),
                samples.count(where: { $0.name == name + "_sum" }) == 1
            else { throw violation("the buckets of \(name)") }
        }
    }
}

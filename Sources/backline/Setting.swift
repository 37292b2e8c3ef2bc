import NIOCore

/// Settings that are numbers: a flag goes before its variable, and an error names what was typed and what is allowed.
///
/// Options hold the text as it was typed, since a number that was read may be written in another way.
enum Setting {
    /// A whole number within `range`; nil where neither the flag nor its variable is given.
    static func count(_ flag: String?, _ name: String, in range: ClosedRange<Int>) throws -> Int? {
        try value(flag, name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number within `range`, which an error gives in `unit`; nil where neither the flag nor its variable is given.
    static func number(
        _ flag: String?, _ name: String, in range: ClosedRange<Double>, unit: String
    ) throws -> Double? {
        try value(flag, name, expected: "\(text(range.lowerBound)) to \(text(range.upperBound)) \(unit)") { text in
            Double(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Seconds, from `least` to a day; nil where neither the flag nor its variable is given.
    static func time(_ flag: String?, _ name: String, from least: Double = 0.1) throws -> TimeAmount? {
        try number(flag, name, in: least...86_400, unit: "seconds").map { .nanoseconds(Int64($0 * 1e9)) }
    }

    /// What `read` makes of a flag's or its variable's text; `expected` says in an error what it takes.
    static func value<Value>(
        _ flag: String?, _ name: String, expected: String, _ read: (String) -> Value?
    ) throws -> Value? {
        let variable = Environment.variable(name)
        guard let text = flag ?? Environment[variable] else { return nil }
        guard let value = read(text) else {
            throw Failure.usage("\(flag == nil ? variable : "--" + name): '\(text)' is not valid; expected \(expected)")
        }
        return value
    }

    /// A number without a fraction that is none.
    private static func text(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

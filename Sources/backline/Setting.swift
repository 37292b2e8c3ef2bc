import NIOCore

/// Numeric settings: a flag overrides its variable, and an error names the given text and the allowed values.
///
/// Options hold the text as it was typed, because a parsed number could be printed differently.
enum Setting {
    /// An integer within `range`; nil if neither the flag nor its variable is given.
    static func count(_ flag: String?, _ name: String, in range: ClosedRange<Int>) throws -> Int? {
        try value(flag, name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number within `range`, shown with `unit` in an error; nil if neither the flag nor its variable is given.
    static func number(
        _ flag: String?, _ name: String, in range: ClosedRange<Double>, unit: String
    ) throws -> Double? {
        try value(flag, name, expected: "\(text(range.lowerBound)) to \(text(range.upperBound)) \(unit)") { text in
            Double(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A time in seconds, from `least` to a day; nil if neither the flag nor its variable is given.
    static func time(_ flag: String?, _ name: String, from least: Double = 0.1) throws -> TimeAmount? {
        try number(flag, name, in: least...86_400, unit: "seconds").map { .nanoseconds(Int64($0 * 1e9)) }
    }

    /// The text of a flag or its variable, parsed by `read`; `expected` describes the allowed values in an error.
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

    /// The text of a number, without a fraction if it is an integer.
    private static func text(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }
}

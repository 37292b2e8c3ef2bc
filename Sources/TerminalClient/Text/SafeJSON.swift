/// A value of JSON, written on one line.
///
/// Texts are exact, and harmless in a terminal all the same: control characters of both ranges, directional marks and
/// line separators are written as escapes.
enum SafeJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case number(Int64)
    case decimal(Double)
    case text(String)
    case list([SafeJSON])
    case object([(String, SafeJSON)])

    static func == (left: Self, right: Self) -> Bool { left.line == right.line }

    /// An object without the members that are nil.
    static func fields(_ members: KeyValuePairs<String, SafeJSON?>) -> SafeJSON {
        .object(members.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The value as one line of UTF-8.
    var line: String {
        var line = ""
        write(to: &line)
        return line
    }

    private func write(to line: inout String) {
        switch self {
        case .null: line += "null"
        case .bool(let value): line += value ? "true" : "false"
        case .number(let value): line += "\(value)"
        case .decimal(let value): line += value.isFinite ? "\(value)" : "null"
        case .text(let value): Self.write(value, to: &line)
        case .list(let values):
            line += "["
            for (place, value) in values.enumerated() {
                if place > 0 { line += "," }
                value.write(to: &line)
            }
            line += "]"
        case .object(let members):
            line += "{"
            for (place, (name, value)) in members.enumerated() {
                if place > 0 { line += "," }
                Self.write(name, to: &line)
                line += ":"
                value.write(to: &line)
            }
            line += "}"
        }
    }

    private static func write(_ text: String, to line: inout String) {
        line += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": line += "\\\""
            case "\\": line += "\\\\"
            case "\n": line += "\\n"
            case "\t": line += "\\t"
            case "\r": line += "\\r"
            default:
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator:
                    for unit in UTF16.encode(scalar) ?? .init() {
                        let digits = String(unit, radix: 16)
                        line += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                    }
                default: line.unicodeScalars.append(scalar)
                }
            }
        }
        line += "\""
    }
}

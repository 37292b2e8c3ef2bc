import RoomWire

/// A JSON value with names (`"$name"`) in place of some values.
struct JSONPattern {
    /// The values that names stand for.
    var captures: [String: JSONValue]

    /// What keeps a value from fitting a pattern, in words; nil if it fits.
    ///
    /// Names that are new stand for what they meet.
    mutating func difference(of value: JSONValue, from pattern: JSONValue, at path: String = "") -> String? {
        switch (pattern, value) {
        case (.string(let name), _) where name.hasPrefix("$"):
            guard let known = captures[name] else {
                captures[name] = value
                return nil
            }
            return known == value ? nil : words(value, known, path)
        case (.object(let expected), .object(let object)):
            for (name, expected) in expected.byName.sorted(by: { $0.key < $1.key }) {
                let path = "\(path).\(name)"
                guard let found = object[name] else {
                    // Absent and null mean the same in the protocol.
                    if expected == .null { continue }
                    return "there is nothing at \(path)"
                }
                if let difference = difference(of: found, from: expected, at: path) { return difference }
            }
            return nil
        case (.array(let expected), .array(let elements)):
            guard expected.count == elements.count else { return words(value, pattern, path) }
            for (index, (expected, element)) in zip(expected, elements).enumerated() {
                if let difference = difference(of: element, from: expected, at: "\(path)[\(index)]") {
                    return difference
                }
            }
            return nil
        default: return pattern == value ? nil : words(value, pattern, path)
        }
    }

    /// The value with what its names stand for; `unknown` is a name without a value.
    func filled(_ value: JSONValue, _ unknown: inout String?) -> JSONValue {
        switch value {
        case .string(let name) where name.hasPrefix("$"):
            if captures[name] == nil { unknown = name }
            return captures[name] ?? .null
        case .array(let elements): return .array(elements.map { filled($0, &unknown) })
        case .object(let object):
            return .object(JSONObject(object.members.map { .init(name: $0.name, value: filled($0.value, &unknown)) }))
        case .null, .bool, .integer, .number, .string: return value
        }
    }

    private func words(_ value: JSONValue, _ pattern: JSONValue, _ path: String) -> String {
        "at \(path.isEmpty ? "its root" : path), \(Self.text(value)) is not \(Self.text(pattern))"
    }

    private static func text(_ value: JSONValue) -> String {
        var writer = JSONWriter()
        writer.value(value)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

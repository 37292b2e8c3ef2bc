import RoomWire

/// The variables of a conversation, which are captured and compared.
struct Variables: Sendable {
    private var values: [String: JSONValue] = [:]
    /// The other name of each room, by its id.
    private let codes: [String: String]
    /// The server's time, in milliseconds.
    var now: Int64 = 0

    init(rooms: [String: Conversation.RoomNames]) {
        for (name, room) in rooms { values[name] = .string(room.id) }
        codes = Dictionary(rooms.values.map { ($0.id, $0.code) }) { first, _ in first }
    }

    subscript(name: String) -> JSONValue? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// A name that begins with `$`; nil for any other string.
    static func name(in text: String) -> String? {
        guard text.hasPrefix("$"), !text.hasPrefix("$$") else { return nil }
        return String(text.dropFirst())
    }

    // MARK: Values

    /// The value with all variables replaced; members whose variable is null are left out.
    func filled(_ value: JSONValue) throws(Unbound) -> JSONValue {
        switch value {
        case .null, .bool, .integer, .number: return value
        case .string(let text):
            if text == "$now" { return .integer(now) }
            guard let name = Self.name(in: text) else {
                return .string(text.hasPrefix("$$") ? String(text.dropFirst()) : text)
            }
            guard let value = values[name] else { throw Unbound(name: name) }
            return value
        case .array(let elements):
            var filled: [JSONValue] = []
            for element in elements { filled.append(try self.filled(element)) }
            return .array(filled)
        case .object(let object):
            if let parts = object["$with"]?.array { return try joined(parts) }
            var filled: [JSONObject.Member] = []
            for member in object.members {
                let value = try self.filled(member.value)
                // A null that is written stays: it is the data of a signal.
                guard value != .null || member.value == .null else { continue }
                filled.append(JSONObject.Member(name: member.name, value: value))
            }
            return .object(JSONObject(filled))
        }
    }

    struct Unbound: Error {
        let name: String
    }

    /// The first object, with the members of the others in place of its own.
    private func joined(_ parts: [JSONValue]) throws(Unbound) -> JSONValue {
        var members: [JSONObject.Member] = []
        for part in parts {
            // A null takes a member away.
            for member in part.object?.members ?? [] where member.value == .null {
                members.removeAll { $0.name == member.name }
            }
            for member in try filled(part).object?.members ?? [] {
                members.removeAll { $0.name == member.name }
                if member.value != .null { members.append(member) }
            }
        }
        return .object(JSONObject(members))
    }

    // MARK: Patterns

    /// Compares a value with a pattern, and captures variables; returns where they differ, or nil.
    ///
    /// An object has the members of the pattern, and may have more; a null is a member that is absent. Arrays are of
    /// one length. What a variable stands for is compared whole.
    mutating func match(_ pattern: JSONValue, _ value: JSONValue?, at path: String) -> String? {
        let value = value == .null ? nil : value
        switch pattern {
        case .null: return value == nil ? nil : "\(path) is \(shown(value)), and should be absent"
        case .string("$*"): return value == nil ? "\(path) is absent" : nil
        case .string(let text):
            guard let name = Self.name(in: text), text != "$now" else { break }
            guard let bound = values[name] else {
                values[name] = value ?? .null
                return nil
            }
            return equal(bound, value, at: path)
        case .object(let object):
            if let only = object.members.first, object.members.count == 1, only.name.hasPrefix("$") {
                return matchRule(only.name, only.value, value, at: path)
            }
            guard let found = value?.object else { return "\(path) is \(shown(value)), and should be an object" }
            for member in object.members {
                let inner = path.isEmpty ? member.name : "\(path).\(member.name)"
                if let difference = match(member.value, found[member.name], at: inner) { return difference }
            }
            return nil
        case .array(let elements):
            guard let found = value?.array, found.count == elements.count else {
                return "\(path) is \(shown(value)), and should be \(shown(pattern))"
            }
            for index in elements.indices {
                if let difference = match(elements[index], found[index], at: "\(path)[\(index)]") { return difference }
            }
            return nil
        case .bool, .integer, .number: break
        }
        guard let plain = try? filled(pattern) else { return "\(path): \(shown(pattern)) is unknown" }
        return equal(plain, value, at: path)
    }

    private mutating func matchRule(
        _ rule: String, _ argument: JSONValue, _ value: JSONValue?, at path: String
    ) -> String? {
        switch rule {
        case "$any":
            var differences: [String] = []
            for pattern in argument.array ?? [] {
                var attempt = self
                guard let difference = attempt.match(pattern, value, at: path) else {
                    self = attempt
                    return nil
                }
                differences.append(difference)
            }
            return differences.joined(separator: "; or: ")
        case "$near":
            let margin = argument.integer ?? 0
            guard let found = value?.number, abs(found - Double(now)) <= Double(margin) else {
                return "\(path) is \(shown(value)), and should be \(now) ± \(margin)"
            }
            return nil
        case "$is", "$with":
            let exact = rule == "$is" ? argument : .object(JSONObject([.init(name: rule, value: argument)]))
            guard let plain = try? filled(exact) else { return "\(path): \(shown(argument)) has an unknown variable" }
            return equal(plain, value, at: path)
        default: return "\(path): there is no rule \(rule)"
        }
    }

    /// Whether two values mean the same; null and absent do.
    private func equal(_ expected: JSONValue, _ found: JSONValue?, at path: String) -> String? {
        guard let found else {
            return expected == .null ? nil : "\(path) is absent, and should be \(shown(expected))"
        }
        switch (expected, found) {
        case (.object(let left), .object(let right)):
            var names = left.members.map(\.name)
            names += right.members.map(\.name).filter { !names.contains($0) }
            for name in names {
                let (ours, theirs) = (left[name] ?? .null, right[name] ?? .null)
                let inner = path.isEmpty ? name : "\(path).\(name)"
                if let difference = equal(ours, theirs == .null ? nil : theirs, at: inner) { return difference }
            }
            return nil
        case (.array(let left), .array(let right)) where left.count == right.count:
            for index in left.indices {
                if let difference = equal(left[index], right[index], at: "\(path)[\(index)]") { return difference }
            }
            return nil
        case (.string(let left), .string(let right)) where left != right:
            if let code = codes[left], RoomReference(right) == RoomReference(code) { return nil }
            if codes[left] != nil, RoomReference(right) == RoomReference(left) { return nil }
        default: if expected == found { return nil }
        }
        if expected == found { return nil }
        return "\(path) is \(shown(found)), and should be \(shown(expected))"
    }

    private func shown(_ value: JSONValue?) -> String { value.map { Transcript.text($0) } ?? "absent" }
}

/// A JSON text as a tree (RFC 8259).
///
/// Numbers that are integers and fit are ``integer(_:)`` however they are written (`1`, `1.0`, `1e0`), so that two
/// spellings of one number are equal. The one exception is negative zero, which only ``number(_:)`` can hold.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number that is an integer and fits.
    case integer(Int64)
    /// Any other number, rounded to the nearest `Double`; always finite.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// How many arrays and objects may stand within one another unless a caller says otherwise.
    ///
    /// The protocol's own messages need 5; the bound keeps a peer from exhausting the stack.
    package static let usualMaximumDepth = 32

    /// Reads one JSON text and nothing behind it but white space.
    ///
    /// Linear in time and memory. Of members with one name the last one counts. At most `maximumDepth` arrays and
    /// objects may stand within one another.
    package init(
        parsing text: Span<UInt8>, maximumDepth: Int = Self.usualMaximumDepth
    ) throws(JSONViolation) {
        var parser = JSONParser(maximumDepth: maximumDepth)
        self = try parser.document(text)
    }

    /// Reads one JSON text and nothing behind it but white space; see ``init(parsing:maximumDepth:)``.
    package init(
        parsing text: [UInt8], maximumDepth: Int = Self.usualMaximumDepth
    ) throws(JSONViolation) {
        try self.init(parsing: text.span, maximumDepth: maximumDepth)
    }

    /// Reads one JSON text and nothing behind it but white space; see ``init(parsing:maximumDepth:)``.
    package init(
        parsing text: ArraySlice<UInt8>, maximumDepth: Int = Self.usualMaximumDepth
    ) throws(JSONViolation) {
        try self.init(parsing: text.span, maximumDepth: maximumDepth)
    }

    /// The text, where it is a string.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer, where it is one.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): value == 0 && value.sign == .minus ? 0 : nil
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The number, rounded to the nearest `Double` where it is a large integer.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The truth value, where it is one.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements, where it is an array.
    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, where it is an object.
    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}

/// The members of a JSON object, in the order they came.
package struct JSONObject: Sendable {
    /// One member.
    package struct Member: Sendable {
        /// Its name.
        package var name: String
        /// Its value.
        package var value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// All members, those that a later one of the same name overrides among them.
    package var members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// The value of the last member with this name; O(n), objects are small.
    package subscript(name: String) -> JSONValue? {
        for index in self.members.indices.reversed() where self.members[index].name == name {
            return self.members[index].value
        }
        return nil
    }
}

extension JSONObject: Equatable {
    /// Whether the same names have the same values, in whatever order.
    package static func == (left: Self, right: Self) -> Bool {
        left.byName == right.byName
    }

    /// The members that count, by name.
    package var byName: [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        values.reserveCapacity(self.members.count)
        for member in self.members { values[member.name] = member.value }
        return values
    }
}

import ByteText

/// A JSON text as a tree (RFC 8259).
///
/// Numbers that are integers and fit into 64 bits are ``integer(_:)`` however they are written (`1`, `1.0`, `1e0`), so
/// that two spellings of one number are equal. The one exception is negative zero, which only ``number(_:)`` can hold.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number that is an integer and fits into 64 bits.
    case integer(Int64)
    /// Any other number, rounded to the nearest `Double`; always finite.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// The deepest nesting of arrays and objects that is accepted unless the caller sets another limit.
    ///
    /// The protocol's own messages need 5; the limit keeps a peer from exhausting the stack.
    package static let usualMaximumDepth = 32

    /// Reads one JSON text, followed by nothing but white space.
    ///
    /// Linear in time and memory. Of several members with the same name, the last counts. Arrays and objects may be
    /// nested at most `maximumDepth` deep.
    package init(
        parsing text: Span<UInt8>, maximumDepth: Int = Self.usualMaximumDepth
    ) throws(JSONViolation) {
        var parser = JSONParser(maximumDepth: maximumDepth)
        self = try parser.document(text)
    }

    /// Reads one JSON text, followed by nothing but white space; see ``init(parsing:maximumDepth:)``.
    package init(
        parsing text: [UInt8], maximumDepth: Int = Self.usualMaximumDepth
    ) throws(JSONViolation) {
        try self.init(parsing: text.contiguous.span, maximumDepth: maximumDepth)
    }

    /// Reads one JSON text, followed by nothing but white space; see ``init(parsing:maximumDepth:)``.
    package init(
        parsing text: ArraySlice<UInt8>, maximumDepth: Int = Self.usualMaximumDepth
    ) throws(JSONViolation) {
        try self.init(parsing: text.span, maximumDepth: maximumDepth)
    }

    /// The text; nil if the value is not a string.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The integer; nil if the value is not one.
    package var integer: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): value == 0 && value.sign == .minus ? 0 : nil
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The number, rounded to the nearest `Double` if it is a large integer; nil if the value is not a number.
    package var number: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The truth value; nil if the value is not one.
    package var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements; nil if the value is not an array.
    package var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members; nil if the value is not an object.
    package var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}

/// The members of a JSON object, in the order of the text.
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

    /// All members, including those that a later one of the same name overrides.
    package var members: [Member]

    package init(_ members: [Member] = []) {
        self.members = members
    }

    /// The value of the last member with this name; O(n), but objects are small.
    package subscript(name: String) -> JSONValue? {
        for index in self.members.indices.reversed() where self.members[index].name == name {
            return self.members[index].value
        }
        return nil
    }
}

extension JSONObject: Equatable {
    /// Whether both have the same names with the same values, in any order.
    package static func == (left: Self, right: Self) -> Bool {
        left.byName == right.byName
    }

    /// The values by name; of several members with the same name, the last.
    package var byName: [String: JSONValue] {
        var values: [String: JSONValue] = [:]
        values.reserveCapacity(self.members.count)
        for member in self.members { values[member.name] = member.value }
        return values
    }
}

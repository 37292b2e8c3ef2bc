import RoomWire

/// Writes a JSON tree as text.
enum JSONText {
    static func encode(_ value: JSONValue) -> [UInt8] {
        switch value {
        case .null: Self.scalar { $0.null() }
        case .bool(let bool): Self.scalar { $0.bool(bool) }
        case .integer(let integer): Self.scalar { $0.integer(integer) }
        case .number(let number): Self.scalar { $0.number(number) }
        case .string(let string): Self.scalar { $0.string(string) }
        case .array(let array): Self.list("[]", array.map(Self.encode))
        case .object(let object):
            Self.list(
                "{}",
                object.members.map { member in
                    Self.scalar { $0.string(member.name) } + [UInt8(ascii: ":")] + Self.encode(member.value)
                })
        }
    }

    /// The depth of nested arrays and objects.
    static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .null, .bool, .integer, .number, .string: 0
        case .array(let array): 1 + (array.map(Self.depth).max() ?? 0)
        case .object(let object): 1 + (object.members.map { Self.depth($0.value) }.max() ?? 0)
        }
    }

    /// Whether a number in it was rounded to an integer, which would be written as that integer.
    static func holdsRoundedInteger(_ value: JSONValue) -> Bool {
        switch value {
        case .null, .bool, .integer, .string: false
        case .number(let number): Int64(exactly: number) != nil && !(number == 0 && number.sign == .minus)
        case .array(let array): array.contains(where: Self.holdsRoundedInteger)
        case .object(let object): object.members.contains { Self.holdsRoundedInteger($0.value) }
        }
    }

    private static func scalar(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 16)
        write(&writer)
        return writer.bytes
    }

    private static func list(_ brackets: StaticString, _ elements: [[UInt8]]) -> [UInt8] {
        let ends = Array("\(brackets)".utf8)
        return [ends[0]] + elements.joined(separator: [UInt8(ascii: ",")]) + [ends[1]]
    }
}

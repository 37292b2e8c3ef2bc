import RoomWire

extension JSONValue {
    /// The value's text, with its members in their order.
    var text: [UInt8] {
        var writer = JSONWriter()
        Self.write(self, to: &writer)
        return writer.bytes
    }

    private static func write(_ value: JSONValue, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .bool(let bool): writer.bool(bool)
        case .integer(let integer): writer.integer(integer)
        case .number(let number): writer.number(number)
        case .string(let string): writer.string(string)
        case .array(let array):
            writer.beginArray()
            for element in array { self.write(element, to: &writer) }
            writer.endArray()
        case .object(let object):
            var text = Array("{".utf8)
            for member in object.members {
                if text.count > 1 { text.append(UInt8(ascii: ",")) }
                text += JSONValue.string(member.name).text + [UInt8(ascii: ":")] + member.value.text
            }
            writer.raw(text + [UInt8(ascii: "}")])
        }
    }
}

extension JSONWriter {
    /// Writes a value that was read; the text has the same meaning as the one that was read.
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: self.null()
        case .bool(let bool): self.bool(bool)
        case .integer(let integer): self.integer(integer)
        case .number(let number): self.number(number)
        case .string(let string): self.string(string)
        case .array(let elements):
            self.beginArray()
            for element in elements { self.value(element) }
            self.endArray()
        case .object(let object):
            self.beginObject()
            for member in object.members {
                self.name(escaping: member.name)
                self.value(member.value)
            }
            self.endObject()
        }
    }
}

/// The entity tags that a client has, in its `If-None-Match` (RFC 9110 §13.1.2).
enum EntityTag {
    /// Whether the fields name `tag`, which is strong and in quotation marks, in either form, or are `*`.
    ///
    /// Text that cannot be read ends the list.
    static func matches(_ tag: String, _ fields: [String]) -> Bool {
        fields.contains { field in
            var rest = field.utf8.drop(while: isBlank)
            if rest.elementsEqual("*".utf8) { return true }
            while let tagged = next(in: &rest) { if tagged.elementsEqual(tag.utf8) { return true } }
            return false
        }
    }

    /// Removes the next tag from a list and returns it with its quotation marks; nil at the end.
    private static func next(in rest: inout Substring.UTF8View) -> Substring.UTF8View? {
        rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
        // Tags are compared weakly, which means that the mark of a weak one does not count.
        if rest.starts(with: "W/".utf8) { rest = rest.dropFirst(2) }
        guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
            return nil
        }
        let tag = rest[...end]
        rest = rest[rest.index(after: end)...]
        return tag
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

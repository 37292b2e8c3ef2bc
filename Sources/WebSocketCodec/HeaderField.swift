/// One field of an HTTP head; its name and value cannot contain a line break (RFC 9110 §5).
package struct HeaderField: Equatable, Sendable {
    /// A token, spelled as it came.
    package let name: String
    /// The value without surrounding white space; its only control character may be the tab.
    package let value: String

    /// Makes a field, or `nil` if `name` is not a token or `value` has CR, LF, NUL or another control character.
    package init?(_ name: String, _ value: String) {
        guard Self.isToken(name), value.utf8.allSatisfy(Self.isValueByte) else { return nil }
        self.name = name
        self.value = value
    }

    /// Makes a field from texts that are known to be valid.
    init(valid name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether `text` is a token: one or more of the characters of RFC 9110 §5.6.2.
    static func isToken(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(Self.isTokenByte)
    }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        // RFC 9110 §5.6.2: tchar
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    static func isValueByte(_ byte: UInt8) -> Bool {
        // RFC 9110 §5.5: HTAB, SP, VCHAR, obs-text
        byte == 0x09 || (byte >= 0x20 && byte != 0x7F)
    }
}

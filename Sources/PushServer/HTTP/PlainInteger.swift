/// Integers in query parameters: as JSON has them (RFC 8259 §6), with nothing else around.
enum PlainInteger {
    /// The value of a text; nil where it is no integer, or one that does not fit.
    static func value(_ text: some StringProtocol) -> Int? { isInteger(text) ? Int(text) : nil }

    /// Whether a text is an integer above all that fit.
    static func isHuge(_ text: some StringProtocol) -> Bool {
        isInteger(text) && text.utf8.first != UInt8(ascii: "-") && Int(text) == nil
    }

    /// No sign but minus, no leading zeros, no digits but ASCII's.
    private static func isInteger(_ text: some StringProtocol) -> Bool {
        let digits = Array(text.utf8)[(text.utf8.first == UInt8(ascii: "-") ? 1 : 0)...]
        return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
    }
}

/// Integers in query parameters, in the form that JSON has (RFC 8259 §6) and without surrounding text.
enum PlainInteger {
    /// The value of a text; nil if it is no integer, or does not fit.
    static func value(_ text: some StringProtocol) -> Int? { isInteger(text) ? Int(text) : nil }

    /// Whether a text is an integer that is too large to fit.
    static func isHuge(_ text: some StringProtocol) -> Bool {
        isInteger(text) && text.utf8.first != UInt8(ascii: "-") && Int(text) == nil
    }

    /// The only sign is minus, there are no leading zeros, and all digits are ASCII.
    private static func isInteger(_ text: some StringProtocol) -> Bool {
        let digits = Array(text.utf8)[(text.utf8.first == UInt8(ascii: "-") ? 1 : 0)...]
        return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            && (digits.count == 1 || digits.first != UInt8(ascii: "0"))
    }
}

/// Reads numbers (RFC 8259 §6).
extension JSONParser {
    /// Reads a number, whose first byte is the next one.
    mutating func number(_ text: Span<UInt8>) throws(JSONViolation) -> JSONValue {
        let start = self.index
        if let integer = self.plainInteger(text) { return .integer(integer) }
        self.index = start
        var decimal = JSONDecimal()
        decimal.isNegative = self.take(UInt8(ascii: "-"), text)
        if self.take(UInt8(ascii: "0"), text) {
            // RFC 8259 §6: no leading zeros
            if self.digit(text) != nil { throw .invalidNumber(offset: start) }
        } else {
            try self.digits(text, start: start) { digit in decimal.append(digit) }
        }
        if self.take(UInt8(ascii: "."), text) {
            try self.digits(text, start: start) { digit in decimal.append(fraction: digit) }
        }
        if self.take(UInt8(ascii: "e"), text) || self.take(UInt8(ascii: "E"), text) {
            let isNegative = self.take(UInt8(ascii: "-"), text)
            if !isNegative { _ = self.take(UInt8(ascii: "+"), text) }
            var exponent = 0
            try self.digits(text, start: start) { digit in
                exponent = min(exponent * 10 + Int(digit), JSONDecimal.greatestExponent)
            }
            decimal.exponent += isNegative ? -exponent : exponent
        }
        if let value = decimal.exactValue { return value }
        // Rare: more digits or a larger exponent than a Double holds exactly.
        let digits = try Self.validated(text.extracting(start..<self.index), offset: start)
        guard let value = Double(digits), value.isFinite else { throw .numberOutOfRange(offset: start) }
        return .number(value)
    }

    /// Reads an integer of at most 18 digits, which fits into an `Int64`.
    ///
    /// Returns nil for any other number: 0 and −0, leading zeros, fractions and exponents are left to ``number(_:)``.
    @inline(__always)
    private mutating func plainInteger(_ text: Span<UInt8>) -> Int64? {
        let isNegative = self.take(UInt8(ascii: "-"), text)
        let first = self.index
        var magnitude: Int64 = 0
        while self.index - first <= 18, let digit = self.digit(text) {
            magnitude = magnitude &* 10 &+ Int64(digit)
            self.index += 1
        }
        guard (1...18).contains(self.index - first), text[first] != UInt8(ascii: "0") else { return nil }
        if self.index < text.count {
            switch text[self.index] {
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
            default: break
            }
        }
        return isNegative ? -magnitude : magnitude
    }

    /// Reads one or more digits.
    @inline(__always)
    private mutating func digits(
        _ text: Span<UInt8>, start: Int, _ take: (UInt8) -> Void
    ) throws(JSONViolation) {
        guard let first = self.digit(text) else {
            throw self.index < text.count ? .invalidNumber(offset: start) : .unexpectedEnd
        }
        take(first)
        self.index += 1
        while let digit = self.digit(text) {
            take(digit)
            self.index += 1
        }
    }

    /// The value of the next byte if it is a digit.
    @inline(__always)
    func digit(_ text: Span<UInt8>) -> UInt8? {
        guard self.index < text.count else { return nil }
        let value = text[self.index] &- UInt8(ascii: "0")
        return value < 10 ? value : nil
    }
}

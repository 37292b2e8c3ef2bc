/// Base 64 (RFC 4648): bytes as text of 64 characters.
package struct Base64: Sendable {
    private let alphabet: [UInt8]
    private let isPadded: Bool

    /// The usual alphabet, padded to a multiple of four characters (RFC 4648 §4).
    package static let standard = Base64("+/", isPadded: true)
    /// The alphabet of URLs and file names, without padding (RFC 4648 §5, RFC 7515 §2).
    package static let url = Base64("-_", isPadded: false)

    private init(_ last: String, isPadded: Bool) {
        alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        self.isPadded = isPadded
    }

    /// The text for `bytes`.
    package func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for digit in 0...group.count { text.append(alphabet[Int(bits >> UInt32(18 - 6 * digit) & 0x3F)]) }
            if isPadded { for _ in group.count..<3 { text.append(UInt8(ascii: "=")) } }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of `text`; nil if it has another alphabet, the wrong padding, or an incomplete byte at its
    /// end.
    ///
    /// Unused bits in the last character may have any value: the example key of RFC 6455 §4.1 requires that.
    package func decode(_ text: some BidirectionalCollection<UInt8>) -> [UInt8]? {
        let padding = isPadded ? text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count : 0
        // A last group of one character does not hold a whole byte.
        guard isPadded ? text.count.isMultiple(of: 4) : text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var bits: UInt32 = 0
        var bitCount = 0
        for character in text.dropLast(padding) {
            guard let value = value(of: character) else { return nil }
            bits = bits << 6 | value
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        return bytes
    }

    private func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case alphabet[62]: 62
        case alphabet[63]: 63
        default: nil
        }
    }
}

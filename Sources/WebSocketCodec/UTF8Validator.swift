/// Checks that bytes arriving in pieces are UTF-8.
///
/// It is as strict as RFC 3629 §4: no overlong forms, no surrogates, nothing above U+10FFFF.
///
/// A piece is refused at the first byte that no continuation can make valid. O(1) memory; eight ASCII bytes a step.
package struct UTF8Validator: Equatable, Sendable {
    /// The number of missing bytes of the unfinished scalar: 0 to 3.
    private var missing: UInt8 = 0
    /// The least and greatest value the next byte may have while `missing` is not 0.
    private var least: UInt8 = 0x80
    private var greatest: UInt8 = 0xBF

    /// Makes a validator for a text before its first byte.
    package init() {}

    /// Whether the bytes so far end between two scalars.
    package var isComplete: Bool { self.missing == 0 }

    /// Checks the next bytes; `false` if the text cannot be UTF-8, after which the validator must not be used any more.
    package mutating func consume(_ bytes: Span<UInt8>) -> Bool {
        // unsafe: raw bytes of a type with padding may be uninitialised; UInt8 has none
        let raw = unsafe bytes.bytes
        let count = bytes.count
        var index = 0
        while index < count {
            if self.missing == 0 {
                // unsafe: a load of raw bytes; every bit pattern is a UInt64, and the span checks the bounds
                while index &+ 8 <= count,
                    unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
                {
                    index &+= 8
                }
                guard index < count else { break }
            }
            guard self.consume(bytes[index]) else { return false }
            index &+= 1
        }
        return true
    }

    @inline(__always)
    private mutating func consume(_ byte: UInt8) -> Bool {
        guard self.missing == 0 else {
            guard byte >= self.least, byte <= self.greatest else { return false }
            self.missing &-= 1
            self.least = 0x80
            self.greatest = 0xBF
            return true
        }
        // RFC 3629 §4: UTF8-1, UTF8-2, UTF8-3, UTF8-4
        switch byte {
        case 0x00...0x7F: break
        case 0xC2...0xDF: self.missing = 1
        case 0xE0: self.expect(2, from: 0xA0)
        case 0xED: self.expect(2, through: 0x9F)
        case 0xE1...0xEF: self.missing = 2
        case 0xF0: self.expect(3, from: 0x90)
        case 0xF1...0xF3: self.missing = 3
        case 0xF4: self.expect(3, through: 0x8F)
        default: return false
        }
        return true
    }

    @inline(__always)
    private mutating func expect(_ missing: UInt8, from least: UInt8 = 0x80, through greatest: UInt8 = 0xBF) {
        self.missing = missing
        self.least = least
        self.greatest = greatest
    }
}

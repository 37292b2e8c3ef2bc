#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension UUID {
    /// The 16 bytes (RFC 9562 §4) as two numbers of eight, the first byte highest: they compare as the bytes do.
    package var halves: (high: UInt64, low: UInt64) {
        func quarter(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> UInt64 {
            (UInt64(a) << 24 | UInt64(b) << 16) | (UInt64(c) << 8 | UInt64(d))
        }
        let b = uuid
        return (
            quarter(b.0, b.1, b.2, b.3) << 32 | quarter(b.4, b.5, b.6, b.7),
            quarter(b.8, b.9, b.10, b.11) << 32 | quarter(b.12, b.13, b.14, b.15)
        )
    }

    /// The UUID of two numbers, the reverse of ``halves``.
    package init(high: UInt64, low: UInt64) {
        func byte(_ number: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
        self.init(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4),
                byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }

    /// Reads a UUID's 36 characters (RFC 9562 §4), in either case; nil for any other text.
    ///
    /// Foundation's own initializer calls `sscanf`, which takes half a microsecond. Each delta names its room.
    package init?(text: String) {
        let utf8 = text.utf8.contiguous
        let bytes = utf8.span
        guard bytes.count == 36 else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for index in 0..<36 {
            let digit: UInt8
            switch (index, bytes[index]) {
            case (8, UInt8(ascii: "-")), (13, UInt8(ascii: "-")), (18, UInt8(ascii: "-")), (23, UInt8(ascii: "-")):
                continue
            case (8, _), (13, _), (18, _), (23, _): return nil
            case (_, UInt8(ascii: "0")...UInt8(ascii: "9")): digit = bytes[index] - UInt8(ascii: "0")
            case (_, UInt8(ascii: "a")...UInt8(ascii: "f")): digit = bytes[index] - UInt8(ascii: "a") + 10
            case (_, UInt8(ascii: "A")...UInt8(ascii: "F")): digit = bytes[index] - UInt8(ascii: "A") + 10
            default: return nil
            }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(digit)
        }
        self.init(high: high, low: low)
    }
}

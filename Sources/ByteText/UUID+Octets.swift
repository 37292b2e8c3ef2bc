#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension UUID {
    /// The 16 bytes in their order (RFC 9562 §4).
    package var octets: [16 of UInt8] {
        let b = uuid
        return [
            b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7, b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15,
        ]
    }

    /// The bytes as two numbers of eight, the first byte highest: they compare as the bytes do.
    package var halves: (high: UInt64, low: UInt64) {
        let octets = octets
        var (high, low): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            high = high << 8 | UInt64(octets[index])
            low = low << 8 | UInt64(octets[index + 8])
        }
        return (high, low)
    }
}

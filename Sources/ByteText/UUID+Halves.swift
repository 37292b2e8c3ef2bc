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
}

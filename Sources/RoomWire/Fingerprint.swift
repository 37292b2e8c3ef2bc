/// A 64-bit FNV-1a hash (draft-eastlake-fnv §2) over values, each with an explicit end.
///
/// Hashes are stored (with commands' keys, and as checksums of the log's rows), so they must never change.
package struct Fingerprint {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func combine(_ byte: UInt8) {
        self.value = (self.value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }

    package mutating func combine(bits: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            self.combine(UInt8(truncatingIfNeeded: bits >> shift))
        }
    }

    package mutating func combine(_ integer: Int64) {
        self.combine(bits: UInt64(bitPattern: integer))
    }

    package mutating func combine(_ text: String) {
        self.combine(Int64(text.utf8.count))
        for byte in text.utf8 { self.combine(byte) }
    }

    /// Records whether an optional value follows.
    package mutating func combine(isPresent: Bool) {
        self.combine(isPresent ? 1 as UInt8 : 0)
    }
}

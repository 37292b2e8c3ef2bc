internal import FoundationEssentials

/// A UUID as two numbers, which compare as its bytes do.
struct PackedUUID: Hashable, Comparable {
    private let high: UInt64
    private let low: UInt64

    init(_ id: UUID) {
        let b = id.uuid
        high = Self.number(b.0, b.1, b.2, b.3, b.4, b.5, b.6, b.7)
        low = Self.number(b.8, b.9, b.10, b.11, b.12, b.13, b.14, b.15)
    }

    /// The UUID again.
    var uuid: UUID {
        func byte(_ number: UInt64, _ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: number >> (56 - 8 * index)) }
        return UUID(
            uuid: (
                byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
                byte(high, 6), byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4),
                byte(low, 5), byte(low, 6), byte(low, 7)
            ))
    }

    static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    /// Eight bytes, the first one highest.
    private static func number(
        _ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ e: UInt8, _ f: UInt8, _ g: UInt8, _ h: UInt8
    ) -> UInt64 {
        let upper = UInt64(a) << 56 | UInt64(b) << 48 | UInt64(c) << 40 | UInt64(d) << 32
        let lower = UInt64(e) << 24 | UInt64(f) << 16 | UInt64(g) << 8 | UInt64(h)
        return upper | lower
    }
}

internal import ByteText

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A UUID as two numbers, which compare in the same order as its bytes.
struct PackedUUID: Hashable, Comparable {
    private let high: UInt64
    private let low: UInt64

    init(_ id: UUID) {
        (high, low) = id.halves
    }

    /// The original UUID.
    var uuid: UUID { UUID(high: high, low: low) }

    static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

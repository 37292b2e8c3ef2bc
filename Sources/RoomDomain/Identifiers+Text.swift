internal import ByteText

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension RoomID: CustomStringConvertible {
    /// Reads a UUID's 36 characters, in either case; nil for any other text.
    package init?(_ text: String) {
        guard let uuid = UUID(text: text) else { return nil }
        self.init(uuid)
    }

    /// The UUID in lower case.
    package var description: String { uuid.uuidString.lowercased() }
}

extension SessionID: CustomStringConvertible {
    /// Reads a UUID's 36 characters, in either case; nil for any other text.
    package init?(_ text: String) {
        guard let uuid = UUID(text: text) else { return nil }
        self.init(uuid)
    }

    /// The UUID in lower case.
    package var description: String { uuid.uuidString.lowercased() }
}

extension UUID {
    /// A UUID of version 7: 48 bits of time in milliseconds, then 74 random bits (RFC 9562 §5.7).
    ///
    /// Later instants give larger UUIDs; within one millisecond the order is random. Instants before 1970 count as 1970.
    package static func makeV7(at instant: Timestamp, random: (UInt64, UInt64)) -> UUID {
        let time = UInt64(max(0, instant.milliseconds))
        let high = time << 16 | 0x7000 | random.0 & 0x0FFF
        let low = 0x8000_0000_0000_0000 | random.1 & 0x3FFF_FFFF_FFFF_FFFF
        return UUID(high: high, low: low)
    }
}

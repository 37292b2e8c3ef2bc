/// The three header bits that only a negotiated extension may set (RFC 6455 §5.2).
package struct ReservedBits: OptionSet, Equatable, Sendable {
    /// The bits at their positions in the first byte of a frame.
    package let rawValue: UInt8

    /// Makes a set from the bits at their positions in the first byte of a frame (mask 0x70); other bits are dropped.
    package init(rawValue: UInt8) {
        self.rawValue = rawValue & 0x70
    }

    /// "This message is compressed" (RFC 7692 §6): allowed on the first frame of a message only.
    package static let rsv1 = ReservedBits(rawValue: 0x40)
    /// It has no meaning in any registered extension.
    package static let rsv2 = ReservedBits(rawValue: 0x20)
    /// It has no meaning in any registered extension.
    package static let rsv3 = ReservedBits(rawValue: 0x10)
}

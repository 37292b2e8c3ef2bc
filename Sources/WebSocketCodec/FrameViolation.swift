/// A peer's violation of RFC 6455 §5 or RFC 7692 §6 and §7; the connection cannot continue.
package enum FrameViolation: Error, Equatable, Sendable {
    /// A reserved bit without an extension that gives it a meaning (§5.2).
    case reservedBits(ReservedBits)
    /// An undefined opcode (§5.2).
    case reservedOpcode(UInt8)
    /// A control frame without FIN (§5.5).
    case fragmentedControlFrame
    /// A control frame of more than 125 bytes (§5.5).
    case controlFrameTooLong
    /// A payload length written in more bytes than it needs (§5.2).
    case lengthNotMinimal
    /// A 64-bit payload length whose most significant bit is set (§5.2).
    case lengthOutOfRange
    /// A client's frame without a mask (§5.1).
    case unmaskedFrame
    /// A server's frame with a mask (§5.1).
    case maskedFrame
    /// A continuation frame without an open message (§5.4).
    case unexpectedContinuation
    /// A new message before the last fragment of the previous one (§5.4).
    case interleavedMessage
    /// A message longer than the reader's limit in bytes, as its frame headers declare or, if compressed, after
    /// inflating.
    case messageTooLong(limit: Int)
    /// A compressed message that does not consist of whole DEFLATE blocks (RFC 7692 §7.2.2).
    case invalidDeflate
    /// There is no memory to inflate a message: not the peer's fault.
    case outOfMemory
    /// Text, or the reason of a Close frame, that is not UTF-8 (§8.1).
    case invalidUTF8
    /// A Close frame whose payload is one byte (§5.5.1).
    case closePayloadTooShort
    /// A Close frame with a code that must not be sent (§7.4).
    case invalidCloseCode(UInt16)

    /// The code with which the connection is closed (§7.4.1).
    package var closeCode: CloseCode {
        switch self {
        case .reservedBits, .reservedOpcode, .fragmentedControlFrame, .controlFrameTooLong, .lengthNotMinimal,
            .lengthOutOfRange, .unmaskedFrame, .maskedFrame, .unexpectedContinuation, .interleavedMessage,
            .closePayloadTooShort, .invalidCloseCode:
            .protocolError
        // RFC 7692 gives no code for data that cannot be inflated; 1007 is what most implementations use
        case .invalidUTF8, .invalidDeflate: .invalidPayload
        case .messageTooLong: .messageTooBig
        case .outOfMemory: .internalError
        }
    }
}

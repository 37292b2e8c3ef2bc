/// The kind of a frame (RFC 6455 §5.2, §11.8); all other values are reserved and refused.
package enum Opcode: UInt8, Equatable, Sendable {
    /// The next fragment of the message that an earlier frame began (§5.4).
    case continuation = 0x0
    /// A message of UTF-8 text, or its first fragment (§5.6).
    case text = 0x1
    /// A message of bytes, or its first fragment (§5.6).
    case binary = 0x2
    /// The sender closes the connection (§5.5.1).
    case close = 0x8
    /// Asks for a pong with the same payload (§5.5.2).
    case ping = 0x9
    /// Answers a ping, or tells without one that the sender is alive (§5.5.3).
    case pong = 0xA

    /// Whether the frame is a control frame: at most 125 bytes, never fragmented (RFC 6455 §5.5).
    package var isControl: Bool {
        // RFC 6455 §5.5: the opcodes whose most significant bit is 1
        self.rawValue & 0x8 != 0
    }
}

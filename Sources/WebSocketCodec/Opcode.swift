/// What a frame carries (RFC 6455 §5.2, §11.8); every other value is reserved and refused.
package enum Opcode: UInt8, Equatable, Sendable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether the frame is a control frame: at most 125 bytes, never fragmented (RFC 6455 §5.5).
    package var isControl: Bool {
        // RFC 6455 §5.5: the opcodes whose most significant bit is 1
        self.rawValue & 0x8 != 0
    }
}

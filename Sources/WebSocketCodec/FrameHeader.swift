package import NIOCore

/// The header of one frame (RFC 6455 §5.2): 2 to 14 bytes.
package struct FrameHeader: Equatable, Sendable {
    /// FIN: whether the frame is the last of its message.
    package let isFinal: Bool
    /// The bits that extensions use.
    package let reserved: ReservedBits
    /// The kind of payload.
    package let opcode: Opcode
    /// The number of bytes of payload after the header; below 2^63.
    package let payloadLength: UInt64
    /// The key of a masked frame; nil for an unmasked one.
    package let mask: MaskKey?

    /// Makes a header to be written.
    package init(
        _ opcode: Opcode, payloadLength: UInt64, isFinal: Bool = true, reserved: ReservedBits = [],
        mask: MaskKey? = nil
    ) {
        self.isFinal = isFinal
        self.reserved = reserved
        self.opcode = opcode
        self.payloadLength = payloadLength
        self.mask = mask
    }

    /// The number of bytes that the header takes on the wire.
    package var byteCount: Int {
        Self.byteCount(payloadLength: self.payloadLength) + (self.mask == nil ? 0 : 4)
    }

    /// The number of bytes that the unmasked header of a payload takes.
    static func byteCount(payloadLength: UInt64) -> Int {
        switch payloadLength {
        case ...125: 2
        case ...0xFFFF: 4
        default: 10
        }
    }

    /// Reads the header at the start of `bytes`; `nil` if more bytes are needed.
    ///
    /// Rules are checked in the order of the bytes, each as soon as its byte has arrived, so that the violation does
    /// not depend on how the bytes were split.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from the peer, which begin with a header.
    ///   - sender: The peer's role, which determines whether the frame must be masked.
    ///   - allowed: The reserved bits that negotiated extensions use. They are accepted on the first frame of a message
    ///     only: never on continuations or control frames (RFC 7692 §6.1).
    /// - Returns: The header, whose ``byteCount`` tells where the payload begins.
    /// - Throws: A violation for the first rule of §5 that the header breaks.
    package static func parse(
        _ bytes: Span<UInt8>, from sender: WebSocketRole, allowing allowed: ReservedBits = []
    ) throws(FrameViolation) -> FrameHeader? {
        guard bytes.count >= 1 else { return nil }
        let first = bytes[0]
        let isFinal = first & 0x80 != 0
        let reserved = ReservedBits(rawValue: first)
        guard let opcode = Opcode(rawValue: first & 0x0F) else { throw .reservedOpcode(first & 0x0F) }
        if !reserved.isEmpty {
            let usable: ReservedBits = opcode == .text || opcode == .binary ? allowed : []
            guard reserved.isSubset(of: usable) else { throw .reservedBits(reserved) }
        }
        if opcode.isControl, !isFinal { throw .fragmentedControlFrame }

        guard bytes.count >= 2 else { return nil }
        let isMasked = bytes[1] & 0x80 != 0
        switch sender {
        case .client: guard isMasked else { throw .unmaskedFrame }
        case .server: guard !isMasked else { throw .maskedFrame }
        }
        let short = bytes[1] & 0x7F
        // RFC 6455 §5.5: at most 125 bytes, so never an extended length
        if opcode.isControl, short > 125 { throw .controlFrameTooLong }

        var end = 2
        var length = UInt64(short)
        if short > 125 {
            end = short == 126 ? 4 : 10
            // RFC 6455 §5.2: the most significant bit of the 64-bit length is 0
            if short == 127, bytes.count > 2, bytes[2] & 0x80 != 0 { throw .lengthOutOfRange }
            guard bytes.count >= end else { return nil }
            length = Self.bigEndian(bytes, from: 2, to: end)
            // RFC 6455 §5.2: the minimal number of bytes
            guard length > (short == 126 ? 125 : 0xFFFF) else { throw .lengthNotMinimal }
        }
        guard isMasked else {
            return FrameHeader(opcode, payloadLength: length, isFinal: isFinal, reserved: reserved)
        }
        guard bytes.count >= end + 4 else { return nil }
        let mask = MaskKey(rawValue: UInt32(truncatingIfNeeded: Self.bigEndian(bytes, from: end, to: end + 4)))
        return FrameHeader(opcode, payloadLength: length, isFinal: isFinal, reserved: reserved, mask: mask)
    }

    private static func bigEndian(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> UInt64 {
        var value: UInt64 = 0
        for index in start..<end { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    /// Appends the header with the shortest form of its length.
    package func write(into buffer: inout ByteBuffer) {
        let first = (self.isFinal ? 0x80 : 0) | self.reserved.rawValue | self.opcode.rawValue
        let maskBit: UInt8 = self.mask == nil ? 0 : 0x80
        switch self.payloadLength {
        case ...125:
            buffer.writeMultipleIntegers(first, maskBit | UInt8(truncatingIfNeeded: self.payloadLength))
        case ...0xFFFF:
            buffer.writeMultipleIntegers(first, maskBit | 126, UInt16(truncatingIfNeeded: self.payloadLength))
        default:
            buffer.writeMultipleIntegers(first, maskBit | 127, self.payloadLength)
        }
        if let mask = self.mask { buffer.writeInteger(mask.rawValue) }
    }
}

package import NIOCore

/// A server's frame that is made once and sent to many connections; copies share the bytes.
package struct PreparedFrame: Equatable, Sendable {
    /// The whole frame, header first, unmasked, in a buffer of its own.
    package let bytes: ByteBuffer

    /// Makes a final frame around a copy of `payload`.
    package init(_ opcode: Opcode = .text, reserved: ReservedBits = [], payload: ByteBuffer) {
        var bytes = ByteBuffer()
        // 10: the length of the longest header without a mask
        bytes.reserveCapacity(10 + payload.readableBytes)
        FrameWriter.write(opcode, payload: payload, reserved: reserved, into: &bytes)
        self.bytes = bytes
    }

    /// Makes a final frame whose payload `body` appends in place.
    ///
    /// - Parameters:
    ///   - opcode: The kind of payload.
    ///   - reserved: The bits that negotiated extensions use.
    ///   - capacity: The number of bytes of payload to reserve at first.
    ///   - body: Appends the payload, and does nothing else to the buffer.
    /// - Throws: The error of `body`.
    package init<Failure: Error>(
        _ opcode: Opcode = .text, reserved: ReservedBits = [], capacity: Int = 512,
        payload body: (inout ByteBuffer) throws(Failure) -> Void
    ) throws(Failure) {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(10 + capacity)
        try FrameWriter.write(opcode, reserved: reserved, into: &bytes, payload: body)
        self.bytes = bytes
    }

    /// Makes a frame of a compressed message (RFC 7692 §6.1), for every peer whose parameters it fits
    /// (``DeflateParameters/fits(_:from:)``); `nil` if `deflater` does not compress the message.
    ///
    /// - Precondition: `deflater` keeps no context, because its messages are not sent to one peer only.
    package init?(_ opcode: Opcode = .text, compressing message: Span<UInt8>, with deflater: Deflater) {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(10 + message.count)
        guard FrameWriter.writeCompressed(opcode, message, with: deflater, into: &bytes) else { return nil }
        self.bytes = bytes
    }
}

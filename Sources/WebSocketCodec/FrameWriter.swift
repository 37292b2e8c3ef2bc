package import NIOCore

/// Appends frames to a buffer (RFC 6455 §5).
///
/// A server passes no mask, a client a fresh one for every frame. The caller must order frames so that they form
/// messages (a first fragment with its opcode, then continuations, the last one final).
package enum FrameWriter {
    /// Appends a frame with a copy of `payload`'s readable bytes.
    ///
    /// - Precondition: A control frame is final and at most 125 bytes (§5.5).
    package static func write(
        _ opcode: Opcode, payload: ByteBuffer, isFinal: Bool = true, reserved: ReservedBits = [],
        mask: MaskKey? = nil, into buffer: inout ByteBuffer
    ) {
        let count = payload.readableBytes
        Self.check(opcode, count: count, isFinal: isFinal)
        let header = FrameHeader(
            opcode, payloadLength: UInt64(count), isFinal: isFinal, reserved: reserved, mask: mask)
        header.write(into: &buffer)
        let start = buffer.writerIndex
        buffer.writeImmutableBuffer(payload)
        mask?.apply(to: &buffer, at: start, count: count)
    }

    /// Appends a frame whose payload `body` appends: written once, in place.
    ///
    /// Room is reserved for the header of 126 to 65,535 bytes; a payload of another size is moved by a few bytes. If
    /// `body` throws, the buffer keeps its length.
    ///
    /// - Precondition: `body` only appends. A control frame is final and at most 125 bytes (§5.5).
    package static func write<Failure: Error>(
        _ opcode: Opcode, isFinal: Bool = true, reserved: ReservedBits = [], mask: MaskKey? = nil,
        into buffer: inout ByteBuffer, payload body: (inout ByteBuffer) throws(Failure) -> Void
    ) throws(Failure) {
        let start = buffer.writerIndex
        let maskLength = mask == nil ? 0 : 4
        let expected = FrameHeader.byteCount(payloadLength: 0xFFFF) + maskLength
        buffer.writeRepeatingByte(0, count: expected)
        do throws(Failure) {
            try body(&buffer)
        } catch {
            buffer.moveWriterIndex(to: start)
            throw error
        }
        let count = buffer.writerIndex - start - expected
        Self.check(opcode, count: count, isFinal: isFinal)
        let header = FrameHeader(
            opcode, payloadLength: UInt64(count), isFinal: isFinal, reserved: reserved, mask: mask)
        let actual = header.byteCount
        if actual != expected {
            Self.movePayload(count, from: start + expected, to: start + actual, in: &buffer)
        }
        buffer.moveWriterIndex(to: start)
        header.write(into: &buffer)
        buffer.moveWriterIndex(to: start + actual + count)
        mask?.apply(to: &buffer, at: start + actual, count: count)
    }

    /// Appends a whole message as one frame: compressed, with RSV1 (RFC 7692 §6.1), or uncompressed if `deflater` does
    /// not compress it.
    package static func write(
        _ opcode: Opcode, compressing message: Span<UInt8>, with deflater: Deflater, mask: MaskKey? = nil,
        into buffer: inout ByteBuffer
    ) {
        if Self.writeCompressed(opcode, message, with: deflater, mask: mask, into: &buffer) { return }
        // unsafe: raw bytes of a type with padding may be uninitialised; UInt8 has none
        Self.write(opcode, mask: mask, into: &buffer) { _ = unsafe $0.writeBytes(message.bytes) }
    }

    /// Appends a message as one compressed frame; `false`, with nothing appended, if `deflater` does not compress it.
    static func writeCompressed(
        _ opcode: Opcode, _ message: Span<UInt8>, with deflater: Deflater, mask: MaskKey? = nil,
        into buffer: inout ByteBuffer
    ) -> Bool {
        struct LeftAsItIs: Error {}
        precondition(!opcode.isControl, "\(opcode)")
        do throws(LeftAsItIs) {
            try Self.write(opcode, reserved: .rsv1, mask: mask, into: &buffer) { (payload) throws(LeftAsItIs) in
                guard deflater.deflate(message, into: &payload) else { throw LeftAsItIs() }
            }
            return true
        } catch {
            return false
        }
    }

    /// Appends a Close frame; without a reason its payload is empty.
    package static func writeClose(_ reason: CloseReason?, mask: MaskKey? = nil, into buffer: inout ByteBuffer) {
        Self.write(.close, mask: mask, into: &buffer) { payload in
            guard let reason else { return }
            payload.writeInteger(reason.code.rawValue)
            payload.writeString(reason.text)
        }
    }

    private static func check(_ opcode: Opcode, count: Int, isFinal: Bool) {
        // RFC 6455 §5.5: at most 125 bytes and not fragmented
        precondition(count >= 0 && (!opcode.isControl || (count <= 125 && isFinal)), "\(opcode), \(count) bytes")
    }

    private static func movePayload(_ count: Int, from source: Int, to target: Int, in buffer: inout ByteBuffer) {
        if target > source { buffer.writeRepeatingByte(0, count: target - source) }
        let base = buffer.readerIndex
        // unsafe: a move inside the readable bytes, both ranges within the checked buffer; copyMemory allows overlap
        unsafe buffer.withUnsafeMutableReadableBytes { bytes in
            let from = unsafe UnsafeRawBufferPointer(rebasing: bytes[(source - base)..<(source - base + count)])
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[(target - base)..<(target - base + count)])
                .copyMemory(from: from)
        }
    }
}

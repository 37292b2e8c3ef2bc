import CZlib
package import NIOCore

/// Inflates compressed messages (RFC 7692 §7.2.2), with zlib.
///
/// One inflater serves every connection of an event loop whose peer compresses each message by itself. A peer with
/// context takeover needs one of its own, which ``MessageReader`` makes. zlib's state, 7 KB and a window of up to 32 KB,
/// is allocated by the first message.
///
/// Not promised: that a peer keeps to a window smaller than 2^15 bytes. A reference that reaches further back than
/// agreed is followed if the bytes are still there.
@safe package final class Inflater {
    /// The number of bytes it has produced, including those of refused messages; for metrics.
    package private(set) var producedByteCount: UInt64 = 0

    /// The bytes that the sender removes from the end of a message (RFC 7692 §7.2.1).
    private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

    // unsafe: owned only by this object until `deinit`; zlib requires that it stays at its address
    private let stream: UnsafeMutablePointer<z_stream>
    private let windowBits: Int
    private var isReady = false

    /// Makes an inflater.
    ///
    /// - Parameter windowBits: The binary logarithm of the window, from 8 to 15. A value of 8 is treated as 9, because
    ///   compressors built on zlib use 512 bytes although they promise 256.
    package init(windowBits: Int = 15) {
        precondition(DeflateParameters.windowBitsRange.contains(windowBits), "\(windowBits)")
        self.windowBits = max(9, windowBits)
        unsafe self.stream = .allocate(capacity: 1)
        unsafe self.stream.initialize(to: z_stream())
    }

    deinit {
        // unsafe: nobody else has the stream; ending one that was never begun is an error without effect
        _ = unsafe inflateEnd(self.stream)
        unsafe self.stream.deallocate()
    }

    /// Inflates one message.
    ///
    /// - Parameters:
    ///   - payload: The payloads of its frames, one after the other.
    ///   - limit: The longest message in bytes; at most one byte more is ever produced.
    ///   - keepsContext: Whether the message may refer to earlier ones.
    /// - Returns: The message, in a buffer of its own.
    /// - Throws: ``FrameViolation/invalidDeflate``, ``FrameViolation/messageTooLong(limit:)`` or
    ///   ``FrameViolation/outOfMemory``; the context is then lost.
    package func inflate(_ payload: ByteBuffer, limit: Int, keepsContext: Bool) throws(FrameViolation) -> ByteBuffer {
        try self.begin(keepsContext: keepsContext)
        var message = ByteBuffer()
        // zlib produces no bytes for an empty message that follows another one.
        guard payload.readableBytes > 0 else { return message }
        // A payload that ends with a block, such as a final one, needs no tail.
        if try self.take(payload.readableBytesUInt8Span, into: &message, limit: limit) { return message }
        // The tail completes an empty block, so it ends a block and produces nothing.
        let length = message.readableBytes
        guard try self.take(Self.tail.span, into: &message, limit: limit), message.readableBytes == length else {
            throw .invalidDeflate
        }
        return message
    }

    private func begin(keepsContext: Bool) throws(FrameViolation) {
        if !self.isReady {
            // unsafe: the stream is all zero, as zlib requires of a new one
            guard unsafe backline_inflate_init(self.stream, Int32(self.windowBits)) == Z_OK else { throw .outOfMemory }
            self.isReady = true
        } else if !keepsContext {
            // unsafe: the stream was begun
            guard unsafe inflateReset(self.stream) == Z_OK else { throw .outOfMemory }
        }
    }

    /// Inflates all of `input` and appends the output; returns whether the input ends between two blocks, at a whole
    /// byte.
    private func take(_ input: Span<UInt8>, into message: inout ByteBuffer, limit: Int) throws(FrameViolation) -> Bool {
        guard let count = UInt32(exactly: input.count) else { throw .messageTooLong(limit: limit) }
        // unsafe: zlib reads the input inside this closure only
        return try unsafe input.withUnsafeBufferPointer { (bytes) throws(FrameViolation) -> Bool in
            unsafe self.stream.pointee.next_in = bytes.baseAddress
            unsafe self.stream.pointee.avail_in = count
            while true {
                // Every iteration consumes input, produces output or ends a block, and a block has at least ten bits.
                let isBetweenBlocks = try self.makeMore(into: &message, firstRoom: 4 * input.count, limit: limit)
                // If room is left, no more output can be produced.
                // unsafe: zlib's own counters
                if unsafe self.stream.pointee.avail_in == 0,
                    unsafe isBetweenBlocks || self.stream.pointee.avail_out > 0
                {
                    return isBetweenBlocks
                }
            }
        }
    }

    /// Continues up to the end of a block, of the input or of the available room.
    private func makeMore(into message: inout ByteBuffer, firstRoom: Int, limit: Int) throws(FrameViolation) -> Bool {
        let made = message.readableBytes
        var code = Z_OK
        if made < limit {
            let room = message.writableBytes > 0 ? 1 : min(limit - made, max(made, firstRoom, 256))
            // unsafe: zlib writes into the buffer's room, and reports how much
            unsafe message.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
                let room = min(bytes.count, limit - made)
                unsafe self.stream.pointee.next_out = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe self.stream.pointee.avail_out = UInt32(room)
                code = unsafe CZlib.inflate(self.stream, Z_BLOCK)
                return unsafe room - Int(self.stream.pointee.avail_out)
            }
            self.producedByteCount += UInt64(message.readableBytes - made)
        } else {
            // The message has reached its limit: the rest of the input must produce nothing.
            var excess: UInt8 = 0
            // unsafe: zlib writes one byte, inside this closure only
            unsafe withUnsafeMutablePointer(to: &excess) { byte in
                unsafe self.stream.pointee.next_out = byte
                unsafe self.stream.pointee.avail_out = 1
                code = unsafe CZlib.inflate(self.stream, Z_BLOCK)
            }
            // unsafe: zlib's own counter
            guard unsafe self.stream.pointee.avail_out == 1 else {
                self.producedByteCount += 1
                throw .messageTooLong(limit: limit)
            }
        }
        // zlib.h, inflate: 128 at the end of a block, 64 in the last block, plus the number of unused bits
        // unsafe: zlib's own counters
        let state = unsafe self.stream.pointee.data_type
        let isBlockEnd = state & 128 != 0
        switch code {
        case Z_OK: break
        // No byte was consumed or produced: all were before, or only the end of a block remained to be detected.
        case Z_BUF_ERROR where unsafe isBlockEnd || self.stream.pointee.avail_in == 0: break
        case Z_MEM_ERROR: throw .outOfMemory
        default: throw .invalidDeflate
        }
        guard isBlockEnd else { return false }
        guard state & 64 != 0 else { return state & 63 == 0 }
        // RFC 7692 §7.2.3.4: after a block with BFINAL more blocks may follow, from the next whole byte on
        // unsafe: the stream was begun; its window stays
        guard unsafe inflateResetKeep(self.stream) == Z_OK else { throw .invalidDeflate }
        return true
    }
}

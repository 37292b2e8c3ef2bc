import CZlib
package import NIOCore

/// Compresses messages (RFC 7692 §7.2.1), with zlib.
///
/// One deflater serves a whole event loop if each message is compressed by itself: a frame is made once and sent to
/// every peer for which ``DeflateParameters/fits(_:from:)`` is true. An end that refers back to earlier messages needs
/// one deflater for each connection, and must send every compressed message of that connection through it.
///
/// zlib's state, 130 to 270 KB, is allocated by the first message.
@safe package final class Deflater {
    /// The default length of the shortest message that is compressed: 128 bytes.
    ///
    /// JSON of that length becomes 8 % shorter, of 170 bytes 16 %, of 2 KB 65 %. Shorter messages would save less than
    /// half of the bytes that a TLS record adds.
    package static let defaultThreshold = 128

    /// The default of zlib's level: 1, the fastest.
    ///
    /// Compared with level 6, it takes 5 % less time for 170 bytes of JSON (3.5 µs), with no longer result, and 25 %
    /// less for 2 KB (7 µs), with a result that is 8 % longer.
    package static let defaultLevel = 1

    /// zlib's memory level: its own default; a lower level saves memory but no time.
    private static let memoryLevel: Int32 = 8

    // unsafe: owned only by this object until `deinit`; zlib requires that it stays at its address
    private let stream: UnsafeMutablePointer<z_stream>
    private let windowBits: Int
    private let keepsContext: Bool
    private let level: Int
    private let threshold: Int
    private let longest: Int
    private var state = State.unmade

    private enum State {
        /// zlib has allocated nothing.
        case unmade
        /// Contains the context that the peer has.
        case usable
        /// Must be reset before it is used.
        case used
    }

    /// Makes a deflater.
    ///
    /// - Parameters:
    ///   - windowBits: The binary logarithm of the window, from 9 to 15.
    ///   - keepsContext: Whether a message may refer to earlier ones. The deflater then belongs to one connection.
    ///   - level: zlib's level, from 1 (fast) to 9 (small).
    ///   - threshold: The shortest message to compress, in bytes.
    package convenience init(
        windowBits: Int = 15, keepsContext: Bool = false, level: Int = Deflater.defaultLevel,
        threshold: Int = Deflater.defaultThreshold
    ) {
        self.init(
            windowBits: windowBits, keepsContext: keepsContext, level: level, threshold: threshold, longest: .max)
    }

    /// Makes a deflater for one connection, with the agreed window and context takeover.
    ///
    /// With a window of 2^8 bytes, which zlib does not support, only messages of at most that length are compressed,
    /// each by itself.
    ///
    /// - Parameters:
    ///   - parameters: The agreed parameters.
    ///   - sender: This end's role.
    ///   - level: zlib's level, from 1 (fast) to 9 (small).
    ///   - threshold: The shortest message to compress, in bytes.
    package convenience init(
        _ parameters: DeflateParameters, sender: WebSocketRole, level: Int = Deflater.defaultLevel,
        threshold: Int = Deflater.defaultThreshold
    ) {
        let bits = parameters.maxWindowBits(of: sender)
        self.init(
            windowBits: max(9, bits), keepsContext: bits > 8 && !parameters.noContextTakeover(of: sender), level: level,
            threshold: threshold, longest: bits > 8 ? .max : 256)
    }

    private init(windowBits: Int, keepsContext: Bool, level: Int, threshold: Int, longest: Int) {
        precondition((9...15).contains(windowBits) && (1...9).contains(level), "\(windowBits), \(level)")
        self.windowBits = windowBits
        self.keepsContext = keepsContext
        self.level = level
        self.threshold = threshold
        self.longest = longest
        unsafe self.stream = .allocate(capacity: 1)
        unsafe self.stream.initialize(to: z_stream())
    }

    deinit {
        // unsafe: nobody else has the stream; ending one that was never begun is an error without effect
        _ = unsafe deflateEnd(self.stream)
        unsafe self.stream.deallocate()
    }

    /// Appends the payload of a compressed message, to be sent in a frame with RSV1.
    ///
    /// - Returns: `false`, and nothing is appended, if the message should be sent uncompressed: it is below the
    ///   threshold,
    ///   does not become shorter, or zlib gets no memory.
    package func deflate(_ message: Span<UInt8>, into buffer: inout ByteBuffer) -> Bool {
        guard message.count >= self.threshold, message.count <= self.longest else { return false }
        // RFC 7692 §7.2.1: remove 4 octets, 0x00 0x00 0xff 0xff, from the tail end
        return self.run(message, Z_SYNC_FLUSH, without: 4, into: &buffer)
    }

    /// Compresses a part that many messages share.
    ///
    /// The result begins and ends on a byte boundary, ends with a full flush (0x00 0x00 0xff 0xff), and refers to
    /// nothing before its beginning, so that a message may contain it anywhere (``JoinedFrame``).
    ///
    /// - Returns: `nil` if it does not become shorter, or zlib gets no memory.
    /// - Precondition: the deflater keeps no context.
    package func deflatePart(_ part: Span<UInt8>) -> ByteBuffer? {
        precondition(!self.keepsContext, "a part of many messages has no context")
        var compressed = ByteBuffer()
        guard self.run(part, Z_FULL_FLUSH, without: 0, into: &compressed) else { return nil }
        // Copied into memory of exactly its length.
        return ByteBuffer(bytes: compressed.readableBytesView)
    }

    /// Appends zlib's output for `message` without its last `cut` bytes, if that is shorter than the message.
    private func run(_ message: Span<UInt8>, _ flush: Int32, without cut: Int, into buffer: inout ByteBuffer) -> Bool {
        guard !message.isEmpty, let count = UInt32(exactly: message.count), count < .max - 4, self.begin()
        else { return false }
        // Room for a payload one byte shorter than the message, for the bytes cut off, and for one byte that stays
        // free.
        let room = message.count + cut
        var written = 0
        // unsafe: zlib reads the message and writes into the buffer's room inside these closures only
        _ = unsafe message.withUnsafeBufferPointer { input in
            unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { output in
                unsafe self.stream.pointee.next_in = input.baseAddress
                unsafe self.stream.pointee.avail_in = count
                unsafe self.stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe self.stream.pointee.avail_out = UInt32(room)
                let code = unsafe CZlib.deflate(self.stream, flush)
                // zlib.h, deflate: a flush is complete if room is left
                if code == Z_OK, unsafe self.stream.pointee.avail_out > 0 {
                    written = unsafe room - Int(self.stream.pointee.avail_out) - cut
                }
                return written
            }
        }
        // Later messages must not refer to compressed data that is not sent.
        self.state = self.keepsContext && written > 0 ? .usable : .used
        return written > 0
    }

    private func begin() -> Bool {
        switch self.state {
        case .usable:
            return true
        case .used:
            // unsafe: the stream was begun
            return unsafe deflateReset(self.stream) == Z_OK
        case .unmade:
            // unsafe: the stream is all zero, as zlib requires of a new one
            let code = unsafe backline_deflate_init(
                self.stream, Int32(self.level), Int32(self.windowBits), Self.memoryLevel)
            guard code == Z_OK else { return false }
            self.state = .usable
            return true
        }
    }
}

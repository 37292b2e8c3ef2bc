package import NIOCore

/// Turns the bytes of one peer into messages (RFC 6455 §5).
///
/// It joins fragments, returns control frames that come between them, checks UTF-8 as it arrives, and checks lengths
/// before it allocates.
///
/// It consumes everything it is given, so that the caller never keeps bytes for it. A message in one frame that is
/// completely in the caller's buffer is unmasked in place and returned as a slice of that buffer. Only messages that
/// are split are copied, and memory grows with the bytes that have arrived, not with the length that a header
/// announces. Between messages it holds no buffer.
///
/// Compressed messages (RFC 7692) are inflated once they are complete, into a buffer that never grows past the limit of
/// a message, however long the payload would become. Until then their payload is held: at most a quarter and 64 bytes
/// more than that limit, which is more than compressing a message as a whole ever adds.
///
/// A slice keeps the caller's whole buffer alive. While a slice is kept, or another variable holds the same buffer, the
/// frames after it are copied instead of being unmasked in place.
///
/// Not promised: a limit on the rate of frames or messages; ``takeCost()`` gives the caller the numbers for one.
package struct MessageReader: ~Copyable {
    /// The default limit of one message: 256 KiB, which easily holds 500 tracks and keeps the memory that a peer can
    /// occupy small.
    package static let defaultMaximumMessageLength = 256 * 1024

    /// The next message or control frame from the peer.
    package enum Step: Equatable, Sendable {
        /// A text message, checked to be UTF-8.
        case text(ByteBuffer)
        /// A binary message.
        case binary(ByteBuffer)
        /// A ping, to be answered with a pong that has the same payload, of at most 125 bytes (§5.5.2).
        case ping(ByteBuffer)
        /// A pong, requested or not (§5.5.3).
        case pong(ByteBuffer)
        /// The peer's Close frame; `nil` if it has no code. Nothing comes after it.
        case close(CloseReason?)
    }

    private enum State {
        /// Between two frames; an incomplete header is in `pending`.
        case header
        /// Inside a frame, of whose payload `received` bytes have arrived.
        case payload(FrameHeader, length: Int, received: Int)
        case closed
        case failed(FrameViolation)
    }

    private enum MessageKind {
        case text
        case binary
    }

    private let peer: WebSocketRole
    private let maximumMessageLength: Int
    /// The agreed parameters of compression; `nil` if messages cannot be compressed.
    private let deflate: DeflateParameters?
    /// The caller's shared inflater if the peer compresses each message by itself; otherwise the reader's own, made for
    /// the first compressed message.
    private var inflater: Inflater?
    private var state: State = .header
    /// An incomplete header, or the incomplete payload of a control frame.
    private var pending = ByteBuffer()
    /// The bytes of an unfinished message so far.
    private var message = ByteBuffer()
    /// Whether the unfinished message is compressed.
    private var isCompressed = false
    /// The kind of the unfinished message; `nil` between two messages.
    private var messageKind: MessageKind?
    /// The UTF-8 state of the unfinished message.
    private var validator = UTF8Validator()
    /// The cost of reading since the last call of ``takeCost()``.
    private var cost = ReadingCost()

    /// Makes a reader for a connection after its opening handshake.
    ///
    /// - Parameters:
    ///   - role: This end's role: a server requires masked frames, a client refuses them.
    ///   - maximumMessageLength: The longest message in bytes, over all of its fragments and after inflating; from 125
    ///     to 1 GiB.
    ///   - deflate: The agreed parameters of compression; `nil` if it was not negotiated.
    ///   - inflater: The inflater to use if the peer compresses each message by itself: one for all connections of an
    ///     event loop, so that a connection holds none. Without it, and always if the peer takes over its context, the
    ///     reader makes its own once the first compressed message is complete.
    package init(
        role: WebSocketRole, maximumMessageLength: Int = MessageReader.defaultMaximumMessageLength,
        deflate: DeflateParameters? = nil, inflater: Inflater? = nil
    ) {
        precondition((125...1 << 30).contains(maximumMessageLength), "\(maximumMessageLength)")
        self.peer = role.peer
        self.maximumMessageLength = maximumMessageLength
        self.deflate = deflate
        self.inflater = deflate?.noContextTakeover(of: role.peer) == true ? inflater : nil
    }

    /// The bytes of memory that the reader holds for an incomplete frame or message; 0 between messages.
    ///
    /// An inflater of its own is not counted.
    package var heldCapacity: Int {
        self.pending.storageCapacity + self.message.storageCapacity
    }

    /// Consumes bytes from the front of `bytes` until a step is complete; `nil` once all of them are consumed.
    ///
    /// Call it until it returns `nil`. Everything after a Close frame is consumed and dropped (RFC 6455 §1.4). After a
    /// violation, every call throws that violation again and consumes nothing.
    package mutating func receive(_ bytes: inout ByteBuffer) throws(FrameViolation) -> Step? {
        do throws(FrameViolation) {
            while true {
                switch self.state {
                case .header:
                    guard let header = try self.readHeader(&bytes) else { return nil }
                    try self.begin(header)
                case .payload(let header, let length, let received):
                    let step = try self.readPayload(&bytes, header, length: length, received: received)
                    if let step { return step }
                    guard case .header = self.state else { return nil }
                case .closed:
                    bytes.moveReaderIndex(to: bytes.writerIndex)
                    return nil
                case .failed(let violation):
                    throw violation
                }
            }
        } catch {
            self.end(.failed(error))
            throw error
        }
    }

    /// Returns the cost of reading since the last call.
    ///
    /// After a ``receive(_:)`` that returned a step, it is the cost of the step and of the fragments before it; after
    /// one that returned `nil`, it is the cost of frames that completed no step.
    package mutating func takeCost() -> ReadingCost {
        defer { self.cost = ReadingCost() }
        return self.cost
    }

    private mutating func readHeader(_ bytes: inout ByteBuffer) throws(FrameViolation) -> FrameHeader? {
        // RFC 7692 §6: RSV1 of a message's first frame
        let allowed: ReservedBits = self.deflate == nil ? [] : .rsv1
        if self.pending.readableBytes == 0 {
            if let header = try FrameHeader.parse(bytes.readableBytesUInt8Span, from: self.peer, allowing: allowed) {
                bytes.moveReaderIndex(forwardBy: header.byteCount)
                return header
            }
            // Writing even no bytes would make the buffer allocate.
            if bytes.readableBytes > 0 { self.pending.writeBuffer(&bytes) }
            return nil
        }
        // At most 13 iterations: an incomplete header is shorter than the longest header.
        while let byte = bytes.readInteger(as: UInt8.self) {
            self.pending.writeInteger(byte)
            let header = try FrameHeader.parse(
                self.pending.readableBytesUInt8Span, from: self.peer, allowing: allowed)
            if let header {
                self.pending = ByteBuffer()
                return header
            }
        }
        return nil
    }

    /// Checks whether a header is allowed at this point of the message.
    private mutating func begin(_ header: FrameHeader) throws(FrameViolation) {
        switch header.opcode {
        case .continuation:
            guard self.messageKind != nil else { throw .unexpectedContinuation }
        case .text:
            guard self.messageKind == nil else { throw .interleavedMessage }
            self.messageKind = .text
            self.isCompressed = header.reserved.contains(.rsv1)
        case .binary:
            guard self.messageKind == nil else { throw .interleavedMessage }
            self.messageKind = .binary
            self.isCompressed = header.reserved.contains(.rsv1)
        case .close, .ping, .pong:
            break
        }
        // A control frame is at most 125 bytes and belongs to no message.
        let held = header.opcode.isControl ? 0 : self.message.readableBytes
        guard let length = Int(exactly: header.payloadLength), length <= self.maximumPayloadLength - held else {
            throw .messageTooLong(limit: self.maximumMessageLength)
        }
        self.state = .payload(header, length: length, received: 0)
    }

    /// The longest payload of a message.
    private var maximumPayloadLength: Int {
        let limit = self.maximumMessageLength
        // RFC 1951 §3.2.6: a literal takes at most nine bits of a fixed block; the rest is for the blocks' headers.
        return self.isCompressed ? limit + limit / 4 + 64 : limit
    }

    /// Consumes payload; `nil` if the frame is incomplete, or completes no step.
    private mutating func readPayload(
        _ bytes: inout ByteBuffer, _ header: FrameHeader, length: Int, received: Int
    ) throws(FrameViolation) -> Step? {
        let isControl = header.opcode.isControl
        // A message that began in an earlier frame, or continues after this one, is gathered in `message`.
        let isWhole = isControl || (header.isFinal && header.opcode != .continuation)
        if isWhole, received == 0, bytes.readableBytes >= length {
            let payload = Self.take(length, from: &bytes, mask: header.mask)
            self.state = .header
            self.cost.add(frameOf: length)
            if isControl { return try self.controlStep(header.opcode, payload) }
            if self.isCompressed { return try self.inflatedStep(payload) }
            if self.messageKind == .text {
                self.validator = try Self.advance(self.validator, over: payload, last: length)
            }
            return try self.messageStep(payload)
        }

        let count = min(length - received, bytes.readableBytes)
        if isControl {
            Self.move(count, from: &bytes, to: &self.pending, mask: header.mask, phase: received)
        } else {
            Self.move(count, from: &bytes, to: &self.message, mask: header.mask, phase: received)
            if self.messageKind == .text, !self.isCompressed {
                self.validator = try Self.advance(self.validator, over: self.message, last: count)
            }
        }
        guard received + count == length else {
            self.state = .payload(header, length: length, received: received + count)
            return nil
        }
        self.state = .header
        self.cost.add(frameOf: length)
        if isControl {
            let payload = self.pending
            self.pending = ByteBuffer()
            return try self.controlStep(header.opcode, payload)
        }
        guard header.isFinal else { return nil }
        let payload = self.message
        self.message = ByteBuffer()
        return try self.isCompressed ? self.inflatedStep(payload) : self.messageStep(payload)
    }

    /// Returns the validator after the last `count` bytes of `bytes`.
    private static func advance(
        _ validator: UTF8Validator, over bytes: ByteBuffer, last count: Int
    ) throws(FrameViolation) -> UTF8Validator {
        var validator = validator
        guard validator.consume(bytes.readableBytesUInt8Span.extracting(last: count)) else { throw .invalidUTF8 }
        return validator
    }

    /// Returns the message that a compressed payload becomes.
    private mutating func inflatedStep(_ payload: ByteBuffer) throws(FrameViolation) -> Step? {
        guard let deflate = self.deflate else { throw .reservedBits(.rsv1) }
        let inflater = self.inflater ?? Inflater(windowBits: deflate.maxWindowBits(of: self.peer))
        self.inflater = inflater
        let message = try inflater.inflate(
            payload, limit: self.maximumMessageLength, keepsContext: !deflate.noContextTakeover(of: self.peer))
        self.cost.add(inflated: message.readableBytes, from: payload.readableBytes)
        if self.messageKind == .text {
            self.validator = try Self.advance(self.validator, over: message, last: message.readableBytes)
        }
        return try self.messageStep(message)
    }

    private mutating func messageStep(_ payload: ByteBuffer) throws(FrameViolation) -> Step? {
        let kind = self.messageKind
        self.messageKind = nil
        switch kind {
        case .text:
            guard self.validator.isComplete else { throw .invalidUTF8 }
            return .text(payload)
        case .binary:
            return .binary(payload)
        case nil:
            throw .unexpectedContinuation
        }
    }

    private mutating func controlStep(_ opcode: Opcode, _ payload: ByteBuffer) throws(FrameViolation) -> Step? {
        switch opcode {
        case .ping: return .ping(payload)
        case .pong: return .pong(payload)
        case .close:
            let reason = try CloseReason.parse(payload)
            self.end(.closed)
            return .close(reason)
        case .continuation, .text, .binary:
            return nil
        }
    }

    /// Enters a final state, and releases every buffer.
    private mutating func end(_ state: State) {
        self.state = state
        self.pending = ByteBuffer()
        self.message = ByteBuffer()
        self.messageKind = nil
        self.isCompressed = false
        self.inflater = nil
    }

    /// Removes `count` bytes as a slice, or as a copy if they must be unmasked and are shared.
    private static func take(_ count: Int, from bytes: inout ByteBuffer, mask: MaskKey?) -> ByteBuffer {
        guard count > 0 else { return ByteBuffer() }
        guard let mask else { return bytes.readSlice(length: count) ?? ByteBuffer() }
        let inPlace: Void? = bytes.modifyIfUniquelyOwned { mask.apply(to: &$0, at: $0.readerIndex, count: count) }
        if inPlace != nil { return bytes.readSlice(length: count) ?? ByteBuffer() }
        var copy = ByteBuffer()
        Self.move(count, from: &bytes, to: &copy, mask: mask, phase: 0)
        return copy
    }

    /// Appends the next `count` bytes, unmasked, to a buffer of the reader's own.
    private static func move(
        _ count: Int, from bytes: inout ByteBuffer, to target: inout ByteBuffer, mask: MaskKey?, phase: Int
    ) {
        guard count > 0, var piece = bytes.readSlice(length: count) else { return }
        let start = target.writerIndex
        target.writeBuffer(&piece)
        mask?.apply(to: &target, at: start, count: count, phase: phase)
    }
}

package import NIOCore
package import WebSocketCodec

/// Echoes the messages of one WebSocket connection, in either role.
///
/// It works from the end of the opening handshake to the end of the channel.
///
/// Pings are answered; a violation is answered with its close code. While a peer does not take its echoes, it is not
/// read from. Confined to the channel's event loop.
package final class EchoHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias OutboundIn = Never
    package typealias OutboundOut = ByteBuffer

    /// 16 MiB: the longest messages of the conformance suite, in its group 9.
    private static let maximumMessageLength = 16 * 1024 * 1024
    /// The time for the peer to answer a close: 5 s, as in the product.
    private static let closeTimeout = TimeAmount.seconds(5)
    /// The time for which a peer that violated the protocol must be quiet before its connection is dropped: 50 ms,
    /// since it is on the same machine.
    private static let lingering = TimeAmount.milliseconds(50)

    private let role: WebSocketRole
    private let onMessage: ((ByteBuffer) -> Void)?
    private let deflater: Deflater?
    private var reader: MessageReader
    private var closing: CloseHandshake
    private var random = SystemRandomNumberGenerator()
    private var context: ChannelHandlerContext?
    private var closeTimer: Scheduled<Void>?
    private var lastReceived = NIODeadline.now()
    /// Whether a violation was answered and further input is read and dropped.
    private var isLingering = false
    private var readIsDue = false

    /// Makes the handler of a connection after its opening handshake.
    ///
    /// - Parameters:
    ///   - role: This end's role.
    ///   - deflate: The agreed parameters of compression; `nil` without it. Every non-empty echo is compressed.
    ///   - onMessage: Receives every message instead of echoing it, on the event loop.
    package init(role: WebSocketRole, deflate: DeflateParameters?, onMessage: ((ByteBuffer) -> Void)? = nil) {
        self.role = role
        self.onMessage = onMessage
        deflater = deflate.map { Deflater($0, sender: role, threshold: 1) }
        reader = MessageReader(role: role, maximumMessageLength: Self.maximumMessageLength, deflate: deflate)
        closing = CloseHandshake(role: role)
    }

    // MARK: Channel

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        forget()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        closing.transportEnded()
        forget()
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The transport failed: it closes the channel itself, or the channel can only be closed.
        context.close(promise: nil)
    }

    private func forget() {
        context = nil
        closeTimer?.cancel()
    }

    // MARK: Receiving

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        lastReceived = .now()
        guard !isLingering else { return }
        do throws(FrameViolation) {
            while let step = try reader.receive(&bytes) { handle(step) }
        } catch {
            violated(error)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    package func read(context: ChannelHandlerContext) {
        if mayRead(context) { context.read() } else { readIsDue = true }
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        readIfDue(context)
        context.fireChannelWritabilityChanged()
    }

    /// After a close, only the peer's Close frame is awaited.
    private func mayRead(_ context: ChannelHandlerContext) -> Bool {
        context.channel.isWritable || !closing.isOpen
    }

    private func readIfDue(_ context: ChannelHandlerContext) {
        guard readIsDue, mayRead(context) else { return }
        readIsDue = false
        context.read()
    }

    private func handle(_ step: MessageReader.Step) {
        switch step {
        case .text(let message): answer(.text, message)
        case .binary(let message): answer(.binary, message)
        case .ping(let payload): write(.pong, payload)
        case .pong: break
        case .close(let reason): perform(closing.peerClosed(reason))
        }
    }

    // MARK: Sending

    private func answer(_ opcode: Opcode, _ message: ByteBuffer) {
        if let onMessage { return onMessage(message) }
        guard closing.isOpen else { return }
        var compressed = ByteBuffer()
        if let deflater, deflater.deflate(message.readableBytesUInt8Span, into: &compressed) {
            write(opcode, compressed, reserved: .rsv1)
        } else {
            write(opcode, message)
        }
    }

    private func write(_ opcode: Opcode, _ payload: ByteBuffer, reserved: ReservedBits = []) {
        guard closing.isOpen, let context else { return }
        var frame = ByteBuffer()
        // 14: the longest header
        frame.reserveCapacity(14 + payload.readableBytes)
        FrameWriter.write(opcode, payload: payload, reserved: reserved, mask: makeMask(), into: &frame)
        context.write(wrapOutboundOut(frame), promise: nil)
    }

    /// RFC 6455 §5.3: a client's frame has a fresh, unpredictable key.
    private func makeMask() -> MaskKey? {
        switch role {
        case .client: MaskKey(using: &random)
        case .server: nil
        }
    }

    // MARK: Closing

    private func perform(_ step: CloseHandshake.Step) {
        guard let context else { return }
        switch step {
        case .send(let reason):
            writeClose(reason, context)
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) {
                self.perform(self.closing.timedOut())
            }
            readIfDue(context)
        case .sendAndDrop(let reason):
            writeClose(reason, context)
            context.close(promise: nil)
        case .drop:
            context.close(promise: nil)
        case .nothing:
            break
        }
    }

    private func writeClose(_ reason: CloseReason?, _ context: ChannelHandlerContext) {
        var frame = ByteBuffer()
        FrameWriter.writeClose(reason, mask: makeMask(), into: &frame)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    /// Answers a violation, then reads and drops further input: closing a socket with unread bytes would discard the
    /// answer.
    private func violated(_ violation: FrameViolation) {
        guard case .sendAndDrop(let reason) = closing.violated(violation), let context else {
            context?.close(promise: nil)
            return
        }
        isLingering = true
        writeClose(reason, context)
        readIfDue(context)
        linger(until: .now() + Self.closeTimeout, context)
    }

    private func linger(until end: NIODeadline, _ context: ChannelHandlerContext) {
        closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) {
            let now = NIODeadline.now()
            guard self.context != nil, now < end, now < self.lastReceived + Self.lingering else {
                return context.close(promise: nil)
            }
            self.linger(until: end, context)
        }
    }
}

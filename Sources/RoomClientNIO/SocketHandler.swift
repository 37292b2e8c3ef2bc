import NIOCore
import RoomClient
import WebSocketCodec

/// The frames of one open WebSocket, in the client's role. Confined to the channel's event loop.
///
/// Pings are answered. It reads on while no whole message waits, or less than 256 KiB of them: a client that takes
/// nothing is not sent more than fits into the buffers in between.
final class SocketHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Outgoing
    typealias OutboundOut = ByteBuffer

    /// What the socket writes.
    enum Outgoing: Sendable {
        case text([UInt8])
        case close(CloseReason?)
        /// Messages were taken: there is room for more.
        case taken
    }

    /// The time for the server to answer a close.
    private static let closeTimeout = TimeAmount.seconds(3)

    let inbox = SocketInbox()
    private var reader: MessageReader
    private let deflater: Deflater?
    private var closing = CloseHandshake(role: .client)
    private var random = SystemRandomNumberGenerator()
    private var timer: Scheduled<Void>?
    private var isReading = false

    init(deflate: DeflateParameters?) {
        reader = MessageReader(
            role: .client, maximumMessageLength: NIOTransport.mostBytes, deflate: deflate)
        deflater = deflate.map { Deflater($0, sender: .client) }
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { readOn(context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isReading = false
        var bytes = unwrapInboundIn(data)
        do throws(FrameViolation) {
            while let step = try reader.receive(&bytes) { handle(step, context) }
        } catch {
            perform(closing.violated(error), context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        context.flush()
        readOn(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing.transportEnded()
        timer?.cancel()
        inbox.end(outcome)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private var outcome: SocketInbox.End {
        switch closing.outcome {
        case .closedByPeer(let reason): .closed(reason?.code.rawValue)
        case .closedHere, nil: .closed(nil)
        case .lost: .lost(TransportFault("the connection was lost"))
        case .failed(let violation): .lost(TransportFault("the server sent what is no WebSocket: \(violation)"))
        }
    }

    private func readOn(_ context: ChannelHandlerContext) {
        guard !isReading, inbox.hasRoom || !closing.isOpen else { return }
        isReading = true
        context.read()
    }

    private func handle(_ step: MessageReader.Step, _ context: ChannelHandlerContext) {
        switch step {
        case .text(let message): inbox.push(Array(message.readableBytesView))
        case .binary: break
        case .ping(let payload): write(.pong, payload, context, nil)
        case .pong: break
        case .close(let reason): perform(closing.peerClosed(reason), context)
        }
    }

    // MARK: Sending

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .text(let text):
            guard closing.isOpen else {
                promise?.fail(ChannelError.ioOnClosedChannel)
                return
            }
            var compressed = ByteBuffer()
            if let deflater, deflater.deflate(text.span, into: &compressed) {
                write(.text, compressed, reserved: .rsv1, context, promise)
            } else {
                write(.text, ByteBuffer(bytes: text), context, promise)
            }
        case .close(let reason):
            perform(closing.close(reason), context)
            promise?.succeed()
        case .taken:
            readOn(context)
            promise?.succeed()
        }
    }

    private func write(
        _ opcode: Opcode, _ payload: ByteBuffer, reserved: ReservedBits = [], _ context: ChannelHandlerContext,
        _ promise: EventLoopPromise<Void>?
    ) {
        guard closing.isOpen else { return }
        var frame = ByteBuffer()
        // RFC 6455 §5.2, §5.3: a header has at most 14 bytes, and each frame has a fresh key.
        frame.reserveCapacity(14 + payload.readableBytes)
        FrameWriter.write(
            opcode, payload: payload, reserved: reserved, mask: MaskKey(using: &random), into: &frame)
        context.write(wrapOutboundOut(frame), promise: promise)
    }

    // MARK: Closing

    private func perform(_ step: CloseHandshake.Step, _ context: ChannelHandlerContext) {
        switch step {
        case .send(let reason):
            writeClose(reason, context)
            let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.closeTimeout) {
                self.perform(self.closing.timedOut(), loopBound.value)
            }
            readOn(context)
        case .sendAndDrop(let reason):
            writeClose(reason, context)
            context.close(promise: nil)
        case .drop: context.close(promise: nil)
        case .nothing: break
        }
    }

    private func writeClose(_ reason: CloseReason?, _ context: ChannelHandlerContext) {
        var frame = ByteBuffer()
        FrameWriter.writeClose(reason, mask: MaskKey(using: &random), into: &frame)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

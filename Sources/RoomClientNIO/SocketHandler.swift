import NIOCore
import RoomClient
import WebSocketCodec

/// The frames of one open WebSocket, in the client's role; confined to the channel's event loop.
///
/// It reads on while its inbox has room, and keeps what one read has brought beyond that. A server that sends without
/// end therefore occupies the inbox, one message, and one read; only at the end of the connection does SwiftNIO deliver
/// all that the system has received.
///
/// Pings are answered at once. While the server does not take what is sent, only the newest ping's answer waits (RFC
/// 6455 §5.5.3), and reading goes on, so that two ends that wait for each other cannot come to be.
final class SocketHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let inbox = SocketInbox()
    private let server: ServerAddress
    private let closeTime: TimeAmount
    private let deflater: Deflater?
    private var reader: MessageReader
    private var closing = CloseHandshake(role: .client)
    private var random = SystemRandomNumberGenerator()
    /// Nil once the channel has closed.
    private var context: ChannelHandlerContext?
    /// Bytes that arrived when the inbox was full.
    private var unread = ByteBuffer()
    /// The payload of the newest ping that could not be answered yet.
    private var unanswered: ByteBuffer?
    /// The last error of the transport.
    private var cause: (any Error)?
    private var timer: Scheduled<Void>?

    /// Makes the handler of a connection after its opening handshake.
    init(to server: ServerAddress, deflate: DeflateParameters?, closingWithin closeTime: TimeAmount) {
        self.server = server
        self.closeTime = closeTime
        deflater = deflate.map { Deflater($0, sender: .client) }
        reader = MessageReader(role: .client, maximumMessageLength: NIOTransport.mostBytes, deflate: deflate)
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if unread.readableBytes == 0 { unread = bytes } else { unread.writeBuffer(&bytes) }
        process()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        readOn()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, let payload = unanswered {
            unanswered = nil
            write(.pong, payload, nil)
            context.flush()
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        cause = error
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { ended() }

    private func ended() {
        context = nil
        timer?.cancel()
        process()
    }

    // MARK: Receiving

    /// Goes on when the inbox has room again.
    func resume() {
        process()
        context?.flush()
        readOn()
    }

    private func readOn() {
        if unread.readableBytes == 0, inbox.hasRoom() { context?.read() }
    }

    /// Takes in what has arrived, as far as there is room.
    private func process() {
        do throws(FrameViolation) {
            while unread.readableBytes > 0, inbox.hasRoom(), let step = try reader.receive(&unread) { handle(step) }
        } catch {
            unread.clear()
            end(.lost(TransportFault("\(server.authority) sent what is no WebSocket: \(error)", cause: error)))
            perform(closing.violated(error))
        }
        guard unread.readableBytes == 0 else { return }
        // Its storage may belong to somebody else.
        unread = ByteBuffer()
        if context == nil {
            closing.transportEnded()
            end(.lost(TransportFault("the connection to \(server.authority) was lost", cause: cause)))
        }
    }

    private func handle(_ step: MessageReader.Step) {
        switch step {
        case .text(let message): inbox.push(Array(buffer: message))
        case .binary:
            end(.lost(TransportFault("\(server.authority) sent a message that is no text")))
            perform(closing.close(CloseReason(.unsupportedData)))
        case .ping(let payload):
            if context?.channel.isWritable == false { unanswered = payload } else { write(.pong, payload, nil) }
        case .pong: break
        case .close(let reason):
            end(.closed(reason?.code.rawValue))
            perform(closing.peerClosed(reason))
        }
    }

    private func end(_ end: SocketInbox.End) { inbox.end(end) }

    // MARK: Sending

    /// Sends a message; the promise succeeds when the system has taken it.
    func send(_ text: [UInt8], promise: EventLoopPromise<Void>) {
        var compressed = ByteBuffer()
        if closing.isOpen, let deflater, deflater.deflate(text.span, into: &compressed) {
            write(.text, compressed, reserved: .rsv1, promise)
        } else {
            write(.text, ByteBuffer(bytes: text), promise)
        }
        context?.flush()
    }

    private func write(
        _ opcode: Opcode, _ payload: ByteBuffer, reserved: ReservedBits = [], _ promise: EventLoopPromise<Void>?
    ) {
        guard closing.isOpen, let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var frame = ByteBuffer()
        // RFC 6455 §5.2, §5.3: a header has at most 14 bytes, and each frame has a fresh key.
        frame.reserveCapacity(14 + payload.readableBytes)
        FrameWriter.write(opcode, payload: payload, reserved: reserved, mask: MaskKey(using: &random), into: &frame)
        context.write(wrapOutboundOut(frame), promise: promise)
    }

    // MARK: Closing

    /// Begins the close handshake, and drops messages from now on.
    func close(_ reason: CloseReason?) {
        end(.closed(nil))
        perform(closing.close(reason))
        resume()
    }

    private func perform(_ step: CloseHandshake.Step) {
        guard let context else { return }
        switch step {
        case .send(let reason):
            writeClose(reason, context)
            timer = context.eventLoop.assumeIsolated().scheduleTask(in: closeTime) {
                self.perform(self.closing.timedOut())
            }
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

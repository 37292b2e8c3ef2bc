import NIOCore
import RoomClient
import WebSocketCodec

/// Opens the WebSocket of one connection, then leaves it to a ``SocketHandler``; confined to the channel's event loop.
final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The subprotocol of all sockets.
    static let subprotocol = "backline.v1.json"

    private let handshake: ClientHandshake
    private let server: ServerAddress
    private let closeTime: TimeAmount
    private let opened: EventLoopPromise<NIOSocket>
    private var parser = HeadParser()
    private var arrived = ByteBuffer()
    /// The answer that refuses the handshake, while its body arrives.
    private var refusal: (status: Int, body: RefusalBody)?

    /// Makes the handler of a connection that is active.
    init(
        _ handshake: ClientHandshake, to server: ServerAddress, closingWithin closeTime: TimeAmount,
        opened: EventLoopPromise<NIOSocket>
    ) {
        self.handshake = handshake
        self.server = server
        self.closeTime = closeTime
        self.opened = opened
    }

    func handlerAdded(context: ChannelHandlerContext) {
        var request = ByteBuffer()
        handshake.writeRequest(into: &request)
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrived.writeImmutableBuffer(unwrapInboundIn(data))
        do throws(HandshakeViolation) {
            while refusal == nil, let head = try parser.parseResponse(&arrived) {
                switch head.status {
                case 101: return try open(head, context)
                // RFC 9110 §15.2: any number of them may come before the answer.
                case 100..<200: parser = HeadParser()
                default: refusal = (head.status, RefusalBody(head.fields))
                }
            }
            readRefusal(isEnd: false, context)
        } catch {
            fail(error, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.read()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        readRefusal(isEnd: true, context)
        fail(error, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        readRefusal(isEnd: true, context)
        fail(ChannelError.eof, context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { opened.fail(ChannelError.ioOnClosedChannel) }

    private func open(_ head: ResponseHead, _ context: ChannelHandlerContext) throws(HandshakeViolation) {
        let agreement = try handshake.agree(on: head)
        // RFC 6455 §4.2.2 lets a server select none, but the messages of another protocol say nothing here.
        guard agreement.subprotocol != nil else { throw .unknownSubprotocols }
        let handler = SocketHandler(to: server, deflate: agreement.deflate, closingWithin: closeTime)
        let socket = NIOSocket(context.channel, handler)
        do {
            try context.pipeline.syncOperations.addHandler(handler)
        } catch {
            return fail(error, context)
        }
        // If nobody waits any more, the socket is let go here, which closes the channel.
        opened.succeed(socket)
        if arrived.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(arrived)) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func readRefusal(isEnd: Bool, _ context: ChannelHandlerContext) {
        guard let refusal, let body = refusal.body.read(arrived, isEnd: isEnd) else { return }
        let response = ClientResponse(status: refusal.status, body: body)
        fail(
            TransportFault(
                "\(server.authority) refused the connection with status \(refusal.status)", response: response),
            context)
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        opened.fail(error)
        context.close(promise: nil)
    }
}

import NIOCore
import RoomClient
import WebSocketCodec

/// Opens the WebSocket of one connection, then leaves it to a ``SocketHandler``.
final class OpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let subprotocol = "backline.v1.json"
    /// The most bytes of a refusal's body that are read.
    private static let mostBytes = 65_536

    private let handshake: ClientHandshake
    private let opened: EventLoopPromise<NIOSocket>
    private var parser = HeadParser()
    private var arrived = ByteBuffer()
    /// The status of a refusal, and the length of its body if it is known.
    private var refusal: (status: Int, length: Int?)?

    init(_ handshake: ClientHandshake, opened: EventLoopPromise<NIOSocket>) {
        self.handshake = handshake
        self.opened = opened
    }

    func channelActive(context: ChannelHandlerContext) {
        var request = ByteBuffer()
        handshake.writeRequest(into: &request)
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
        context.read()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrived.writeImmutableBuffer(unwrapInboundIn(data))
        guard refusal == nil else { return readRefusal(context) }
        do {
            guard let head = try parser.parseResponse(&arrived) else { return }
            if head.status != 101 {
                refusal = (head.status, head.fields.onlyValue(of: "Content-Length").flatMap { Int($0) })
                return readRefusal(context)
            }
            let agreement = try handshake.agree(on: head)
            let handler = SocketHandler(deflate: agreement.deflate)
            try context.pipeline.syncOperations.addHandler(handler)
            opened.succeed(NIOSocket(context.channel, handler.inbox))
            if arrived.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(arrived)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch let violation as HandshakeViolation {
            fail(TransportFault("the server does not speak this protocol: \(violation)", cause: violation), context)
        } catch {
            fail(error, context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.read()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context) }

    func channelInactive(context: ChannelHandlerContext) {
        if refusal != nil { refused() }
        opened.fail(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { opened.fail(ChannelError.ioOnClosedChannel) }

    private func readRefusal(_ context: ChannelHandlerContext) {
        let length = min(refusal?.length ?? Self.mostBytes, Self.mostBytes)
        guard arrived.readableBytes >= length else { return }
        refused()
        context.close(promise: nil)
    }

    private func refused() {
        guard let refusal else { return }
        let body = Array(arrived.readableBytesView.prefix(refusal.length ?? Self.mostBytes))
        opened.fail(
            TransportFault(
                "the server answered with status \(refusal.status)",
                response: ClientResponse(status: refusal.status, body: body)))
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        opened.fail(error)
        context.close(promise: nil)
    }
}

import EchoSupport
import NIOCore
import WebSocketCodec

/// Opens the WebSocket of one connection, then leaves it to an ``EchoHandler``.
final class ClientOpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let handshake: ClientHandshake
    private let offers: [ExtensionOffer]
    private let onMessage: ((ByteBuffer) -> Void)?
    private var parser = HeadParser()
    private var arrived = ByteBuffer()

    /// Makes the handler of a connection whose handshake makes `offers`.
    init(_ handshake: ClientHandshake, offers: [ExtensionOffer], onMessage: ((ByteBuffer) -> Void)?) {
        self.handshake = handshake
        self.offers = offers
        self.onMessage = onMessage
    }

    func channelActive(context: ChannelHandlerContext) {
        var request = ByteBuffer()
        handshake.writeRequest(into: &request)
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrived.writeImmutableBuffer(unwrapInboundIn(data))
        do {
            guard let head = try parser.parseResponse(&arrived) else { return }
            let agreed = try DeflateParameters.agree(on: handshake.agree(on: head).extensions, to: offers)
            try context.pipeline.syncOperations.addHandler(
                EchoHandler(role: .client, deflate: agreed, onMessage: onMessage))
            if arrived.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(arrived)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

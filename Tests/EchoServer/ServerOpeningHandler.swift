import EchoSupport
import NIOCore
import WebSocketCodec

/// Answers the opening handshake of one connection, then leaves it to an ``EchoHandler``.
final class ServerOpeningHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var parser = HeadParser()
    private var arrived = ByteBuffer()
    private var isAnswered = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isAnswered else { return }
        arrived.writeImmutableBuffer(unwrapInboundIn(data))
        do throws(HandshakeViolation) {
            guard let head = try parser.parseRequest(&arrived) else { return }
            accept(try ServerHandshake(head, subprotocols: []), context)
        } catch {
            refuse(error, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func accept(_ handshake: ServerHandshake, _ context: ChannelHandlerContext) {
        isAnswered = true
        let agreed = DeflateParameters.negotiate(handshake.extensionOffers, policy: .contextTakeover)
        var response = ByteBuffer()
        handshake.writeResponse(into: &response, extensions: agreed.map { [$0.response] } ?? [])
        context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        do {
            try context.pipeline.syncOperations.addHandler(EchoHandler(role: .server, deflate: agreed?.parameters))
            if arrived.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(arrived)) }
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    private func refuse(_ violation: HandshakeViolation, _ context: ChannelHandlerContext) {
        isAnswered = true
        var fields = HeaderFields(violation.responseFields)
        if let field = HeaderField("Connection", "close") { fields.append(field) }
        var response = ByteBuffer()
        ResponseHead(status: violation.status, fields: fields).write(into: &response)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(response)).whenComplete { _ in channel.close(promise: nil) }
    }
}

import NIOCore
import NIOHTTP1
import RoomClient

/// The requests of one connection, one after the other; confined to the channel's event loop.
final class RequestHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Exchange
    typealias OutboundOut = HTTPClientRequestPart

    /// A request, and who waits for its answer.
    struct Exchange: Sendable {
        let request: OutgoingRequest
        /// A promise of the channel's event loop; if it fails, whoever fails it, the connection ends.
        let answer: EventLoopPromise<Answer>
    }

    /// A whole answer, and its channel if that takes another request.
    typealias Answer = (response: ClientResponse, channel: (any Channel)?)

    /// The connection ended before anything of the answer arrived.
    struct Unanswered: Error {
        let cause: any Error
    }

    private var exchange: Exchange?
    private var response: ClientResponse?
    private var isKeptAlive = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = unwrapOutboundIn(data)
        precondition(self.exchange == nil, "one request at a time")
        self.exchange = exchange
        let channel = context.channel
        exchange.answer.futureResult.whenFailure { _ in channel.close(promise: nil) }
        context.write(wrapOutboundOut(.head(exchange.request.head)), promise: nil)
        if let body = exchange.request.body {
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.status != .switchingProtocols else {
                return fail(HTTPParserError.invalidStatus, context)
            }
            response = ClientResponse(status: Int(head.status.code))
            isKeptAlive = head.isKeepAlive
            if let length = head.headers.first(name: "content-length").flatMap({ Int($0) }) { limit(length, context) }
        case .body(let part):
            response?.body += part.readableBytesView
            limit(response?.body.count ?? 0, context)
        case .end:
            guard let exchange, let response else { return }
            self.exchange = nil
            self.response = nil
            exchange.answer.succeed((response, isKeptAlive ? context.channel : nil))
            if !isKeptAlive { context.close(promise: nil) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Also without a request, to learn that the server closes the connection.
        context.read()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error, context) }

    func channelInactive(context: ChannelHandlerContext) {
        fail(ChannelError.eof, context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { fail(ChannelError.ioOnClosedChannel, context) }

    private func limit(_ length: Int, _ context: ChannelHandlerContext) {
        guard length > NIOTransport.mostBytes, let exchange else { return }
        fail(TransportFault("\(exchange.request.server.authority) sends too long an answer"), context)
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        let exchange = exchange
        let isAnswered = response != nil
        self.exchange = nil
        response = nil
        exchange?.answer.fail(isAnswered ? error : Unanswered(cause: error))
        context.close(promise: nil)
    }
}

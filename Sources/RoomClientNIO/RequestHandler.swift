import NIOCore
import NIOHTTP1
import RoomClient

/// One request and its answer on one connection, which ends then.
final class RequestHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: ClientRequest
    private let answer: EventLoopPromise<ClientResponse>
    private var response = ClientResponse(status: 0)
    private var isInterim = false

    init(_ request: ClientRequest, answer: EventLoopPromise<ClientResponse>) {
        self.request = request
        self.answer = answer
    }

    func channelActive(context: ChannelHandlerContext) {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.target)
        head.headers.add(name: "host", value: request.server.authority)
        for (name, value) in request.fields.sorted(by: { $0.key < $1.key }) { head.headers.add(name: name, value: value) }
        head.headers.add(name: "connection", value: "close")
        if let body = request.body { head.headers.add(name: "content-length", value: "\(body.count)") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body = request.body {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.read()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isInterim = (100..<200).contains(head.status.code)
            if !isInterim { response.status = Int(head.status.code) }
        case .body(let part):
            response.body += part.readableBytesView
            if response.body.count > NIOTransport.mostBytes {
                answer.fail(TransportFault("\(request.server.authority) sends too long an answer"))
                context.close(promise: nil)
            }
        case .end:
            guard !isInterim else { return }
            answer.succeed(response)
            context.close(promise: nil)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.read()
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        answer.fail(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { answer.fail(ChannelError.ioOnClosedChannel) }
}

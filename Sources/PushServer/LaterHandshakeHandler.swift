import NIOCore
import NIOHTTP1
import WebSocketCodec

/// Finds the opening handshake of a WebSocket among the later requests of an HTTP connection, where proxies put it that
/// use their connections again.
///
/// Stands behind the reader of requests. A handshake goes no further: once everything before it is answered, the
/// connection is handed to whoever opens sockets.
final class LaterHandshakeHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Takes the connection with a handshake's head.
    private let takeOver: (any Channel, RequestHead) -> Void
    /// Requests that were passed on and not answered.
    private var unanswered = 0
    /// The head of a handshake that waits.
    private var handshake: RequestHead?
    private var isHandshakeRead = false
    /// Whether nothing more can be read behind the request that is being answered.
    private var isLast = false

    init(takeOver: @escaping (any Channel, RequestHead) -> Void) {
        self.takeOver = takeOver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head) where head.headers.contains(name: "Upgrade"):
            if let request = RequestHead(head), request.asksForWebSocket {
                handshake = request
                break
            }
            // The reader takes whatever follows a wish to leave HTTP for no HTTP, also where the wish is not met.
            isLast = true
            var last = head
            last.headers.replaceOrAdd(name: "Connection", value: "close")
            unanswered += 1
            context.fireChannelRead(wrapInboundOut(.head(last)))
        case .head:
            unanswered += 1
            context.fireChannelRead(data)
        case .body where handshake != nil:
            break
        case .end where handshake != nil:
            isHandshakeRead = true
            handOverIfDue(context)
        case .body, .end:
            context.fireChannelRead(data)
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where isLast && unanswered == 1:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .head, .body:
            context.write(data, promise: promise)
        case .end:
            context.write(data, promise: promise)
            unanswered -= 1
            handOverIfDue(context)
        }
    }

    private func handOverIfDue(_ context: ChannelHandlerContext) {
        guard let handshake, isHandshakeRead, unanswered == 0 else { return }
        self.handshake = nil
        // What was written before goes before.
        context.flush()
        takeOver(context.channel, handshake)
    }
}

extension RequestHead {
    /// The same head; nil where a field is none.
    fileprivate init?(_ head: HTTPRequestHead) {
        var fields = HeaderFields()
        for (name, value) in head.headers {
            guard let field = HeaderField(name, value) else { return nil }
            fields.append(field)
        }
        self.init(
            method: head.method.rawValue, target: head.uri, isHTTP11: head.version == .http1_1, fields: fields)
    }
}

import NIOCore
import NIOHTTP1
import WebSocketCodec

/// The fields that tell browsers to do nothing with an answer but hand it to who asked.
///
/// Every HTTP answer has them; none of them is a page, so none may load or be framed by anything.
struct SecurityFields: Sendable {
    /// Names and values.
    let fields: [(name: String, value: String)]

    /// `isSecure`: whether TLS is the server's own; otherwise it is for the proxy to say that it stays.
    init(isSecure: Bool) {
        var fields = [
            (name: "X-Content-Type-Options", value: "nosniff"), ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"), ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
        ]
        // RFC 6797 §6.1: a year.
        if isSecure { fields.append(("Strict-Transport-Security", "max-age=31536000")) }
        self.fields = fields
    }

    /// The fields as the answer to an opening handshake has them.
    var headerFields: [HeaderField] { fields.compactMap { HeaderField($0.name, $0.value) } }
}

/// Puts ``SecurityFields`` into every answer of an HTTP connection, those to what is no request among them.
final class SecurityFieldsHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let fields: SecurityFields

    init(_ fields: SecurityFields) {
        self.fields = fields
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data), head.status.code >= 200 else {
            return context.write(data, promise: promise)
        }
        for field in fields.fields { head.headers.replaceOrAdd(name: field.name, value: field.value) }
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPTransport

/// The handler on a channel without a network.
struct HTTPConnectionHandlerTests {
    private let channel = EmbeddedChannel()
    private let handler: HTTPConnectionHandler
    private let server = Recorder()

    init() throws {
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false)
        let limits = HTTPExchange.Limits(
            idle: .seconds(60), head: .seconds(10), bodyGrace: .seconds(10), stall: .seconds(30), linger: .seconds(5),
            unwantedBody: 1_024)
        handler = try HTTPConnectionHandler.add(
            to: channel,
            HTTPConnectionHandler.Dependencies(
                limits: limits, fields: [("X-One", "1"), ("X-Two", "2")], problem: { _ in [0x78] },
                takeOver: { _, _ in }))
        try channel.pipeline.syncOperations.addHandler(server)
    }

    private func sent() throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
        return text
    }

    private let request = "GET /a HTTP/1.1\r\nHost: here\r\n\r\n"

    @Test func `pipelined requests are passed on one at a time, and little is read ahead`() throws {
        try channel.writeInbound(ByteBuffer(string: String(repeating: request, count: 400)))
        #expect(server.heads == ["/a"])
        server.answer("yes")
        #expect(server.heads == ["/a", "/a"])
        #expect(try sent().hasSuffix("yes"))
        for _ in 0..<399 { server.answer("yes") }
        #expect(server.heads.count == 400)
    }

    @Test func `an answer to HEAD has its fields and no body`() throws {
        try channel.writeInbound(ByteBuffer(string: "HEAD /a HTTP/1.1\r\nHost: here\r\n\r\n" + request))
        server.answer("yes")
        let first = try sent()
        #expect(first.contains("Content-Length: 3\r\n") && first.hasSuffix("\r\n\r\n"))
        server.answer("yes")
        #expect(try sent().hasSuffix("\r\n\r\nyes"))
    }

    @Test func `fields are added where an answer lacks them`() throws {
        try channel.writeInbound(ByteBuffer(string: request))
        server.answer("yes", ["x-two": "own"])
        let kept = "Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n"
        #expect(try sent() == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nx-two: own\r\nX-One: 1\r\n\(kept)\r\nyes")
    }

    @Test func `the last answer says so, and no time for which the connection is kept`() throws {
        try channel.writeInbound(ByteBuffer(string: "GET /a HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"))
        server.answer("yes")
        let sent = try sent()
        #expect(sent.contains("Connection: close\r\n") && !sent.contains("Keep-Alive"))
    }

    @Test func `a violation behind a request is answered behind its answer`() throws {
        try channel.writeInbound(ByteBuffer(string: request + "GET /b HTTP/1.1\r\n\r\n" + request))
        #expect(try sent() == "")
        server.answer("yes")
        let text = try sent()
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.contains("yesHTTP/1.1 400 Bad Request\r\n") && text.hasSuffix("\r\n\r\nx"))
        #expect(server.heads == ["/a"])
    }

    @Test func `objects kept for an answer are released when it has been sent`() throws {
        final class Charge {}
        try channel.writeInbound(ByteBuffer(string: request))
        weak var seen: Charge?
        do {
            let charge = Charge()
            seen = charge
            handler.keep(charge)
        }
        #expect(seen != nil)
        server.answer("yes")
        #expect(seen == nil)
    }

    @Test func `a slow body is answered 408`() throws {
        try channel.writeInbound(
            ByteBuffer(string: "POST /a HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nabc"))
        channel.pipeline.read()
        #expect(handler.deadlineReached(at: .now() + .seconds(9)) != nil)
        #expect(try sent() == "")
        _ = handler.deadlineReached(at: .now() + .seconds(11))
        #expect(try sent().hasPrefix("HTTP/1.1 408 "))
        server.answer("late")
        #expect(try sent() == "")
    }
}

/// Takes the place of the HTTP server, and answers when told to.
private final class Recorder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var heads: [String] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { heads.append(head.uri) }
    }

    func answer(_ text: String, _ fields: HTTPHeaders = [:]) {
        var headers: HTTPHeaders = ["Content-Length": "\(text.utf8.count)"]
        headers.add(contentsOf: fields)
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context?.write(wrapOutboundOut(.head(head)), promise: nil)
        context?.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

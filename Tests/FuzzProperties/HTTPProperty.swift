import HTTPTransport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import WebSocketCodec

/// One request at a time is passed on and each is answered once, whatever bytes arrive, however they are split.
///
/// Nothing is passed on after a violation, and the same requests are seen for every way of splitting.
///
/// An input begins with one byte of setup; the bytes of a connection follow.
enum HTTPProperty {
    static func check(_ input: [UInt8]) throws(BrokenProperty) -> Fuzzer.Verdict {
        guard let seed = input.first else { return .unfinished }
        let bytes = input[1...]
        try HeadAgreementProperty.check(bytes)
        let whole = try HTTPReading(Pieces.whole(bytes), answersLate: seed & 1 == 1)
        let cut = try HTTPReading(Pieces.cut(bytes, seed: UInt64(seed)), answersLate: seed & 2 == 2)
        try require(cut.requests == whole.requests, "cut with seed \(seed): \(cut.requests), whole: \(whole.requests)")
        try require(cut.isRefused == whole.isRefused, "cut with seed \(seed): refused \(cut.isRefused)")
        if whole.isRefused { return .refused }
        return whole.requests.isEmpty || !whole.isBetweenRequests ? .unfinished : .accepted
    }
}

/// The output of a connection's handlers.
private struct HTTPReading {
    private(set) var requests: [String] = []
    private(set) var isRefused = false
    private(set) var isBetweenRequests = true

    init(_ pieces: [ArraySlice<UInt8>], answersLate: Bool) throws(BrokenProperty) {
        let server = Server(answersLate: answersLate)
        let channel = EmbeddedChannel()
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false)
            let dependencies = HTTPConnectionHandler.Dependencies(
                limits: HTTPExchange.Limits(
                    idle: .seconds(60), head: .seconds(10), bodyGrace: .seconds(10), stall: .seconds(30),
                    linger: .seconds(5), unwantedBody: 1_024),
                problem: { _ in [] }, takeOver: { _, _ in server.isTakenOver = true })
            try HTTPConnectionHandler.add(to: channel, dependencies)
            try channel.pipeline.syncOperations.addHandler(server)
            for piece in pieces where channel.isActive {
                _ = try? channel.writeInbound(ByteBuffer(bytes: piece))
                if answersLate { server.answer() }
                channel.embeddedEventLoop.run()
            }
            while channel.isActive, server.answer() { channel.embeddedEventLoop.run() }
        } catch {
            throw BrokenProperty("\(error)")
        }
        var sent = ""
        while let bytes = try? channel.readOutbound(as: ByteBuffer.self) { sent += String(buffer: bytes) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        if let broken = server.broken { throw BrokenProperty(broken) }
        requests = server.requests
        isBetweenRequests = !server.isInRequest
        let answers = sent.ranges(of: "HTTP/1.1 200 OK").count
        try require(answers == server.answered, "\(server.answered) answers were written, \(answers) sent")
        isRefused = ["400", "408", "431", "505"].contains { sent.contains("HTTP/1.1 \($0) ") }
    }
}

/// Takes the place of the HTTP server.
private final class Server: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var requests: [String] = []
    private(set) var answered = 0
    private(set) var broken: String?
    private(set) var isInRequest = false
    var isTakenOver = false
    private let answersLate: Bool
    private var isOwing = false
    private var context: ChannelHandlerContext?

    init(answersLate: Bool) {
        self.answersLate = answersLate
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isTakenOver { broken = "something came after the connection was handed over" }
        switch unwrapInboundIn(data) {
        case .head(let head):
            if isInRequest || isOwing { broken = "a second request in progress: \(head)" }
            isInRequest = true
            requests.append("\(head.method.rawValue) \(head.uri)\n")
        case .body(let bytes):
            if !isInRequest { broken = "a body without a head" }
            requests[requests.count - 1] += String(buffer: bytes)
        case .end:
            if !isInRequest { broken = "an end without a head" }
            isInRequest = false
            isOwing = true
            if !answersLate { answer() }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        context.fireChannelInactive()
    }

    /// Answers the request that has arrived; returns whether there was one.
    @discardableResult
    func answer() -> Bool {
        guard isOwing, let context else { return false }
        isOwing = false
        answered += 1
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "2"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "ok")))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        return true
    }
}

import EventStorage
import FoundationEssentials
import HTTPTransport
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import PrometheusMetrics
import RoomDomain
import Testing

@testable import PushServer
@testable import RoomService

/// A server without a network, on one loop, that only opens sockets.
final class OpeningServer {
    static let connectionsOfAddress = 3
    static let earlyBytes = 1_000

    private let eventLoop = EmbeddedLoop(EmbeddedEventLoop())
    let loop: LoopContext
    let checks = OpeningAnswers()
    let sockets = OpenedSockets()
    let session = Session(SessionRecord(id: UUID(), tokenHash: [], name: "Ana", createdAt: 0, expiresAt: 1))
    private let addresses = AddressLimit(maximum: connectionsOfAddress)
    private let admission: Admission
    private let dependencies: SocketOpening.Dependencies
    private var connections: [OpeningConnection] = []

    init() throws {
        let settings = RoomServerSettings(version: "0", node: "n")
        let registry = PrometheusRegistry()
        admission = Admission(settings, registry: registry)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let rooms = RoomHost(
            store: MemoryEventStore(), settings: RoomHostSettings(), loops: [eventLoop],
            clock: ServerClock(milliseconds: { 0 }), logger: logger)
        let metrics = ServerMetrics(registry: registry, version: "0", node: "n")
        loop = LoopContext(
            eventLoop: eventLoop, index: 0, of: 1, rooms: rooms, settings: settings, admission: admission,
            probe: metrics.probe(eventLoop, index: 0))
        dependencies = SocketOpening.Dependencies(
            loop: loop,
            rules: SocketGate.Rules(
                origins: OriginRule(allowed: [], isSecure: true), earlyBytes: Self.earlyBytes),
            checks: checks, sockets: sockets, foreignOrigins: ForeignOriginLog(logger: logger))
    }

    deinit {
        for connection in connections { _ = try? connection.channel.finish(acceptAlreadyClosed: true) }
    }

    /// A new connection, whose HTTP server answers when told to.
    func connect() throws -> OpeningConnection {
        let connection = OpeningConnection(on: eventLoop.embedded)
        connections.append(connection)
        let channel = connection.channel
        try channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        let limits = try #require(PeerLimits(of: channel.remoteAddress, addresses, admission))
        let dependencies = dependencies
        let opening = SocketOpening(limits, dependencies) { channel, limits in
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
            try HTTPConnectionHandler.add(
                to: channel,
                HTTPConnectionHandler.Dependencies(
                    limits: HTTPExchange.Limits(
                        idle: .seconds(60), head: .seconds(10), bodyGrace: .seconds(10), stall: .seconds(30),
                        linger: .seconds(5), unwantedBody: 1_024),
                    problem: { _ in [] },
                    takeOver: { channel, head in
                        SocketOpening.take(head, from: channel, behind: nil, limits, dependencies)
                    }))
            try pipeline.addHandler(connection.http)
        }
        try channel.pipeline.syncOperations.addHandler(opening)
        return connection
    }
}

/// One connection to an ``OpeningServer``.
final class OpeningConnection {
    let channel: EmbeddedChannel
    fileprivate let http = OpeningHTTPServer()

    init(on loop: EmbeddedEventLoop) {
        channel = EmbeddedChannel(loop: loop)
    }

    /// The paths of the requests that the HTTP server got.
    var requests: [String] { http.requests }

    func opening() throws -> SocketOpening { try channel.pipeline.syncOperations.handler(type: SocketOpening.self) }

    func send(_ text: String) throws {
        try send(ByteBuffer(string: text))
    }

    func send(_ bytes: ByteBuffer) throws {
        try channel.writeInbound(bytes)
    }

    /// Everything that was sent since the last call, or the next `count` writes.
    func sent(count: Int = .max) throws -> String {
        var text = ""
        var left = count
        while left > 0, let bytes = try channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: bytes)
            left -= 1
        }
        return text
    }

    /// Lets the HTTP server answer.
    func answer() {
        http.answer()
        channel.embeddedEventLoop.run()
    }

    func close() throws {
        try channel.close().wait()
        channel.embeddedEventLoop.run()
    }
}

/// Takes the place of the HTTP server.
final class OpeningHTTPServer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private(set) var requests: [String] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { requests.append(head.uri) }
    }

    func answer() {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
        context?.write(wrapOutboundOut(.head(head)), promise: nil)
        context?.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

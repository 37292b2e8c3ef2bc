import EventStorage
import FoundationEssentials
import HTTPTransport
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import PrometheusMetrics
import RoomDomain
import RoomWire
import Synchronization
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
            checks: checks, sockets: sockets)
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

/// Checks whose answers a test gives.
final class OpeningAnswers: OpeningChecks {
    private enum Question {
        case authenticate(String, @Sendable (Result<Session, CommandFailure>) -> Void)
        case find(String, @Sendable (Result<RoomID, CommandFailure>) -> Void)
        case ask(String, @Sendable (Result<Void, CommandFailure>) -> Void)

        var text: String {
            switch self {
            case .authenticate(let text, _): "authenticate \(text)"
            case .find(let text, _): "find \(text)"
            case .ask(let text, _): "ask \(text)"
            }
        }
    }

    private struct State {
        var questions: [Question] = []
        var isDraining = false
        var atOnce: (session: Session, room: RoomID)?
        var isFull = false
        var reserved = 0
    }

    private let state = Mutex(State())

    /// The questions without an answer.
    var waiting: [String] { state.withLock { $0.questions.map(\.text) } }
    /// The number of sockets that were counted.
    var reserved: Int { state.withLock { $0.reserved } }
    var isDraining: Bool {
        get { state.withLock { $0.isDraining } }
        set { state.withLock { $0.isDraining = newValue } }
    }
    /// The answers that are given at once.
    var atOnce: (session: Session, room: RoomID)? {
        get { state.withLock { $0.atOnce } }
        set { state.withLock { $0.atOnce = newValue } }
    }
    /// Whether a session may have no more sockets.
    var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    private func next() -> Question? {
        state.withLock { $0.questions.isEmpty ? nil : $0.questions.removeFirst() }
    }

    private func ask(_ question: Question) {
        state.withLock { $0.questions.append(question) }
        if let (session, room) = atOnce { answerAnything(session, room) }
    }

    func answer(_ result: Result<Session, CommandFailure>) {
        guard case .authenticate(_, let done) = next() else {
            Issue.record("no session is asked for")
            return
        }
        done(result)
    }

    func answer(_ result: Result<RoomID, CommandFailure>) {
        guard case .find(_, let done) = next() else {
            Issue.record("no room is asked for")
            return
        }
        done(result)
    }

    func answer(_ result: Result<Void, CommandFailure>) {
        guard case .ask(_, let done) = next() else {
            Issue.record("no room is asked")
            return
        }
        done(result)
    }

    /// Answers the next question, if there is one.
    func answerAnything(_ session: Session, _ room: RoomID) {
        switch next() {
        case .authenticate(_, let done): done(.success(session))
        case .find(_, let done): done(.success(room))
        case .ask(_, let done): done(.success(()))
        case nil: break
        }
    }

    func authenticate(
        authorization: String?, cookies: [String],
        _ done: @escaping @Sendable (Result<Session, CommandFailure>) -> Void
    ) {
        ask(.authenticate(([authorization ?? "-"] + cookies).joined(separator: " "), done))
    }

    func find(
        _ reference: RoomReference, for seeker: RoomSeeker,
        _ done: @escaping @Sendable (Result<RoomID, CommandFailure>) -> Void
    ) {
        guard case .id(let room) = reference else { return done(.failure(CommandFailure(.notFound))) }
        ask(.find("\(room)", done))
    }

    func ask(
        _ room: RoomID, for session: SessionID, _ done: @escaping @Sendable (Result<Void, CommandFailure>) -> Void
    ) {
        ask(.ask("\(room)", done))
    }

    func reserve(for session: SessionID) throws(CommandFailure) -> OpenCount<SessionID>.Ticket? {
        guard !isFull else { throw CommandFailure(.rateLimited) }
        state.withLock { $0.reserved += 1 }
        return nil
    }
}

/// Makes sockets that keep what they receive.
final class OpenedSockets: SocketMaker {
    private(set) var count = 0
    fileprivate(set) var received = ""

    func makeSocket(
        _ id: ConnectionID, _ opening: SocketGate.Opening, _ limits: PeerLimits, _ place: OpenCount<SessionID>.Ticket?
    ) -> any ChannelHandler {
        count += 1
        let room = opening.room.map { "\($0)" } ?? "-"
        let position = opening.position.map { "\($0.seq)" } ?? "-"
        return Socket(self, "opened \(room) at \(position) for \(opening.session.name)")
    }

    private final class Socket: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let sockets: OpenedSockets
        private let response: String

        init(_ sockets: OpenedSockets, _ response: String) {
            self.sockets = sockets
            self.response = response
        }

        func handlerAdded(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            sockets.received += String(buffer: unwrapInboundIn(data))
        }
    }
}

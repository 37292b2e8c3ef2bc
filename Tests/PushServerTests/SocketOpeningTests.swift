import FoundationEssentials
import NIOCore
import NIOEmbedded
import RoomDomain
import Testing
import WebSocketCodec

@testable import PushServer

/// The opening of sockets on a channel without a network.
@Suite struct SocketOpeningTests {
    private let server: OpeningServer
    private let room = RoomID(UUID())

    init() throws {
        server = try OpeningServer()
    }

    private var handshake: String { RequestHead.text(handshake: "/v1/rooms/\(room)/socket?epoch=e&seq=7") }

    /// Takes a connection to a stage of its opening.
    private func go(_ connection: OpeningConnection, to stage: Stage) throws {
        guard stage != .reading else { return }
        try connection.send(handshake)
        guard stage != .authenticating else { return }
        server.checks.answer(.success(server.session))
        guard stage != .finding else { return }
        server.checks.answer(.success(room))
    }

    /// The times at which an opening waits.
    enum Stage: CaseIterable { case reading, authenticating, finding, asking }

    // MARK: Opening

    @Test func `a handshake opens a socket, which gets the input that came early`() throws {
        let connection = try server.connect()
        for byte in handshake.utf8 { try connection.send(ByteBuffer(bytes: [byte])) }
        #expect(server.checks.waiting == ["authenticate Bearer x a=b c=d"])
        try connection.send("early")
        server.checks.answer(.success(server.session))
        #expect(server.checks.waiting == ["find \(room)"])
        server.checks.answer(.success(room))
        #expect(server.checks.waiting == ["ask \(room)"])
        try connection.send(" input")
        #expect(try connection.sent() == "")
        server.checks.answer(.success(()))

        #expect(try connection.sent() == "opened \(room) at 7 for Ana")
        #expect(server.sockets.received == "early input")
        try connection.send(", later input")
        #expect(server.sockets.received == "early input, later input")
        #expect(server.loop.tally.handshakes == [101: 1])
        // The socket looks after the number of the channel from now on.
        #expect(server.loop.deadlines.openChannels == 1)
        #expect(server.checks.reserved == 1)
    }

    @Test func `a socket without a room asks for none`() throws {
        let connection = try server.connect()
        try connection.send(RequestHead.text(handshake: "/v1/socket") + "early")
        server.checks.answer(.success(server.session))
        #expect(try connection.sent() == "opened - at - for Ana")
        #expect(server.sockets.received == "early")
    }

    @Test func `answers that are known at once need no turn of the loop`() throws {
        server.checks.atOnce = (server.session, room)
        let connection = try server.connect()
        try connection.send(handshake)
        #expect(try connection.sent() == "opened \(room) at 7 for Ana")
    }

    // MARK: HTTP

    @Test func `everything else is passed to the HTTP server, with all of its bytes`() throws {
        let connection = try server.connect()
        try connection.send("GET /healthz HTTP/1.1\r\n")
        #expect(connection.requests == [])
        try connection.send("Host: here\r\n\r\nGET /readyz HTTP/1.1\r\nHost: here\r\n\r\n")
        #expect(connection.requests == ["/healthz"])
        connection.answer()
        #expect(connection.requests == ["/healthz", "/readyz"])
        #expect(server.loop.deadlines.openChannels == 0)
    }

    @Test(arguments: ["/v1/rooms/ROOM/socket?epoch=e&seq=7", "/v1/sockets"])
    func `a handshake that follows other requests is answered as the first one is`(target: String) throws {
        let text = RequestHead.text(handshake: target.replacing("ROOM", with: "\(room)"))
        var answers: [String] = []
        server.checks.atOnce = (server.session, room)
        for before in [0, 1, 3] {
            let connection = try server.connect()
            try connection.send(String(repeating: "GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n", count: before) + text)
            for _ in 0..<before { connection.answer() }
            #expect(connection.requests == Array(repeating: "/healthz", count: before))
            let sent = try connection.sent()
            let kept = "Content-Length: 0\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n"
            answers.append(sent.replacing("HTTP/1.1 200 OK\r\n\(kept)\r\n", with: ""))
        }
        #expect(Set(answers).count == 1)
        #expect(answers[0].hasPrefix(target == "/v1/sockets" ? "HTTP/1.1 404 \r\n" : "opened "))
    }

    // MARK: Refusing

    @Test(arguments: ["GET", "HEAD"])
    func `an answer to HEAD has no body, on a first request and on a later one`(method: String) throws {
        for before in ["", "GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"] {
            let connection = try server.connect()
            try connection.send(before + RequestHead.text(handshake: "/v1/sockets", method: method))
            if !before.isEmpty {
                connection.answer()
                #expect(try connection.sent(count: 2).hasPrefix("HTTP/1.1 200 OK\r\n"))
            }
            let answer = try connection.sent()
            #expect(answer.hasPrefix("HTTP/1.1 404 \r\n"))
            #expect(answer.hasSuffix("\r\n\r\n") == (method == "HEAD"))
            #expect(!connection.channel.isActive)
        }
    }

    @Test func `bytes that are no head are refused`() throws {
        let connection = try server.connect()
        try connection.send("GET / HTTP/1.1\n")
        #expect(try connection.sent().hasPrefix("HTTP/1.1 400 \r\n"))
        #expect(!connection.channel.isActive)
        #expect(server.loop.tally.handshakes == [400: 1])
    }

    @Test func `a session with too many sockets is refused`() throws {
        server.checks.atOnce = (server.session, room)
        server.checks.isFull = true
        let connection = try server.connect()
        try connection.send(handshake)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 429 \r\n"))
        #expect(server.checks.reserved == 0)
    }

    @Test func `a connection that is one too many is refused at its first request, whatever it asks for`() throws {
        let others = try (0..<OpeningServer.connectionsOfAddress).map { _ in try server.connect() }
        for other in others { try other.send("GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n") }
        for request in [handshake, "GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"] {
            let connection = try server.connect()
            try connection.send(request)
            #expect(try connection.sent().hasPrefix("HTTP/1.1 429 \r\n"))
            #expect(connection.requests == [])
        }
        #expect(server.loop.tally.connectionsRefused == 2)
        #expect(server.checks.waiting == [])
        try others[0].close()
        let connection = try server.connect()
        try connection.send(handshake)
        #expect(server.checks.waiting.count == 1)
    }

    // MARK: Everything else that may happen

    @Test(arguments: Stage.allCases) func `a peer may leave`(stage: Stage) throws {
        let connection = try server.connect()
        try go(connection, to: stage)
        try connection.close()
        #expect(server.loop.deadlines.openChannels == 0)
        // An answer that comes later has no effect.
        server.checks.answerAnything(server.session, room)
        #expect(server.checks.waiting == [])
        #expect(server.sockets.count == 0)
        #expect(server.loop.tally.handshakes == [:])
    }

    @Test(arguments: Stage.allCases) func `the deadline closes a connection without an answer`(stage: Stage) throws {
        let connection = try server.connect()
        try go(connection, to: stage)
        let opening = try connection.opening()
        let now = server.loop.now
        #expect(opening.deadlineReached(at: now + .seconds(9)) != nil)
        #expect(connection.channel.isActive)
        #expect(opening.deadlineReached(at: now + .seconds(10)) == nil)
        #expect(!connection.channel.isActive)
        #expect(try connection.sent() == "")
        server.checks.answerAnything(server.session, room)
        #expect(server.sockets.count == 0)
    }

    @Test(arguments: Stage.allCases) func `a stop closes a connection, or answers its handshake`(stage: Stage) throws {
        let connection = try server.connect()
        try go(connection, to: stage)
        server.loop.deadlines.drain()
        #expect(connection.channel.isActive == (stage != .reading))
        server.checks.answerAnything(server.session, room)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 503 \r\n") == (stage != .reading))
        #expect(!connection.channel.isActive)
        #expect(server.sockets.count == 0)
    }

    @Test(arguments: Stage.allCases)
    func `a stop that has begun on other loops refuses a handshake too`(stage: Stage) throws {
        let connection = try server.connect()
        try go(connection, to: stage)
        server.checks.isDraining = true
        if stage == .reading {
            try connection.send(handshake)
        } else {
            server.checks.answerAnything(server.session, room)
        }
        #expect(try connection.sent().hasPrefix("HTTP/1.1 503 \r\n"))
        #expect(!connection.channel.isActive)
    }

    @Test func `a connection that is opened while the server stops has no time`() throws {
        server.checks.isDraining = true
        let connection = try server.connect()
        #expect(try connection.opening().deadlineReached(at: .now()) == nil)
        #expect(!connection.channel.isActive)
    }

    @Test(arguments: [Stage.authenticating, .finding, .asking])
    func `input that comes early is bounded`(stage: Stage) throws {
        let connection = try server.connect()
        try go(connection, to: stage)
        try connection.send(ByteBuffer(repeating: 0, count: OpeningServer.earlyBytes))
        #expect(connection.channel.isActive)
        try connection.send(ByteBuffer(repeating: 0, count: 1))
        #expect(!connection.channel.isActive)
        #expect(try connection.sent() == "")
    }

    @Test func `a failure of the transport closes the connection`() throws {
        let connection = try server.connect()
        connection.channel.pipeline.fireErrorCaught(ChannelError.connectTimeout(.zero))
        connection.channel.embeddedEventLoop.run()
        #expect(!connection.channel.isActive)
    }
}

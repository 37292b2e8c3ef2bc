import NIOCore
import RoomClient
import TLSTransport
import Testing
import WebSocketCodec

@testable import RoomClientNIO

@Suite struct OpeningTests {
    @Test func `a handshake has what the protocol asks for`() async throws {
        let certificates = try Certificates.shared.get()
        try await LoopbackServer.run(certificates) { server in
            let transport = try NIOTransport(
                trust: .systemAnd(file: certificates.certificate.authorityPath), times: .patient)
            let request = ClientRequest(
                "GET", "/v1/rooms/7KQ2ZM/socket?epoch=a&seq=1", at: server.address,
                fields: ["authorization": "Bearer a"])
            async let socket = transport.connect(request)
            let peer = try await server.accept()
            let head = try await peer.open()
            #expect(head.target == request.target)
            #expect(head.fields["sec-websocket-protocol"] == "backline.v1.json")
            #expect(head.fields["authorization"] == "Bearer a" && head.fields["user-agent"] == "backline")
            #expect(head.fields.onlyValue(of: "host") == server.address.authority)
            try await peer.message("welcome")
            let open = try await socket
            #expect(try await open.receive() == Array("welcome".utf8))
            #expect(await open.closing == nil)
        }
    }

    @Test func `every handshake has another key`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            var keys: Set<String?> = []
            for _ in 0..<3 {
                async let socket = transport.connect(ClientRequest("GET", "/v1/socket", at: server.address))
                keys.insert(try await server.accept().open().fields["sec-websocket-key"])
                _ = try await socket
            }
            #expect(keys.count == 3)
        }
    }

    @Test func `interim answers come before the right one, and frames right behind it`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let socket = transport.connect(ClientRequest("GET", "/v1/socket", at: server.address))
            let peer = try await server.accept()
            try await peer.send("HTTP/1.1 103 Early Hints\nlink: </>\n\nHTTP/1.1 102 Processing\n\n")
            var frames = ByteBuffer()
            FrameWriter.write(.text, payload: ByteBuffer(string: "one"), into: &frames)
            FrameWriter.write(.text, payload: ByteBuffer(string: "two"), into: &frames)
            try await peer.open(followedBy: frames)
            let open = try await socket
            #expect(try await open.receive() == Array("one".utf8))
            #expect(try await open.receive() == Array("two".utf8))
        }
    }

    private static let problem = #"{"type":"about:blank","status":404,"code":"not_found"}"#

    @Test(arguments: [
        "content-length: \(problem.utf8.count)\n\n\(problem)",
        "transfer-encoding: chunked\n\n3\n\(problem.prefix(3))\n"
            + "\(String(problem.utf8.count - 3, radix: 16))\n\(problem.dropFirst(3))\n0\n\n",
        "connection: close\n\n\(problem)",
    ])
    func `a refusal is told with its answer`(rest: String) async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            let socket = Task { try await transport.connect(ClientRequest("GET", "/v1/socket", at: server.address)) }
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 404 Not Found\ncontent-type: application/problem+json\n\(rest)")
            if rest.hasPrefix("connection") { peer.end() }
            let fault = await #expect(throws: TransportFault.self) { try await socket.value }
            #expect(fault?.response == ClientResponse(status: 404, body: Array(Self.problem.utf8)))
            #expect(fault?.isLasting == false)
            #expect(fault?.reason == "\(server.address.authority) refused the connection with status 404")
            #expect(await peer.ended() == 0)
        }
    }

    @Test(arguments: ["content-length: 1000000", "transfer-encoding: chunked", "connection: close"])
    func `of a long refusal the beginning is kept`(field: String) async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            let socket = Task { try await transport.connect(ClientRequest("GET", "/v1/socket", at: server.address)) }
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 503 Service Unavailable\n\(field)\n\n")
            if field.hasSuffix("chunked") { try await peer.send("fffff\n") }
            try? await peer.channel.writeAndFlush(ByteBuffer(repeating: 0x20, count: 100_000)).get()
            let fault = await #expect(throws: TransportFault.self) { try await socket.value }
            #expect(fault?.response?.status == 503 && fault?.response?.body.count == 65_536)
        }
    }

    @Test(arguments: [
        ("sec-websocket-accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\nsec-websocket-protocol: backline.v1.json", "the key"),
        ("sec-websocket-protocol: backline.v1.json", "the key"),
        ("ACCEPT\nsec-websocket-protocol: other", "a subprotocol that was not offered"),
        ("ACCEPT", "none of the offered subprotocols"),
        ("ACCEPT\nsec-websocket-protocol: backline.v1.json\nsec-websocket-extensions: x", "not offered"),
    ])
    func `an answer that does not fit the request is a fault`(fields: String, reason: String) async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            let socket = Task { try await transport.connect(ClientRequest("GET", "/v1/socket", at: server.address)) }
            let peer = try await server.accept()
            let handshake = try ServerHandshake(try await peer.request(), subprotocols: ["backline.v1.json"])
            let fields = fields.replacing("ACCEPT", with: "sec-websocket-accept: \(handshake.acceptKey)")
            try await peer.send(
                "HTTP/1.1 101 Switching Protocols\nupgrade: websocket\nconnection: upgrade\n\(fields)\n\n")
            let fault = await #expect(throws: TransportFault.self) { try await socket.value }
            #expect(fault?.reason.contains(reason) == true, "\(fault as Any)")
            #expect(fault?.response == nil && fault?.cause is HandshakeViolation)
            #expect(await peer.ended() == 0)
        }
    }

    @Test(arguments: ["", "HTTP/1.1 101", "SSH-2.0-x\n"])
    func `a connection that ends or makes no sense is a fault`(text: String) async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            let socket = Task { try await transport.connect(ClientRequest("GET", "/v1/socket", at: server.address)) }
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.send(text)
            peer.end()
            let fault = await #expect(throws: TransportFault.self) { try await socket.value }
            #expect(fault?.response == nil && fault?.isLasting == false)
        }
    }

    /// Cut where a server may be silent: before TLS, before the answer, in its head, and in the body of a refusal.
    @Test(arguments: 0..<4)
    func `a silent server is given up, in time and with the task`(stage: Int) async throws {
        let certificates = stage == 0 ? nil : try Certificates.shared.get()
        var times = Times.patient
        times.opening = .milliseconds(300)
        for isCancelled in [false, true] {
            try await LoopbackServer.run(certificates) { server in
                let address = try #require(ServerAddress("https://127.0.0.1:\(server.address.port)"))
                let transport = try NIOTransport(trust: .insecure, times: isCancelled ? .patient : times)
                let task = Task { try await transport.connect(ClientRequest("GET", "/v1/socket", at: address)) }
                // On a slow machine, the time may be over before any of it.
                let serving = Task {
                    let peer = try await server.accept()
                    if stage > 0 { _ = try? await peer.request() }
                    if stage == 2 { try? await peer.send("HTTP/1.1 101 Switching") }
                    if stage == 3 { try? await peer.send("HTTP/1.1 404 Not Found\ncontent-length: 10\n\n{") }
                    return peer
                }
                if isCancelled {
                    _ = try await serving.value
                    task.cancel()
                }
                let fault = await #expect(throws: TransportFault.self) { try await task.value }
                #expect(isCancelled == (fault?.cause is CancellationError))
                if !isCancelled { #expect(fault?.reason == "\(address.authority) does not answer") }
                serving.cancel()
                if let peer = try? await serving.value { _ = await peer.ended() }
            }
        }
    }
}

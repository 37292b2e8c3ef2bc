import NIOCore
import NIOPosix
import RoomClient
import TLSTransport
import Testing
import WebSocketCodec

@testable import RoomClientNIO

@Suite struct HTTPTests {
    @Test func `a request arrives as it was made, and its answer comes back`() async throws {
        let certificates = try Certificates.shared.get()
        try await LoopbackServer.run(certificates) { server in
            let transport = try NIOTransport(
                trust: .systemAnd(file: certificates.certificate.authorityPath), times: .patient)
            async let response = transport.send(
                ClientRequest("GET", "/v1/session?x=%20", at: server.address, fields: ["authorization": "Bearer a"]))
            let peer = try await server.accept()
            let head = try await peer.request()
            #expect(head.method == "GET" && head.target == "/v1/session?x=%20" && head.isHTTP11)
            #expect(
                head.fields.all.map { "\($0.name): \($0.value)" } == [
                    "host: \(server.address.authority)", "authorization: Bearer a", "user-agent: backline",
                ])
            try await peer.answer(#"{"session":1}"#)
            #expect(try await response == ClientResponse(status: 200, body: Array(#"{"session":1}"#.utf8)))
        }
    }

    @Test func `a body is sent with its length, and so is none`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            for text in [#"{"name":"Ana"}"#, nil] {
                async let response = transport.send(
                    ClientRequest("POST", "/v1/sessions", at: server.address, body: text.map { Array($0.utf8) }))
                let peer = try await server.accept()
                let head = try await peer.request()
                let length = text?.utf8.count ?? 0
                #expect(head.fields.values(of: "content-length") == ["\(length)"])
                #expect(head.fields["transfer-encoding"] == nil)
                #expect(try await peer.body(length) == text ?? "")
                try await peer.send("HTTP/1.1 201 Created\nconnection: close\ncontent-length: 0\n\n")
                #expect(try await response == ClientResponse(status: 201))
                #expect(await peer.ended() == 0)
            }
        }
    }

    @Test(arguments: [
        ("GET", "HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n3\nabc\n2;x\nde\n0\n\n", 200, "abcde"),
        ("GET", "HTTP/1.1 103 Early Hints\n\nHTTP/1.1 404 Not Found\ncontent-length: 2\n\nno", 404, "no"),
        ("GET", "HTTP/1.1 302 Found\nlocation: /elsewhere\ncontent-length: 0\n\n", 302, ""),
        ("GET", "HTTP/1.1 304 Not Modified\n\n", 304, ""),
        ("HEAD", "HTTP/1.1 200 OK\ncontent-length: 1000\n\n", 200, ""),
        ("DELETE", "HTTP/1.1 204 No Content\n\n", 204, ""),
    ])
    func `every form of an answer is read`(method: String, text: String, status: Int, body: String) async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let response = transport.send(ClientRequest(method, "/", at: server.address))
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.send(text)
            #expect(try await response == ClientResponse(status: status, body: Array(body.utf8)))
        }
    }

    @Test func `an answer without a length ends with its connection`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let response = transport.send(ClientRequest("GET", "/", at: server.address))
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.send("HTTP/1.1 200 OK\n\nall of it")
            peer.end()
            #expect(try await response.body == Array("all of it".utf8))
        }
    }

    @Test(arguments: [
        ("", "closed the connection"),
        ("SSH-2.0-x\n", "does not speak HTTP"),
        ("HTTP/1.1 200 OK\ncontent-length: 10\n\nhalf", "does not speak HTTP"),
        ("HTTP/1.1 101 Switching Protocols\nconnection: upgrade\nupgrade: websocket\n\n", "does not speak HTTP"),
        ("HTTP/1.1 200 OK\ncontent-length: 16777217\n\n", "too long an answer"),
    ])
    func `what is no whole answer is a fault`(text: String, reason: String) async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            let response = Task { try await transport.send(ClientRequest("GET", "/", at: server.address)) }
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.send(text)
            peer.end()
            let fault = await #expect(throws: TransportFault.self) { try await response.value }
            #expect(fault?.reason.contains(reason) == true && fault?.isLasting == false, "\(fault as Any)")
            #expect(fault?.reason.contains(server.address.authority) == true)
        }
    }

    @Test func `an answer of 16 MiB is read, and a longer one in chunks is not`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            for excess in [0, 1] {
                let response = Task { try await transport.send(ClientRequest("POST", "/", at: server.address)) }
                let peer = try await server.accept()
                _ = try await peer.request()
                let count = 16 * 1024 * 1024 + excess
                try await peer.send("HTTP/1.1 200 OK\ntransfer-encoding: chunked\n\n\(String(count, radix: 16))\n")
                let body = ByteBuffer(repeating: UInt8(ascii: "a"), count: count)
                try? await peer.channel.writeAndFlush(body).get()
                try? await peer.send("\n0\n\n")
                if excess == 0 {
                    #expect(try await response.value.body.count == count)
                } else {
                    let fault = await #expect(throws: TransportFault.self) { try await response.value }
                    #expect(fault?.reason.contains("too long an answer") == true)
                }
            }
        }
    }

    @Test func `a request that may be repeated uses the connection again`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let first = transport.send(ClientRequest("POST", "/", at: server.address))
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.answer("1")
            _ = try await first
            for request in [
                ClientRequest("GET", "/", at: server.address),
                ClientRequest("POST", "/", at: server.address, fields: ["idempotency-key": "k"]),
            ] {
                async let again = transport.send(request)
                _ = try await peer.request()
                try await peer.answer("2")
                #expect(try await again.body == Array("2".utf8))
            }
            async let other = transport.send(ClientRequest("POST", "/", at: server.address))
            let second = try await server.accept()
            _ = try await second.request()
            try await second.answer("3")
            #expect(try await other.body == Array("3".utf8))
            // The newer one is kept in place of the older.
            #expect(await peer.ended() == 0)
        }
    }

    @Test func `a request on a connection that ends unanswered goes out on another one`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let first = transport.send(ClientRequest("GET", "/1", at: server.address))
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.answer("1")
            _ = try await first
            async let second = transport.send(ClientRequest("GET", "/2", at: server.address))
            #expect(try await peer.request().target == "/2")
            peer.end()
            let other = try await server.accept()
            #expect(try await other.request().target == "/2")
            try await other.answer("2")
            #expect(try await second.body == Array("2".utf8))
        }
    }

    @Test func `a connection that nobody uses is closed after its time`() async throws {
        try await LoopbackServer.run { server in
            var times = Times.patient
            times.idle = .milliseconds(20)
            let transport = try NIOTransport(trust: .system, times: times)
            let peer = try await exchange(with: server, transport)
            #expect(await peer.ended() == 0)
        }
    }

    @Test func `a connection that nobody uses is closed with its transport`() async throws {
        try await LoopbackServer.run { server in
            let peer = try await exchange(with: server, NIOTransport(trust: .system, times: .patient))
            #expect(await peer.ended() == 0)
        }
    }

    /// One request and its answer.
    private func exchange(with server: LoopbackServer, _ transport: NIOTransport) async throws -> Peer {
        async let response = transport.send(ClientRequest("GET", "/", at: server.address))
        let peer = try await server.accept()
        _ = try await peer.request()
        try await peer.answer("1")
        _ = try await response
        return peer
    }

    @Test func `a server that does not answer in time is a fault, and its connection ends`() async throws {
        try await LoopbackServer.run { server in
            var times = Times.patient
            times.request = .milliseconds(300)
            let transport = try NIOTransport(trust: .system, times: times)
            // On a slow machine, the time may be over before there is a connection.
            let accepting = Task { try await server.accept() }
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(ClientRequest("GET", "/", at: server.address))
            }
            #expect(fault?.reason == "\(server.address.authority) does not answer")
            accepting.cancel()
            if let peer = try? await accepting.value { _ = await peer.ended() }
        }
    }

    @Test func `the end of the task ends the request and its connection`() async throws {
        try await LoopbackServer.run { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            let request = ClientRequest("GET", "/", at: server.address)
            let task = Task { try await transport.send(request) }
            let peer = try await server.accept()
            _ = try await peer.request()
            task.cancel()
            let fault = await #expect(throws: TransportFault.self) { try await task.value }
            #expect(fault?.cause is CancellationError)
            #expect(await peer.ended() == 0)
            // A task that is cancelled before it asks makes no connection.
            let late = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await transport.send(request)
            }
            let second = await #expect(throws: TransportFault.self) { try await late.value }
            #expect(second?.cause is CancellationError)
        }
    }

    @Test func `nothing can be smuggled into a request`() async throws {
        let server = try #require(ServerAddress("http://127.0.0.1:1"))
        let transport = try NIOTransport(trust: .system, times: .patient)
        for request in [
            ClientRequest("GE T", "/", at: server), ClientRequest("", "/", at: server),
            ClientRequest("GET", "/ HTTP/1.1\r\nx: y", at: server), ClientRequest("GET", "", at: server),
            ClientRequest("GET", "/#a", at: server),
            ClientRequest("GET", "/", at: server, fields: ["authorization": "a\r\nx: y"]),
            ClientRequest("GET", "/", at: server, fields: ["a b": "c"]),
            ClientRequest("GET", "/", at: server, fields: ["Host": "elsewhere"]),
            ClientRequest("POST", "/", at: server, fields: ["transfer-encoding": "chunked"]),
        ] {
            let fault = await #expect(throws: TransportFault.self) { try await transport.send(request) }
            #expect(fault?.isLasting == true, "\(request)")
        }
        let post = ClientRequest("POST", "/", at: server)
        let fault = await #expect(throws: TransportFault.self) { try await transport.connect(post) }
        #expect(fault?.isLasting == true)
    }

    @Test func `a server that is not there is told in words`() async throws {
        let transport = try NIOTransport(trust: .system, times: .patient)
        for (address, reason) in [
            ("http://127.0.0.1:1", "127.0.0.1:1 cannot be reached: nothing listens there"),
            ("https://a..b", "there is no host a..b, or its name cannot be looked up"),
        ] {
            let server = try #require(ServerAddress(address))
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(ClientRequest("GET", "/", at: server))
            }
            #expect(fault?.reason == reason)
            #expect(fault?.isLasting == false)
        }
    }

    /// Where `localhost` is also `::1`, on which nothing listens here.
    @Test func `an address that refuses does not keep the others from being tried`() async throws {
        try await LoopbackServer.run(name: "localhost") { server in
            let transport = try NIOTransport(trust: .system, times: .patient)
            async let response = transport.send(ClientRequest("GET", "/", at: server.address))
            let peer = try await server.accept()
            _ = try await peer.request()
            try await peer.answer("1")
            #expect(try await response.status == 200)
        }
    }
}

import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct ClientHandshakeTests {
    private static let nonce = Array("the sample nonce".utf8)

    private func handshake(subprotocols: [String] = [], extensions: [ExtensionOffer] = []) throws -> ClientHandshake {
        try #require(
            ClientHandshake(
                host: "server.example.com", target: "/chat", subprotocols: subprotocols, extensions: extensions,
                nonce: Self.nonce))
    }

    /// A correct response with changes: a field whose value is `nil` is left out, others are replaced, and `more`
    /// added.
    private func response(
        _ more: [(String, String)] = [], status: Int = 101, replacing: [String: String?] = [:]
    ) throws -> ResponseHead {
        let fields = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        ]
        var all = HeaderFields()
        for (name, value) in fields {
            if let value = replacing[name, default: value] { all.append(try #require(HeaderField(name, value))) }
        }
        for (name, value) in more { all.append(try #require(HeaderField(name, value))) }
        return ResponseHead(status: status, fields: all)
    }

    @Test func `the request is written byte for byte`() throws {
        let deflate = try #require(ExtensionOffer("permessage-deflate"))
        let origin = try #require(HeaderField("Origin", "http://example.com"))
        let handshake = try #require(
            ClientHandshake(
                host: "server.example.com:8443", target: "/chat?a=b", subprotocols: ["chat", "superchat"],
                extensions: [deflate], fields: [origin],
                nonce: Self.nonce))
        var request = ByteBuffer()
        handshake.writeRequest(into: &request)
        #expect(
            String(buffer: request) == """
                GET /chat?a=b HTTP/1.1\r
                Host: server.example.com:8443\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                Sec-WebSocket-Protocol: chat, superchat\r
                Sec-WebSocket-Extensions: permessage-deflate\r
                Origin: http://example.com\r
                \r

                """)
    }

    @Test(arguments: [
        ("", "/"), ("a b", "/"), ("a\r\nX: y", "/"), ("a", ""), ("a", "chat"), ("a", "/ HTTP/1.1\r\nX: y"),
        ("a", "/a#b"),
        ("a", "/ü"),
    ])
    func `a host or target that would not stand in its place is refused`(_ host: String, _ target: String) {
        #expect(ClientHandshake(host: host, target: target, nonce: Self.nonce) == nil)
    }

    @Test func `a subprotocol that is no token, or a nonce of another length, is refused`() {
        #expect(ClientHandshake(host: "a", target: "/", subprotocols: ["a b"], nonce: Self.nonce) == nil)
        #expect(ClientHandshake(host: "a", target: "/", nonce: Self.nonce.dropLast()) == nil)
        #expect(ClientHandshake(host: "a", target: "/", nonce: Self.nonce + [0]) == nil)
    }

    @Test func `a right response is agreed on`() throws {
        let deflate = try #require(ExtensionOffer("permessage-deflate"))
        let plain = try handshake().agree(on: response())
        #expect(plain.subprotocol == nil)
        #expect(plain.extensions == [])
        let none = try handshake(subprotocols: ["chat"], extensions: [deflate]).agree(on: response())
        #expect(none == plain)
        let all = try handshake(subprotocols: ["a", "chat"], extensions: [deflate]).agree(
            on: response([
                ("sec-websocket-protocol", "chat"), ("Sec-WebSocket-Extensions", "permessage-deflate"),
            ]))
        #expect(all.subprotocol == "chat")
        #expect(all.extensions == [deflate])
        #expect(all.deflate == DeflateParameters())
        #expect(plain.deflate == nil)
    }

    @Test(
        arguments: [
            ("Upgrade", nil, .notAnUpgrade), ("Upgrade", "h2c", .notAnUpgrade), ("Connection", nil, .badConnection),
            ("Connection", "close", .badConnection), ("Sec-WebSocket-Accept", nil, .badAccept),
            ("Sec-WebSocket-Accept", "S3PPLMBITXAQ9KYGZZHZRBK+XOO=", .badAccept),
        ] as [(String, String?, HandshakeViolation)])
    func `a response without a part, or with another value, is refused`(
        _ name: String, _ value: String?, _ expected: HandshakeViolation
    ) throws {
        let response = try response(replacing: [name: value])
        #expect(throws: expected) { try handshake().agree(on: response) }
    }

    @Test(
        arguments: [
            ([("Sec-WebSocket-Protocol", "other")], .unofferedSubprotocol),
            ([("Sec-WebSocket-Protocol", "")], .unofferedSubprotocol),
            ([("Sec-WebSocket-Protocol", "chat, chat")], .unofferedSubprotocol),
            ([("Sec-WebSocket-Protocol", "chat"), ("Sec-WebSocket-Protocol", "chat")], .malformedSubprotocols),
            ([("Sec-WebSocket-Extensions", "permessage-deflate")], .unofferedExtension),
            ([("Sec-WebSocket-Extensions", "a b")], .malformedExtensions),
            ([("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")], .badAccept),
        ] as [([(String, String)], HandshakeViolation)])
    func `a response with something that was not offered is refused`(
        _ more: [(String, String)], _ expected: HandshakeViolation
    ) throws {
        let response = try response(more)
        #expect(throws: expected) { try handshake(subprotocols: ["chat"]).agree(on: response) }
    }

    @Test func `a response with parameters of compression that do not fit the offer is refused`() throws {
        let deflate = try #require(ExtensionOffer("permessage-deflate"))
        let response = try response([("Sec-WebSocket-Extensions", "permessage-deflate; x=1")])
        #expect(throws: HandshakeViolation.invalidDeflateResponse) {
            try handshake(extensions: [deflate]).agree(on: response)
        }
    }

    @Test(arguments: [200, 302, 401, 403, 426, 503])
    func `another status is reported`(_ status: Int) throws {
        let response = try response(status: status)
        #expect(throws: HandshakeViolation.unexpectedStatus(status)) { try handshake().agree(on: response) }
    }

    @Test(arguments: TestSeed.several())
    func `client and server agree with each other`(_ seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let deflate = try #require(ExtensionOffer("permessage-deflate"))
            let client = try #require(
                ClientHandshake(
                    host: "localhost:8443", target: "/v1/socket", subprotocols: ["x", "backline.v1.json"],
                    extensions: [deflate], nonce: generator.bytes(16)))
            var wire = ByteBuffer()
            client.writeRequest(into: &wire)
            var requests = HeadParser()
            let request = try requests.parseRequest(&wire)
            let server = try ServerHandshake(try #require(request), subprotocols: ["backline.v1.json"])
            #expect(server.extensionOffers == [deflate])
            server.writeResponse(into: &wire, extensions: [deflate])
            // the first frame may come with the response
            wire.writeBytes(frame(.text, Array("welcome".utf8), mask: nil))
            var responses = HeadParser()
            let response = try responses.parseResponse(&wire)
            let agreement = try client.agree(on: try #require(response))
            #expect(agreement.subprotocol == "backline.v1.json")
            #expect(agreement.extensions == [deflate])
            var reader = MessageReader(role: .client)
            let first = try reader.receive(&wire)
            #expect(first == .text(.of("welcome")), "seed \(seed)")
        }
    }
}

import NIOCore
import Testing
import WebSocketCodec

/// The request of RFC 6455 §1.3 with changes: a field whose value is `nil` is left out, others are replaced, and `more`
/// fields are added.
func requestHead(
    _ more: [(String, String)] = [], startLine: String = "GET /chat HTTP/1.1", replacing: [String: String?] = [:]
) throws -> RequestHead {
    let fields = [
        ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Origin", "http://example.com"),
        ("Sec-WebSocket-Version", "13"),
    ]
    var text = startLine + "\r\n"
    for (name, value) in fields {
        if let value = replacing[name, default: value] { text += "\(name): \(value)\r\n" }
    }
    for (name, value) in more { text += "\(name): \(value)\r\n" }
    var parser = HeadParser()
    var bytes = ByteBuffer(string: text + "\r\n")
    let head = try parser.parseRequest(&bytes)
    return try #require(head)
}

struct ServerHandshakeTests {
    private static let known = ["backline.v2.json", "backline.v1.json"]

    private func violation(
        _ more: [(String, String)] = [], startLine: String = "GET /chat HTTP/1.1", replacing: [String: String?] = [:]
    ) throws -> HandshakeViolation? {
        let head = try requestHead(more, startLine: startLine, replacing: replacing)
        do throws(HandshakeViolation) {
            _ = try ServerHandshake(head, subprotocols: Self.known)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the RFC's request is answered with the RFC's response`() throws {
        let head = try requestHead([("Sec-WebSocket-Protocol", "chat, superchat")])
        let handshake = try ServerHandshake(head, subprotocols: ["chat"])
        var response = ByteBuffer()
        handshake.writeResponse(into: &response)
        #expect(
            String(buffer: response) == """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
                Sec-WebSocket-Protocol: chat\r
                \r

                """)
    }

    @Test func `extensions and more fields stand in the response`() throws {
        let handshake = try ServerHandshake(try requestHead(), subprotocols: [])
        var response = ByteBuffer()
        let parameter = try #require(ExtensionOffer.Parameter("a", "1"))
        let deflate = try #require(ExtensionOffer("permessage-deflate", parameters: [parameter]))
        let cookie = try #require(HeaderField("Set-Cookie", "a=b"))
        handshake.writeResponse(into: &response, extensions: [deflate, deflate], fields: [cookie])
        #expect(
            String(buffer: response) == """
                HTTP/1.1 101 Switching Protocols\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
                Sec-WebSocket-Extensions: permessage-deflate; a=1, permessage-deflate; a=1\r
                Set-Cookie: a=b\r
                \r

                """)
    }

    @Test(
        arguments: [
            ([], nil), ([""], nil), (["backline.v1.json"], "backline.v1.json"),
            (["x, backline.v1.json", "backline.v2.json"], "backline.v2.json"),
            (["x", "y,backline.v1.json"], "backline.v1.json"),
        ] as [([String], String?)])
    func `the first known subprotocol that is offered is selected`(_ offers: [String], _ selected: String?) throws {
        let head = try requestHead(offers.map { ("Sec-WebSocket-Protocol", $0) })
        #expect(try ServerHandshake(head, subprotocols: Self.known).subprotocol == selected)
    }

    @Test(
        arguments: [
            ("chat", .unknownSubprotocols), ("BACKLINE.V1.JSON", .unknownSubprotocols), ("a, b", .unknownSubprotocols),
            ("a b", .malformedSubprotocols), ("backline.v1.json, (x)", .malformedSubprotocols),
        ] as [(String, HandshakeViolation)])
    func `subprotocols that are unknown or no tokens are refused`(_ offer: String, _ expected: HandshakeViolation)
        throws
    {
        #expect(try violation([("Sec-WebSocket-Protocol", offer)]) == expected)
        #expect(expected.status == 400)
    }

    @Test(arguments: [
        ("Upgrade", "WebSocket"), ("Upgrade", "h2c, websocket"), ("Connection", "keep-alive, upgrade"),
        ("Sec-WebSocket-Key", "AQIDBAUGBwgJCgsMDQ4PEC=="),
    ])
    func `other spellings of a valid request are accepted`(_ name: String, _ value: String) throws {
        #expect(try violation(replacing: [name: value]) == nil)
    }

    @Test(arguments: ["GET /chat?a=b HTTP/1.1", "GET http://server.example.com/chat HTTP/1.1", "GET / HTTP/1.1"])
    func `paths with a query and absolute targets are accepted`(_ startLine: String) throws {
        #expect(try violation(startLine: startLine) == nil)
    }

    @Test func `an announced body of no bytes is accepted`() throws {
        #expect(try violation([("Content-Length", "0")]) == nil)
    }

    @Test(
        arguments: [
            ("Host", nil, .badHost), ("Host", "", .badHost), ("Upgrade", nil, .notAnUpgrade),
            ("Upgrade", "h2c", .notAnUpgrade),
            ("Upgrade", "websocket2", .notAnUpgrade), ("Connection", nil, .badConnection),
            ("Connection", "keep-alive", .badConnection), ("Sec-WebSocket-Version", nil, .unsupportedVersion),
            ("Sec-WebSocket-Version", "8", .unsupportedVersion),
            ("Sec-WebSocket-Version", "13, 8", .unsupportedVersion),
            ("Sec-WebSocket-Key", nil, .badKey), ("Sec-WebSocket-Key", "", .badKey),
            ("Sec-WebSocket-Key", "AAAA", .badKey),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ", .badKey),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZS4=", .badKey),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j!Q==", .badKey),
        ] as [(String, String?, HandshakeViolation)])
    func `a request without a part, or with another value, is refused`(
        _ name: String, _ value: String?, _ expected: HandshakeViolation
    ) throws {
        #expect(try violation(replacing: [name: value]) == expected)
    }

    @Test(
        arguments: [
            ("Host", "b", .badHost), ("Sec-WebSocket-Version", "13", .unsupportedVersion),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", .badKey), ("Content-Length", "1", .bodyNotAllowed),
            ("Transfer-Encoding", "chunked", .bodyNotAllowed),
        ] as [(String, String, HandshakeViolation)])
    func `a request with a field too many is refused`(
        _ name: String, _ value: String, _ expected: HandshakeViolation
    ) throws {
        #expect(try violation([(name, value)]) == expected)
    }

    @Test(
        arguments: [
            ("POST /chat HTTP/1.1", .methodNotAllowed), ("get /chat HTTP/1.1", .methodNotAllowed),
            ("GET /chat HTTP/1.0", .notHTTP11), ("GET * HTTP/1.1", .badTarget), ("GET /a#b HTTP/1.1", .badTarget),
            ("GET http://server.example.com HTTP/1.1", .badTarget),
        ] as [(String, HandshakeViolation)])
    func `a request with another start line is refused`(_ startLine: String, _ expected: HandshakeViolation) throws {
        #expect(try violation(startLine: startLine) == expected)
    }

    @Test(
        arguments: [
            (.unsupportedVersion, 426), (.notAnUpgrade, 426), (.methodNotAllowed, 405), (.headTooLarge(limit: 1), 431),
            (.tooManyFields(limit: 1), 431), (.unsupportedHTTPVersion, 505), (.notHTTP11, 400), (.badKey, 400),
            (.badHost, 400), (.badConnection, 400), (.malformedExtensions, 400), (.unknownSubprotocols, 400),
            (.malformedStartLine, 400), (.malformedField, 400), (.forbiddenByte(0), 400), (.bodyNotAllowed, 400),
            (.badTarget, 400),
        ] as [(HandshakeViolation, Int)])
    func `every violation has its status`(_ violation: HandshakeViolation, _ status: Int) {
        #expect(violation.status == status)
    }

    @Test func `an answer names the supported version or method`() {
        let version = HeaderFields(HandshakeViolation.unsupportedVersion.responseFields)
        #expect(version["Sec-WebSocket-Version"] == "13")
        #expect(version["Upgrade"] == "websocket")
        #expect(version["Connection"] == "Upgrade")
        #expect(HeaderFields(HandshakeViolation.methodNotAllowed.responseFields)["Allow"] == "GET")
        #expect(HandshakeViolation.badKey.responseFields.isEmpty)
    }
}

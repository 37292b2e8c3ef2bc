import NIOCore
import RoomWire
import Testing
import WebSocketCodec

@testable import PushServer

/// The bytes of answers to handshakes that open no socket.
@Suite struct HandshakeRefusalTests {
    private static let refusals: [HandshakeRefusal] = [
        .violation(.malformedField), .violation(.headTooLarge(limit: 1)), .violation(.unsupportedHTTPVersion),
        .violation(.methodNotAllowed), .violation(.unsupportedVersion), .failure(CommandFailure(.unauthorized)),
        .failure(CommandFailure(.banned)), .failure(CommandFailure(ErrorCode.unavailable)), .tooManyConnections,
    ]

    private func read(_ refusal: HandshakeRefusal, isHead: Bool = false, isSecure: Bool = true) throws -> (
        head: ResponseHead, body: String
    ) {
        var bytes = refusal.bytes(isHead: isHead, isSecure: isSecure)
        var parser = HeadParser()
        return (try #require(try parser.parseResponse(&bytes)), String(buffer: bytes))
    }

    @Test func `an answer is a problem that ends the connection`() throws {
        for refusal in Self.refusals {
            let (head, body) = try read(refusal)
            #expect(head.status == refusal.status)
            #expect(head.fields.onlyValue(of: "Content-Type") == "application/problem+json")
            #expect(head.fields.onlyValue(of: "Content-Length") == "\(body.utf8.count)")
            #expect(head.fields.onlyValue(of: "Connection") == (head.status == 426 ? nil : "close"))
            #expect(head.fields.values(of: "Connection").first == "close")
            #expect(head.fields.onlyValue(of: "Cache-Control") == "no-store")
            #expect(head.fields.onlyValue(of: "Strict-Transport-Security") != nil)
            #expect(body.contains(#""status":\#(refusal.status),"#))
        }
    }

    @Test func `an answer to HEAD has the same fields and no body`() throws {
        for refusal in Self.refusals {
            let (head, body) = try read(refusal, isHead: true)
            #expect(head == (try read(refusal)).head)
            #expect(body.isEmpty)
        }
    }

    @Test(arguments: [
        (HandshakeRefusal.violation(.methodNotAllowed), 405, "method_not_allowed", "Allow", "GET"),
        (.violation(.unsupportedVersion), 426, "bad_request", "Sec-WebSocket-Version", "13"),
        (.failure(CommandFailure(.unauthorized)), 401, "unauthorized", "WWW-Authenticate", "Bearer"),
        (.failure(CommandFailure(.rateLimited, retryAfterMs: 1_001)), 429, "rate_limited", "Retry-After", "2"),
        (.tooManyConnections, 429, "rate_limited", "Retry-After", "1"),
    ])
    func `an answer has the fields of its status`(
        refusal: HandshakeRefusal, status: Int, code: String, name: String, value: String
    ) throws {
        let (head, body) = try read(refusal)
        #expect(head.status == status)
        #expect(head.fields.onlyValue(of: name) == value)
        #expect(body.contains(#""code":"\#(code)""#))
    }

    @Test func `a server behind a proxy does not require TLS`() throws {
        let (head, _) = try read(.tooManyConnections, isSecure: false)
        #expect(head.fields.values(of: "Strict-Transport-Security").isEmpty)
    }
}

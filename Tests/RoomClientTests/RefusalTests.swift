import RoomWire
import Testing

@testable import RoomClient

/// Refused handshakes of which a transport knows the head only.
@Suite struct RefusalTests {
    private static func error(_ status: Int, type: String? = "application/problem+json", retryAfter: String? = nil)
        -> ClientError
    {
        ClientError(ClientResponse(refusal: status, type: type, retryAfter: retryAfter))
    }

    @Test(arguments: [
        (400, ClientError.Code.badRequest), (401, .unauthorized), (403, .banned), (404, .notFound), (429, .rateLimited),
        (503, .unavailable),
    ])
    func `a status stands for the problem that the protocol has for it`(status: Int, code: ClientError.Code) {
        #expect(Self.error(status).code == code)
    }

    @Test func `the time to wait is read`() {
        #expect(Self.error(429, retryAfter: "3").retryAfter == .seconds(3))
        #expect(Self.error(503, retryAfter: "1000000").retryAfter == .seconds(86_400))
        #expect(Self.error(429, retryAfter: "Wed, 25 Nov 2026 00:00:00 GMT").retryAfter == nil)
        #expect(Self.error(429, retryAfter: "-1").retryAfter == .zero)
    }

    @Test(arguments: [nil, "text/html", "application/json"])
    func `an answer of another kind says nothing of the session or the room`(type: String?) {
        #expect(Self.error(401, type: type).code == .unreadable)
        #expect(Self.error(503, type: type).code == .unavailable)
    }
}

import ByteText
import NIOCore
import WebSocketCodec

/// A head that was read is a valid handshake or is refused; client and server agree on every valid one.
///
/// A handshake that a server accepts is one that the client can have sent, and the client accepts the answer.
enum HandshakeProperty {
    private static let subprotocols = ["backline.v1.json", "chat"]

    /// Checks a server's result for a request, and a client's for the answer, with a server's policy for compression.
    static func check(_ head: RequestHead, _ policy: DeflatePolicy) throws(BrokenProperty) -> Fuzzer.Verdict {
        _ = (head.path, head.query)
        let server: ServerHandshake
        do throws(HandshakeViolation) {
            server = try ServerHandshake(head, subprotocols: self.subprotocols)
        } catch {
            try self.check(error)
            return .refused
        }
        try require(head.asksForWebSocket, "accepted without asking for WebSocket")
        let offered = head.fields.elements(of: "Sec-WebSocket-Protocol")
        guard let nonce = Base64.standard.decode((head.fields["Sec-WebSocket-Key"] ?? "").utf8) else {
            throw BrokenProperty("accepted without a key: \(head)")
        }
        let target = String(head.path) + (head.query.map { "?" + $0 } ?? "")
        let host = head.fields["Host"] ?? ""
        // Other servers' names may contain characters that our client does not send.
        let client =
            ClientHandshake(
                host: host, target: target, subprotocols: offered, extensions: server.extensionOffers, nonce: nonce)
            ?? ClientHandshake(
                host: "example.org", target: target, subprotocols: offered, extensions: server.extensionOffers,
                nonce: nonce)
        guard let client else { throw BrokenProperty("a handshake that the client cannot make: \(head)") }
        try self.check(client, agreesWith: server, policy)
        return .accepted
    }

    /// Checks a client's result for a response to an arbitrary request.
    static func check(_ head: ResponseHead, _ policy: DeflatePolicy) throws(BrokenProperty) -> Fuzzer.Verdict {
        // RFC 6455 §1.3: the example, to whose key the answer may belong
        let nonce = Array("the sample nonce".utf8)
        guard
            let client = ClientHandshake(
                host: "example.org", target: "/", subprotocols: self.subprotocols,
                extensions: DeflateParameters.offers(policy), nonce: nonce)
        else { throw BrokenProperty("the example's handshake cannot be made") }
        let agreement: ClientHandshake.Agreement
        do throws(HandshakeViolation) {
            agreement = try client.agree(on: head)
        } catch {
            try require(!error.detail.isEmpty, "\(error) without a detail")
            return .refused
        }
        try require(self.subprotocols.contains(agreement.subprotocol ?? "chat"), "\(agreement)")
        try require(agreement.extensions.allSatisfy { $0.name == DeflateParameters.extensionName }, "\(agreement)")
        try require(agreement.extensions.isEmpty == (agreement.deflate == nil), "\(agreement)")
        return .accepted
    }

    /// Checks a server's answer to a violation.
    static func check(_ violation: HandshakeViolation) throws(BrokenProperty) {
        try require((400..<600).contains(violation.status), "\(violation): \(violation.status)")
        try require(!violation.detail.isEmpty, "\(violation) without a detail")
        var buffer = ByteBuffer()
        let fields = HeaderFields(violation.responseFields)
        ResponseHead(status: violation.status, fields: fields).write(into: &buffer)
        try require(self.response(&buffer)?.fields == fields, "the answer to \(violation) cannot be read")
    }

    /// Reads one response's head with limits that no head reaches.
    static func response(_ buffer: inout ByteBuffer) -> ResponseHead? {
        var parser = HeadParser(maximumHeadLength: 1 << 24, maximumFieldCount: 1 << 16)
        return try? parser.parseResponse(&buffer)
    }

    /// Reads one request's head with limits that no head reaches.
    private static func request(_ buffer: inout ByteBuffer) -> RequestHead? {
        var parser = HeadParser(maximumHeadLength: 1 << 24, maximumFieldCount: 1 << 16)
        return try? parser.parseRequest(&buffer)
    }

    private static func check(
        _ client: ClientHandshake, agreesWith expected: ServerHandshake, _ policy: DeflatePolicy
    ) throws(BrokenProperty) {
        var wire = ByteBuffer()
        client.writeRequest(into: &wire)
        guard let request = self.request(&wire), wire.readableBytes == 0,
            let server = try? ServerHandshake(request, subprotocols: self.subprotocols)
        else { throw BrokenProperty("a server refuses what it accepted from another: \(client)") }
        try require(server.subprotocol == expected.subprotocol, "\(server), \(expected)")
        try require(server.extensionOffers == expected.extensionOffers, "\(server), \(expected)")

        let deflate = DeflateParameters.negotiate(server.extensionOffers, policy: policy)
        let extensions = deflate.map { [$0.response] } ?? []
        server.writeResponse(into: &wire, extensions: extensions)
        guard let response = self.response(&wire), wire.readableBytes == 0 else {
            throw BrokenProperty("a response that cannot be read: \(server)")
        }
        let agreement: ClientHandshake.Agreement
        do throws(HandshakeViolation) {
            agreement = try client.agree(on: response)
        } catch {
            throw BrokenProperty("\(error) for \(response)")
        }
        try require(agreement.subprotocol == server.subprotocol, "\(agreement), \(server)")
        try require(agreement.extensions == extensions, "\(agreement), \(extensions)")
        try require(agreement.deflate == deflate?.parameters, "\(agreement), \(String(describing: deflate))")
    }
}

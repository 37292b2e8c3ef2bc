import NIOCore
import NIOHTTP1
import RoomClient
import WebSocketCodec

/// A request that can be sent as it is: nothing in it breaks out of its place.
struct OutgoingRequest: Sendable {
    /// The fields that the transport sets itself.
    private static let ownFields: Set = [
        "connection", "content-length", "host", "sec-websocket-accept", "sec-websocket-extensions",
        "sec-websocket-key", "sec-websocket-protocol", "sec-websocket-version", "transfer-encoding", "upgrade",
    ]

    let server: ServerAddress
    private let request: ClientRequest
    private let fields: [HeaderField]

    /// Checks a request.
    init(_ request: ClientRequest) throws(TransportFault) {
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }
        guard !request.method.isEmpty, request.method.utf8.allSatisfy(isLetter) else {
            throw TransportFault("\"\(request.method)\" is not a method", isLasting: true)
        }
        let isVisible = { (byte: UInt8) in (0x21...0x7E).contains(byte) }
        guard request.target.hasPrefix("/"), request.target.utf8.allSatisfy(isVisible), !request.target.contains("#")
        else { throw TransportFault("\"\(request.target)\" is not the target of a request", isLasting: true) }
        var fields: [HeaderField] = []
        for (name, value) in request.fields.sorted(by: { $0.key < $1.key }) {
            guard let field = HeaderField(name, value), !Self.ownFields.contains(name.lowercased()) else {
                throw TransportFault("the field \"\(name)\" cannot be sent", isLasting: true)
            }
            fields.append(field)
        }
        if !fields.contains(where: { $0.name.lowercased() == "user-agent" }),
            let field = HeaderField("user-agent", "backline")
        {
            fields.append(field)
        }
        server = request.server
        self.request = request
        self.fields = fields
    }

    /// Whether the server may get the request twice: it reads only, or has a key by which the server knows it again.
    var isRepeatable: Bool {
        ["GET", "HEAD"].contains(request.method) || fields.contains { $0.name.lowercased() == "idempotency-key" }
    }

    /// The head of the request over HTTP/1.1.
    var head: HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.target)
        head.headers.add(name: "host", value: server.authority)
        for field in fields { head.headers.add(name: field.name, value: field.value) }
        // RFC 9110 §8.6: without a length, the body of a POST would be chunked.
        if request.body != nil || !["GET", "HEAD", "DELETE"].contains(request.method) {
            head.headers.add(name: "content-length", value: "\(request.body?.count ?? 0)")
        }
        return head
    }

    /// The body; nil: none.
    var body: ByteBuffer? { request.body.map { ByteBuffer(bytes: $0) } }

    /// The opening handshake of a WebSocket, with a fresh key; nil for a request that is none.
    func handshake(subprotocol: String) -> ClientHandshake? {
        guard request.method == "GET", request.body == nil else { return nil }
        // RFC 6455 §4.1: 16 random bytes.
        let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        return ClientHandshake(
            host: server.authority, target: request.target, subprotocols: [subprotocol],
            extensions: DeflateParameters.offers(.contextTakeover), fields: fields, nonce: nonce)
    }
}

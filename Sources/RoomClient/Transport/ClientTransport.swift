/// How a client reaches its server: HTTP requests, and sockets.
///
/// `RoomClientNIO` has one for Linux, and `URLSessionTransport` is the one for Apple's platforms. A transport holds no
/// rooms and repeats nothing: the client decides when it connects.
public protocol ClientTransport: Sendable {
    /// Sends one request and returns the whole answer, whatever its status.
    ///
    /// An answer of more than 16 MiB is a fault. Redirects are not followed.
    ///
    /// - Throws: A fault if there is no answer. Nobody can say then whether the server carried the request out.
    func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse

    /// Opens a WebSocket (RFC 6455) with the subprotocol `backline.v1.json`.
    ///
    /// - Throws: A fault, with the server's answer if it refused the handshake.
    func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket
}

/// One open WebSocket.
public protocol ClientSocket: Sendable {
    /// The next text message, whole; nil once the socket has closed.
    ///
    /// Nothing is read before it is asked for, and one caller asks at a time. Pings are answered without one.
    func receive() async throws(TransportFault) -> [UInt8]?

    /// Sends one text message; returns when the transport takes more.
    func send(_ text: [UInt8]) async throws(TransportFault)

    /// Closes the socket with this code, within a few seconds also where the other side does not answer.
    func close(_ code: UInt16) async

    /// The code that the server closed the socket with; nil while it is open, and if there was none.
    var closing: UInt16? { get async }
}

/// One request to a server.
public struct ClientRequest: Sendable, Hashable {
    /// The server.
    public var server: ServerAddress
    /// The method, in capitals.
    public var method: String
    /// The target: a path with its query.
    public var target: String
    /// The header fields, by their names in lower case.
    public var fields: [String: String]
    /// The body; nil: none.
    public var body: [UInt8]?

    /// A request.
    public init(
        _ method: String, _ target: String, at server: ServerAddress, fields: [String: String] = [:],
        body: [UInt8]? = nil
    ) {
        self.method = method
        self.target = target
        self.server = server
        self.fields = fields
        self.body = body
    }
}

/// One answer of a server.
public struct ClientResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The body.
    public var body: [UInt8]

    /// An answer.
    public init(status: Int, body: [UInt8] = []) {
        self.status = status
        self.body = body
    }
}

/// A connection that could not be made, or was lost.
public struct TransportFault: Error, Sendable, CustomStringConvertible {
    /// What failed, in a sentence for people.
    public var reason: String
    /// The server's answer, if it refused a handshake.
    public var response: ClientResponse?
    /// What lies below.
    public var cause: (any Error)?
    /// Whether trying again can not help before somebody acts: a certificate that is not trusted, for example.
    public var isLasting: Bool

    /// A fault.
    public init(
        _ reason: String, response: ClientResponse? = nil, isLasting: Bool = false, cause: (any Error)? = nil
    ) {
        self.reason = reason
        self.response = response
        self.isLasting = isLasting
        self.cause = cause
    }

    /// The reason.
    public var description: String { reason }
}

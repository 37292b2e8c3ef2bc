/// One of the two ends of a WebSocket connection.
///
/// The roles differ in masking (RFC 6455 §5.1: a client masks every frame, a server masks none) and in which end ends
/// the transport first (§7.1.1: the server).
package enum WebSocketRole: Sendable {
    /// The end that sent the opening handshake's request.
    case client
    /// The end that answered it.
    case server

    /// The other end.
    package var peer: WebSocketRole {
        switch self {
        case .client: .server
        case .server: .client
        }
    }
}

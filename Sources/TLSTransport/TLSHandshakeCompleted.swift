/// The supported versions of TLS.
package enum TLSVersion: Hashable, Sendable {
    /// TLS 1.2 (RFC 5246).
    case tls12
    /// TLS 1.3 (RFC 8446).
    case tls13
}

/// The user event that ``TLSHandler`` fires once, when the handshake is done and data may flow.
package struct TLSHandshakeCompleted: Hashable, Sendable {
    /// The application protocol agreed by ALPN; `nil` if the peer offered or answered none.
    package let applicationProtocol: String?

    /// The version in use.
    package let version: TLSVersion

    /// Whether an earlier session was resumed instead of a full handshake.
    package let resumed: Bool
}

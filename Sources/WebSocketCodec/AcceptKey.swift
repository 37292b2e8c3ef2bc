import ByteText

/// The proof that a server understood the opening handshake.
enum AcceptKey {
    /// Returns the `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455 §4.2.2).
    static func accept(for key: String) -> String {
        // RFC 6455 §1.3: the key exactly as in the field, followed by this identifier
        Base64.standard.encode(SHA1.hash(Array("\(key)258EAFA5-E914-47DA-95CA-C5AB0DC85B11".utf8)))
    }
}

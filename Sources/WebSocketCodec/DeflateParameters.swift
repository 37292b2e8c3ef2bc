/// The agreed parameters of compression: the four parameters of `permessage-deflate` (RFC 7692 §7.1).
///
/// Each end has parameters for its own messages: whether they may refer back to earlier messages (context takeover) and
/// how far back (the window).
package struct DeflateParameters: Equatable, Sendable {
    /// The registered name of the extension (RFC 7692 §9.1).
    package static let extensionName = "permessage-deflate"

    /// The sizes of windows: 2^8 to 2^15 bytes (RFC 7692 §7.1.2).
    package static let windowBitsRange = 8...15

    /// Whether the server compresses each message by itself (RFC 7692 §7.1.1.1).
    package let serverNoContextTakeover: Bool
    /// Whether the client compresses each message by itself (RFC 7692 §7.1.1.2).
    package let clientNoContextTakeover: Bool
    /// The binary logarithm of the largest window that the server uses: 8 to 15 (RFC 7692 §7.1.2.1).
    package let serverMaxWindowBits: Int
    /// The binary logarithm of the largest window that the client uses: 8 to 15 (RFC 7692 §7.1.2.2).
    package let clientMaxWindowBits: Int

    /// Makes parameters as a handshake would agree on them.
    ///
    /// - Precondition: The windows have 8 to 15 bits.
    package init(
        serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false, serverMaxWindowBits: Int = 15,
        clientMaxWindowBits: Int = 15
    ) {
        precondition(
            Self.windowBitsRange.contains(serverMaxWindowBits) && Self.windowBitsRange.contains(clientMaxWindowBits),
            "\(serverMaxWindowBits), \(clientMaxWindowBits)")
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// Whether `sender` compresses each message by itself, so that neither end keeps any state between messages.
    package func noContextTakeover(of sender: WebSocketRole) -> Bool {
        switch sender {
        case .server: self.serverNoContextTakeover
        case .client: self.clientNoContextTakeover
        }
    }

    /// The binary logarithm of the largest window that `sender` uses.
    package func maxWindowBits(of sender: WebSocketRole) -> Int {
        switch sender {
        case .server: self.serverMaxWindowBits
        case .client: self.clientMaxWindowBits
        }
    }

    /// Whether `sender` may send a message that was compressed by itself, with a window of any size.
    ///
    /// No reference reaches back further than the length of the message. A message of at most the agreed window's
    /// length therefore fits, whatever window it was made with: one compressed frame serves many connections. A longer
    /// message is sent uncompressed.
    ///
    /// - Parameters:
    ///   - messageLength: The length in bytes before compression.
    ///   - sender: The end that sends the message.
    /// - Returns: Whether it may be sent compressed.
    package func fits(_ messageLength: Int, from sender: WebSocketRole = .server) -> Bool {
        let bits = self.maxWindowBits(of: sender)
        return bits == Self.windowBitsRange.upperBound || messageLength <= 1 << bits
    }
}

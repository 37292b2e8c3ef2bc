/// What both ends agreed to for compressing messages: the four parameters of `permessage-deflate` (RFC 7692 §7.1).
///
/// Each end has parameters for what it sends: whether it may refer back to earlier messages (context takeover) and how
/// far back it may refer (the window).
package struct DeflateParameters: Equatable, Sendable {
    /// The name under which the extension is registered (RFC 7692 §9.1).
    package static let extensionName = "permessage-deflate"

    /// What a window may be: 2^8 to 2^15 bytes (RFC 7692 §7.1.2).
    package static let windowBitsRange = 8...15

    /// Whether the server compresses each message by itself (RFC 7692 §7.1.1.1).
    package let serverNoContextTakeover: Bool
    /// Whether the client compresses each message by itself (RFC 7692 §7.1.1.2).
    package let clientNoContextTakeover: Bool
    /// The binary logarithm of the window that the server uses at most: 8 to 15 (RFC 7692 §7.1.2.1).
    package let serverMaxWindowBits: Int
    /// The binary logarithm of the window that the client uses at most: 8 to 15 (RFC 7692 §7.1.2.2).
    package let clientMaxWindowBits: Int

    /// Makes parameters as they would be after a handshake.
    ///
    /// - Precondition: The windows are from 8 to 15 bits.
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

    /// Whether `sender` compresses each message by itself, so that neither end keeps anything between messages.
    package func noContextTakeover(of sender: WebSocketRole) -> Bool {
        switch sender {
        case .server: self.serverNoContextTakeover
        case .client: self.clientNoContextTakeover
        }
    }

    /// The binary logarithm of the window that `sender` uses at most.
    package func maxWindowBits(of sender: WebSocketRole) -> Int {
        switch sender {
        case .server: self.serverMaxWindowBits
        case .client: self.clientMaxWindowBits
        }
    }

    /// Whether a message that was compressed by itself, with a window of any size, may be sent by `sender`.
    ///
    /// No reference reaches back further than the message is long, so a message of at most the agreed window's length
    /// fits whatever window it was made with: one compressed frame serves many connections. A longer one goes out
    /// uncompressed.
    ///
    /// - Parameters:
    ///   - messageLength: The length in bytes before compression.
    ///   - sender: Who sends it.
    /// - Returns: Whether it may be sent compressed.
    package func fits(_ messageLength: Int, from sender: WebSocketRole = .server) -> Bool {
        let bits = self.maxWindowBits(of: sender)
        return bits == Self.windowBitsRange.upperBound || messageLength <= 1 << bits
    }
}

/// One end's preferences for `permessage-deflate` (RFC 7692 §7.1).
package struct DeflatePolicy: Equatable, Sendable {
    /// Whether the server is to compress each message by itself.
    package var serverNoContextTakeover: Bool
    /// Whether the client is to compress each message by itself.
    package var clientNoContextTakeover: Bool
    /// The largest window for the server's messages: 8 to 15 bits.
    package var serverMaxWindowBits: Int
    /// The largest window for the client's messages, if the client accepts a limit: 8 to 15 bits.
    package var clientMaxWindowBits: Int

    /// Makes a policy; the default policy keeps no state for a connection between two messages.
    ///
    /// Context takeover is off in both directions because it costs each connection the state of a compressor and of a
    /// decompressor, some 300 KB with zlib, and keeps a compressed message from being shared by its receivers.
    ///
    /// - Precondition: The windows are from 8 to 15 bits.
    package init(
        serverNoContextTakeover: Bool = true, clientNoContextTakeover: Bool = true, serverMaxWindowBits: Int = 15,
        clientMaxWindowBits: Int = 15
    ) {
        let range = DeflateParameters.windowBitsRange
        precondition(
            range.contains(serverMaxWindowBits) && range.contains(clientMaxWindowBits),
            "\(serverMaxWindowBits), \(clientMaxWindowBits)")
        self.serverNoContextTakeover = serverNoContextTakeover
        self.clientNoContextTakeover = clientNoContextTakeover
        self.serverMaxWindowBits = serverMaxWindowBits
        self.clientMaxWindowBits = clientMaxWindowBits
    }

    /// Each message is compressed by itself, in both directions: no state is kept between two messages.
    package static let noContextTakeover = DeflatePolicy()

    /// Everything that the peer allows: context takeover in both directions and the largest windows.
    package static let contextTakeover = DeflatePolicy(serverNoContextTakeover: false, clientNoContextTakeover: false)
}

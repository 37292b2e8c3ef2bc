import WebSocketCodec

/// What one connection agreed to about compression: each message by itself, if at all, so that one compressed frame
/// serves all who may get it and nothing is kept between two messages.
struct SocketCompression {
    /// What was agreed; nil where nothing is compressed.
    let parameters: DeflateParameters?

    /// Whether any message is compressed.
    var isOn: Bool { parameters != nil }

    /// Whether a message of `length` bytes may be compressed.
    func takes(messageOf length: Int) -> Bool { parameters?.fits(length) ?? false }

    /// Agrees to one of a client's offers, unless compression is turned off.
    static func negotiate(
        _ offers: [ExtensionOffer], isAllowed: Bool
    ) -> (compression: SocketCompression, response: [ExtensionOffer]) {
        guard isAllowed, let (parameters, response) = DeflateParameters.negotiate(offers) else {
            return (SocketCompression(parameters: nil), [])
        }
        return (SocketCompression(parameters: parameters), [response])
    }
}

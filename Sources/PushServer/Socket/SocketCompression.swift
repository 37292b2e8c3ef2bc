import WebSocketCodec

/// The compression that one connection has agreed to.
///
/// Each message is compressed on its own, so that one compressed frame serves all who may get it, and nothing is kept
/// between two messages.
struct SocketCompression {
    /// The agreed parameters; nil if nothing is compressed.
    let parameters: DeflateParameters?

    /// Whether any message is compressed.
    var isOn: Bool { parameters != nil }

    /// Whether a message of `length` bytes may be compressed.
    func takes(messageOf length: Int) -> Bool { parameters?.fits(length) ?? false }

    /// Accepts one of a client's offers, unless compression is turned off.
    static func negotiate(
        _ offers: [ExtensionOffer], isAllowed: Bool
    ) -> (compression: SocketCompression, response: [ExtensionOffer]) {
        guard isAllowed, let (parameters, response) = DeflateParameters.negotiate(offers) else {
            return (SocketCompression(parameters: nil), [])
        }
        return (SocketCompression(parameters: parameters), [response])
    }
}

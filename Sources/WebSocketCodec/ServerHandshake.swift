import ByteText
package import NIOCore

/// A client's opening handshake that a server can accept (RFC 6455 §4.2).
///
/// The caller must decide who may connect, and to what, before it writes the response.
package struct ServerHandshake: Equatable, Sendable {
    /// The `Sec-WebSocket-Accept` of the response.
    package let acceptKey: String
    /// The subprotocol of the connection; `nil` if the client offered none.
    package let subprotocol: String?
    /// The client's offers of extensions, in its order of preference.
    package let extensionOffers: [ExtensionOffer]

    /// Checks a request that asks for WebSocket.
    ///
    /// - Parameters:
    ///   - head: The request.
    ///   - subprotocols: The server's subprotocols, in order of preference. The first one that the client offers too is
    ///     selected; a client that offers none is accepted without one; a client that offers only others is refused.
    /// - Throws: The violation, which has the status of the answer.
    package init(_ head: RequestHead, subprotocols: [String]) throws(HandshakeViolation) {
        // RFC 6455 §4.2.1: the required parts of the client's handshake
        guard head.method == "GET" else { throw .methodNotAllowed }
        guard head.isHTTP11 else { throw .notHTTP11 }
        guard head.path.hasPrefix("/"), !head.target.contains("#") else { throw .badTarget }
        let fields = head.fields
        guard let host = fields.onlyValue(of: "Host"), !host.isEmpty else { throw .badHost }
        guard head.asksForWebSocket else { throw .notAnUpgrade }
        guard fields.contains("Upgrade", in: "Connection") else { throw .badConnection }
        guard fields.values(of: "Transfer-Encoding").isEmpty,
            fields.values(of: "Content-Length").allSatisfy({ $0 == "0" })
        else { throw .bodyNotAllowed }
        guard fields.onlyValue(of: "Sec-WebSocket-Version") == "13" else { throw .unsupportedVersion }
        guard let key = fields.onlyValue(of: "Sec-WebSocket-Key"), Base64.standard.decode(key.utf8)?.count == 16 else {
            throw .badKey
        }
        self.acceptKey = AcceptKey.accept(for: key)

        let offered = fields.elements(of: "Sec-WebSocket-Protocol")
        guard offered.allSatisfy({ HeaderField.isToken($0) }) else { throw .malformedSubprotocols }
        self.subprotocol = subprotocols.first { offered.contains($0) }
        guard offered.isEmpty || self.subprotocol != nil else { throw .unknownSubprotocols }
        self.extensionOffers = try ExtensionOffer.parse(fields)
    }

    /// Appends the 101 response; frames may follow it at once.
    ///
    /// - Parameters:
    ///   - buffer: The buffer to which it is appended.
    ///   - extensions: The agreed extensions.
    ///   - fields: Further fields, such as cookies.
    package func writeResponse(
        into buffer: inout ByteBuffer, extensions: [ExtensionOffer] = [], fields: [HeaderField] = []
    ) {
        // RFC 6455 §4.2.2
        var all = HeaderFields([
            HeaderField(valid: "Upgrade", "websocket"),
            HeaderField(valid: "Connection", "Upgrade"),
            HeaderField(valid: "Sec-WebSocket-Accept", self.acceptKey),
        ])
        if let subprotocol = self.subprotocol {
            all.append(HeaderField(valid: "Sec-WebSocket-Protocol", subprotocol))
        }
        if !extensions.isEmpty {
            let value = extensions.map(\.fieldValue).joined(separator: ", ")
            all.append(HeaderField(valid: "Sec-WebSocket-Extensions", value))
        }
        for field in fields { all.append(field) }
        ResponseHead(status: 101, fields: all).write(into: &buffer)
    }
}

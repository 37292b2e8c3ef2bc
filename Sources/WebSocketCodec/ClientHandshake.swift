import ByteText
package import NIOCore

/// The opening handshake of a client (RFC 6455 §4.1): makes the request, then checks the response.
package struct ClientHandshake: Equatable, Sendable {
    /// What both ends agreed to.
    package struct Agreement: Equatable, Sendable {
        /// The subprotocol that the server selected of those offered.
        package let subprotocol: String?
        /// The extensions that the server uses, each offered by the client.
        package let extensions: [ExtensionOffer]
        /// How messages are compressed; `nil` where they are not.
        package let deflate: DeflateParameters?
    }

    private let host: String
    private let target: String
    private let subprotocols: [String]
    private let extensions: [ExtensionOffer]
    private let fields: [HeaderField]
    private let key: String

    /// Makes a handshake, or `nil` where a part would not stand in its place of the request: a host or target with
    /// white space or control characters, a target that does not begin with `/` or has a fragment, a subprotocol that
    /// is no token, a nonce of another length.
    ///
    /// - Parameters:
    ///   - host: The server's name, with `:port` where it is not the scheme's own.
    ///   - target: The path and query, percent-encoded.
    ///   - subprotocols: Those that the client speaks, the preferred one first.
    ///   - extensions: What the client offers, the preferred one first.
    ///   - fields: More fields, such as `Authorization`, `Cookie` or `Origin`.
    ///   - nonce: 16 random bytes, chosen anew for each connection (§4.1).
    package init?(
        host: String, target: String, subprotocols: [String] = [], extensions: [ExtensionOffer] = [],
        fields: [HeaderField] = [], nonce: [UInt8]
    ) {
        let isVisible = { (byte: UInt8) in (0x21...0x7E).contains(byte) }
        guard !host.isEmpty, host.utf8.allSatisfy(isVisible), target.utf8.allSatisfy(isVisible),
            target.hasPrefix("/"), !target.contains("#"),
            subprotocols.allSatisfy({ HeaderField.isToken($0) }), nonce.count == 16
        else { return nil }
        self.host = host
        self.target = target
        self.subprotocols = subprotocols
        self.extensions = extensions
        self.fields = fields
        self.key = Base64.standard.encode(nonce)
    }

    /// Appends the request.
    package func writeRequest(into buffer: inout ByteBuffer) {
        var all = HeaderFields([
            HeaderField(valid: "Host", self.host),
            HeaderField(valid: "Upgrade", "websocket"),
            HeaderField(valid: "Connection", "Upgrade"),
            HeaderField(valid: "Sec-WebSocket-Key", self.key),
            HeaderField(valid: "Sec-WebSocket-Version", "13"),
        ])
        if !self.subprotocols.isEmpty {
            all.append(HeaderField(valid: "Sec-WebSocket-Protocol", self.subprotocols.joined(separator: ", ")))
        }
        if !self.extensions.isEmpty {
            let value = self.extensions.map(\.fieldValue).joined(separator: ", ")
            all.append(HeaderField(valid: "Sec-WebSocket-Extensions", value))
        }
        for field in self.fields { all.append(field) }
        buffer.writeString("GET \(self.target) HTTP/1.1\r\n")
        all.write(into: &buffer)
    }

    /// Checks the server's response; where it returns, frames follow the head.
    ///
    /// - Throws: ``HandshakeViolation/unexpectedStatus(_:)`` for an answer other than 101, which the caller may act on
    ///   (401, 503, a redirect); everything else means that the server does not speak the protocol.
    package func agree(on response: ResponseHead) throws(HandshakeViolation) -> Agreement {
        // RFC 6455 §4.1: what the client must check
        guard response.status == 101 else { throw .unexpectedStatus(response.status) }
        let fields = response.fields
        guard fields.contains("websocket", in: "Upgrade") else { throw .notAnUpgrade }
        guard fields.contains("Upgrade", in: "Connection") else { throw .badConnection }
        guard fields.onlyValue(of: "Sec-WebSocket-Accept") == AcceptKey.accept(for: self.key) else {
            throw .badAccept
        }
        let selected = fields.values(of: "Sec-WebSocket-Protocol")
        guard selected.count <= 1 else { throw .malformedSubprotocols }
        guard selected.allSatisfy(self.subprotocols.contains) else { throw .unofferedSubprotocol }
        let extensions = try ExtensionOffer.parse(fields)
        guard extensions.allSatisfy({ used in self.extensions.contains { $0.name == used.name } }) else {
            throw .unofferedExtension
        }
        let deflate = try DeflateParameters.agree(on: extensions, to: self.extensions)
        return Agreement(subprotocol: selected.first, extensions: extensions, deflate: deflate)
    }
}

import ByteText
package import NIOCore

/// The opening handshake of a client (RFC 6455 §4.1): makes the request, then checks the response.
package struct ClientHandshake: Equatable, Sendable {
    /// The parameters that both ends agreed on.
    package struct Agreement: Equatable, Sendable {
        /// The subprotocol that the server selected from the client's offer.
        package let subprotocol: String?
        /// The extensions that the server uses, each offered by the client.
        package let extensions: [ExtensionOffer]
        /// The parameters of compression; `nil` if messages are not compressed.
        package let deflate: DeflateParameters?
    }

    private let host: String
    private let target: String
    private let subprotocols: [String]
    private let extensions: [ExtensionOffer]
    private let fields: [HeaderField]
    private let key: String

    /// Makes a handshake, or `nil` if a part is not valid in its place.
    ///
    /// Invalid are a host or target with white space or control characters, a target that does not begin with `/` or
    /// has a fragment, a subprotocol that is not a token, and a nonce of another length.
    ///
    /// - Parameters:
    ///   - host: The server's name, with `:port` unless it is the scheme's default.
    ///   - target: The path and query, percent-encoded.
    ///   - subprotocols: The client's subprotocols, in order of preference.
    ///   - extensions: The client's offers, in order of preference.
    ///   - fields: Further fields, such as `Authorization`, `Cookie` or `Origin`.
    ///   - nonce: 16 random bytes, drawn anew for each connection (§4.1).
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

    /// Checks the server's response; after it returns, frames follow the head.
    ///
    /// - Throws: ``HandshakeViolation/unexpectedStatus(_:)`` for a status other than 101, which the caller may handle
    ///   (401, 503, a redirect); any other violation means that the server does not speak the protocol.
    package func agree(on response: ResponseHead) throws(HandshakeViolation) -> Agreement {
        // RFC 6455 §4.1: the checks that the client must make
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

/// One extension with its parameters, as offered by a client or accepted by a server (RFC 6455 §9.1).
///
/// A client may offer the same extension several times, in order of preference.
package struct ExtensionOffer: Equatable, Sendable {
    /// A parameter of an extension; its value is `nil` if it has none.
    package struct Parameter: Equatable, Sendable {
        /// A token.
        package let name: String
        /// A token, without the quotes that it may have had on the wire.
        package let value: String?

        /// Makes a parameter, or `nil` if the name or the value is not a token.
        package init?(_ name: String, _ value: String? = nil) {
            guard HeaderField.isToken(name), value.map({ HeaderField.isToken($0) }) ?? true else { return nil }
            self.name = name
            self.value = value
        }
    }

    /// A token, registered with IANA (§11.4), such as `permessage-deflate`.
    package let name: String
    /// The parameters in their order, including repeated ones.
    package let parameters: [Parameter]

    /// Makes an offer, or `nil` if the name is not a token.
    package init?(_ name: String, parameters: [Parameter] = []) {
        guard HeaderField.isToken(name) else { return nil }
        self.name = name
        self.parameters = parameters
    }

    /// The offer as text of a `Sec-WebSocket-Extensions` field.
    package var fieldValue: String {
        self.parameters.reduce(into: self.name) { text, parameter in
            text += "; " + parameter.name
            if let value = parameter.value { text += "=" + value }
        }
    }

    /// Reads all offers of a head's `Sec-WebSocket-Extensions` fields, in order.
    ///
    /// - Throws: ``HandshakeViolation/malformedExtensions``.
    static func parse(_ fields: HeaderFields) throws(HandshakeViolation) -> [ExtensionOffer] {
        var offers: [ExtensionOffer] = []
        for value in fields.values(of: "Sec-WebSocket-Extensions") {
            var scanner = Scanner(rest: value.utf8[...])
            repeat {
                scanner.skipWhitespace()
                // RFC 9110 §5.6.1: a recipient must accept empty elements of a list
                if scanner.isAtEnd || scanner.rest.first == UInt8(ascii: ",") { continue }
                offers.append(try scanner.offer())
            } while scanner.skip(UInt8(ascii: ","))
            guard scanner.isAtEnd else { throw .malformedExtensions }
        }
        return offers
    }

    private struct Scanner {
        var rest: Substring.UTF8View

        var isAtEnd: Bool { self.rest.isEmpty }

        mutating func skipWhitespace() {
            self.rest = self.rest.drop { $0 == 0x20 || $0 == 0x09 }
        }

        /// Skips `byte` and the white space around it, if it is next.
        mutating func skip(_ byte: UInt8) -> Bool {
            self.skipWhitespace()
            guard self.rest.first == byte else { return false }
            self.rest.removeFirst()
            self.skipWhitespace()
            return true
        }

        mutating func token() throws(HandshakeViolation) -> String {
            let token = self.rest.prefix(while: HeaderField.isTokenByte)
            guard !token.isEmpty else { throw .malformedExtensions }
            self.rest = self.rest[token.endIndex...]
            return String(Substring(token))
        }

        /// Reads a token, or the content of a quoted string, which must be a token too (RFC 6455 §9.1): `Parameter`
        /// checks it.
        mutating func value() throws(HandshakeViolation) -> String {
            guard self.rest.first == UInt8(ascii: "\"") else { return try self.token() }
            self.rest.removeFirst()
            var content: [UInt8] = []
            while let byte = self.rest.popFirst() {
                if byte == UInt8(ascii: "\"") { return String(decoding: content, as: UTF8.self) }
                // RFC 9110 §5.6.4: a backslash makes the next byte literal
                guard byte == UInt8(ascii: "\\") else {
                    content.append(byte)
                    continue
                }
                guard let escaped = self.rest.popFirst() else { break }
                content.append(escaped)
            }
            throw .malformedExtensions
        }

        mutating func offer() throws(HandshakeViolation) -> ExtensionOffer {
            let name = try self.token()
            var parameters: [Parameter] = []
            while self.skip(UInt8(ascii: ";")) {
                let name = try self.token()
                let value = self.skip(UInt8(ascii: "=")) ? try self.value() : nil
                guard let parameter = Parameter(name, value) else { throw .malformedExtensions }
                parameters.append(parameter)
            }
            guard let offer = ExtensionOffer(name, parameters: parameters) else { throw .malformedExtensions }
            return offer
        }
    }
}

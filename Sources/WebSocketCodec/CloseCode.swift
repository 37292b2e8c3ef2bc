/// A status code that is allowed in a Close frame (RFC 6455 §7.4).
///
/// The codes for the absence of a code (1005, 1006, 1015) and undefined codes cannot be made, so that every `CloseCode`
/// can be sent.
package struct CloseCode: Hashable, Sendable {
    /// The number on the wire.
    package let rawValue: UInt16

    /// Makes a code, or `nil` for a number that must not be sent: below 1000, 1004 to 1006, 1015 to 2999, above 4999.
    package init?(rawValue: UInt16) {
        switch rawValue {
        // RFC 6455 §7.4.1 and the IANA registry of close codes (1012 to 1014)
        case 1000...1003, 1007...1014: break
        // RFC 6455 §7.4.2: registered for libraries and applications, and private use
        case 3000...4999: break
        default: return nil
        }
        self.rawValue = rawValue
    }

    private init(known rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the purpose of the connection is fulfilled.
    package static let normal = CloseCode(known: 1000)
    /// 1001: the server stops, or the page is left.
    package static let goingAway = CloseCode(known: 1001)
    /// 1002: a frame violated the protocol.
    package static let protocolError = CloseCode(known: 1002)
    /// 1003: this end does not accept this kind of message.
    package static let unsupportedData = CloseCode(known: 1003)
    /// 1007: text that is not UTF-8.
    package static let invalidPayload = CloseCode(known: 1007)
    /// 1008: a violation of a rule of this end for which there is no other code.
    package static let policyViolation = CloseCode(known: 1008)
    /// 1009: a message above the limit.
    package static let messageTooBig = CloseCode(known: 1009)
    /// 1010: the server did not agree to an extension that the client needs.
    package static let missingExtension = CloseCode(known: 1010)
    /// 1011: this end cannot continue.
    package static let internalError = CloseCode(known: 1011)
    /// 1012: the server restarts; the client should reconnect.
    package static let serviceRestart = CloseCode(known: 1012)
    /// 1013: the server is overloaded; the client should reconnect later.
    package static let tryAgainLater = CloseCode(known: 1013)
    /// 1014: the server behind this gateway gave no valid answer.
    package static let badGateway = CloseCode(known: 1014)
}

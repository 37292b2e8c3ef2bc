/// A fault in an HTTP head or in an opening handshake (RFC 9112 §2 to §5, RFC 6455 §4).
package enum HandshakeViolation: Error, Equatable, Sendable {
    /// The first line is neither `method target HTTP/1.x` nor `HTTP/1.x status reason`.
    case malformedStartLine
    /// A line of the head that is not a field: it has no colon, its name is not a token, or it is folded.
    case malformedField
    /// A byte that is not allowed in a head: a control character, including CR or LF alone.
    case forbiddenByte(UInt8)
    /// A head longer than the limit in bytes.
    case headTooLarge(limit: Int)
    /// More fields than the limit.
    case tooManyFields(limit: Int)
    /// A major version other than 1.
    case unsupportedHTTPVersion

    /// HTTP/1.0, which has no upgrade (RFC 6455 §4.1).
    case notHTTP11
    /// A method other than GET (§4.1).
    case methodNotAllowed
    /// A target that is not a path, or has a fragment (§3, §4.1).
    case badTarget
    /// No `Host`, or several (§4.2.1).
    case badHost
    /// `Upgrade` does not name `websocket` (§4.2.1, §4.2.2).
    case notAnUpgrade
    /// `Connection` does not name `Upgrade` (§4.2.1, §4.2.2).
    case badConnection
    /// A body is announced; its bytes would be parsed as frames.
    case bodyNotAllowed
    /// `Sec-WebSocket-Version` is not 13 (§4.2.1).
    case unsupportedVersion
    /// `Sec-WebSocket-Key` is missing, repeated, or not the Base64 form of 16 bytes (§4.2.1).
    case badKey
    /// `Sec-WebSocket-Protocol` contains an element that is not a token, or appears twice in a response (§4.1).
    case malformedSubprotocols
    /// The server knows none of the subprotocols that the client offers.
    case unknownSubprotocols
    /// `Sec-WebSocket-Extensions` does not follow its grammar (§9.1).
    case malformedExtensions

    /// Client: the server answered with a status other than 101 (§4.1).
    case unexpectedStatus(Int)
    /// Client: `Sec-WebSocket-Accept` does not belong to the key that was sent (§4.1).
    case badAccept
    /// Client: the server selected a subprotocol that was not offered (§4.1).
    case unofferedSubprotocol
    /// Client: the server uses an extension that was not offered (§4.1).
    case unofferedExtension
    /// Client: the server's response to `permessage-deflate` fits none of the offers (RFC 7692 §5.1, §7.1).
    case invalidDeflateResponse

    /// The fault, as a sentence for the author of the peer.
    package var detail: String {
        switch self {
        case .malformedStartLine: "the first line is not that of an HTTP/1.1 message"
        case .malformedField: "a line of the head is not a header field"
        case .forbiddenByte(let byte): "the head has a byte that is not allowed there: \(byte)"
        case .headTooLarge(let limit): "the head is longer than \(limit) bytes"
        case .tooManyFields(let limit): "the head has more than \(limit) fields"
        case .unsupportedHTTPVersion: "this version of HTTP is not supported"
        case .notHTTP11: "an upgrade needs HTTP/1.1"
        case .methodNotAllowed: "a WebSocket is opened with GET"
        case .badTarget: "the target is not a path"
        case .badHost: "exactly one Host field is needed"
        case .notAnUpgrade: "the Upgrade field does not name websocket"
        case .badConnection: "the Connection field does not name Upgrade"
        case .bodyNotAllowed: "an opening handshake has no body"
        case .unsupportedVersion: "Sec-WebSocket-Version must be 13"
        case .badKey: "Sec-WebSocket-Key must be 16 bytes in Base64"
        case .malformedSubprotocols: "Sec-WebSocket-Protocol is malformed"
        case .unknownSubprotocols: "none of the offered subprotocols is supported"
        case .malformedExtensions: "Sec-WebSocket-Extensions is malformed"
        case .unexpectedStatus(let status): "the server answered with status \(status)"
        case .badAccept: "Sec-WebSocket-Accept does not belong to the key"
        case .unofferedSubprotocol: "the server selected a subprotocol that was not offered"
        case .unofferedExtension: "the server uses an extension that was not offered"
        case .invalidDeflateResponse: "the server's parameters of permessage-deflate do not fit the offer"
        }
    }

    /// The reason phrase of ``status`` (RFC 9110 §15, RFC 6585 §5).
    package var title: String {
        switch self.status {
        case 405: "Method Not Allowed"
        case 426: "Upgrade Required"
        case 431: "Request Header Fields Too Large"
        case 505: "HTTP Version Not Supported"
        default: "Bad Request"
        }
    }

    /// The HTTP status of a server's answer; a client does not answer.
    package var status: Int {
        switch self {
        case .headTooLarge, .tooManyFields: 431
        case .unsupportedHTTPVersion: 505
        case .methodNotAllowed: 405
        case .unsupportedVersion, .notAnUpgrade: 426
        case .malformedStartLine, .malformedField, .forbiddenByte, .notHTTP11, .badTarget, .badHost, .badConnection,
            .bodyNotAllowed, .badKey, .malformedSubprotocols, .unknownSubprotocols, .malformedExtensions,
            .unexpectedStatus, .badAccept, .unofferedSubprotocol, .unofferedExtension,
            .invalidDeflateResponse:
            400
        }
    }

    /// The fields of that answer in addition to those of its body.
    package var responseFields: [HeaderField] {
        switch self.status {
        // RFC 9110 §15.5.6
        case 405: [HeaderField(valid: "Allow", "GET")]
        // RFC 9110 §15.5.22 and RFC 6455 §4.4
        case 426:
            [
                HeaderField(valid: "Upgrade", "websocket"), HeaderField(valid: "Connection", "Upgrade"),
                HeaderField(valid: "Sec-WebSocket-Version", "13"),
            ]
        default: []
        }
    }
}

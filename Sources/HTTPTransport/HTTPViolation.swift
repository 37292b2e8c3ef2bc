/// A peer's violation of HTTP/1 or of a time limit, with the status that answers it.
package enum HTTPViolation: Error, Equatable, Sendable, CaseIterable {
    /// Bytes that are not a message (RFC 9112 §2.2).
    case malformed
    /// A head over the limit of bytes or of fields.
    case headTooLarge
    /// A version other than HTTP/1.0 and HTTP/1.1.
    case unsupportedVersion
    /// No `Host` over HTTP/1.1, an empty or malformed one, or several (RFC 9112 §3.2).
    case badHost
    /// A target that is neither a path nor an `http` or `https` address (RFC 9112 §3.2).
    case badTarget
    /// `Transfer-Encoding` over HTTP/1.0, which has none (RFC 9112 §6.1).
    case transferEncodingInHTTP10
    /// A head that did not end in time.
    case headTooSlow
    /// A body that arrived at less than the lowest rate.
    case bodyTooSlow

    /// The status that answers it.
    package var status: Int {
        switch self {
        case .malformed, .badHost, .badTarget, .transferEncodingInHTTP10: 400
        case .headTooSlow, .bodyTooSlow: 408
        case .headTooLarge: 431
        case .unsupportedVersion: 505
        }
    }

    /// The reason phrase of ``status`` (RFC 9110 §15, RFC 6585 §5).
    package var title: String {
        switch status {
        case 408: "Request Timeout"
        case 431: "Request Header Fields Too Large"
        case 505: "HTTP Version Not Supported"
        default: "Bad Request"
        }
    }

    /// The fault, as a sentence for the author of the client.
    package var detail: String {
        switch self {
        case .malformed: "the bytes are not a request"
        case .headTooLarge: "the head is too long, or has too many fields"
        case .unsupportedVersion: "this version of HTTP is not supported"
        case .badHost: "exactly one Host field with a host is needed"
        case .badTarget: "the target is not a path"
        case .transferEncodingInHTTP10: "HTTP/1.0 has no Transfer-Encoding"
        case .headTooSlow: "the head took too long"
        case .bodyTooSlow: "the body comes too slowly"
        }
    }
}

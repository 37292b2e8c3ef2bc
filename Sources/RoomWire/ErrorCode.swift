package import RoomDomain

/// The code of an error answer, on a socket and over HTTP (protocol, section 6).
package enum ErrorCode: String, Sendable, Hashable, CaseIterable {
    case badRequest = "bad_request"
    case methodNotAllowed = "method_not_allowed"
    case notAcceptable = "not_acceptable"
    case unsupportedMediaType = "unsupported_media_type"
    case unauthorized
    case forbidden
    case banned
    case notFound = "not_found"
    case notMember = "not_member"
    case conflict
    case roomClosed = "room_closed"
    case tooLarge = "too_large"
    case limitReached = "limit_reached"
    case rateLimited = "rate_limited"
    case `internal`
    case unavailable
    case outcomeUnknown = "outcome_unknown"

    /// The code of a room's refusal.
    package init(_ refusal: RoomRefusal) {
        switch refusal {
        case .badRequest: self = .badRequest
        case .forbidden: self = .forbidden
        case .banned: self = .banned
        case .notFound: self = .notFound
        case .notMember: self = .notMember
        case .conflict: self = .conflict
        case .roomClosed: self = .roomClosed
        case .limitReached: self = .limitReached
        case .rateLimited: self = .rateLimited
        }
    }

    /// The status of an HTTP answer with this code.
    package var httpStatus: Int {
        switch self {
        case .badRequest: 400
        case .unauthorized: 401
        case .forbidden, .banned: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .notAcceptable: 406
        case .notMember, .conflict: 409
        case .roomClosed: 410
        case .tooLarge: 413
        case .unsupportedMediaType: 415
        case .limitReached: 422
        case .rateLimited: 429
        case .internal: 500
        case .unavailable, .outcomeUnknown: 503
        }
    }

    /// The status's reason phrase, which RFC 9457 §4.2.1 requires if a problem's type is `about:blank`.
    package var title: String {
        switch self {
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden, .banned: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .notAcceptable: "Not Acceptable"
        case .notMember, .conflict: "Conflict"
        case .roomClosed: "Gone"
        case .tooLarge: "Content Too Large"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .limitReached: "Unprocessable Content"
        case .rateLimited: "Too Many Requests"
        case .internal: "Internal Server Error"
        case .unavailable, .outcomeUnknown: "Service Unavailable"
        }
    }
}

/// The name of an error as a server sent it: one of ``ErrorCode``, or a name that a later release added.
package struct ErrorName: Sendable, Hashable {
    /// The name.
    package let text: String

    /// The code; nil if this program does not know it.
    package var code: ErrorCode? { ErrorCode(rawValue: text) }

    package init(_ code: ErrorCode) {
        text = code.rawValue
    }

    /// Any name.
    package init(text: String) {
        self.text = text
    }

    /// Reads the member `code`.
    init(_ fields: JSONFields) throws(FieldViolation) {
        text = try fields.string("code")
    }
}

extension RoomRefusal {
    /// The sentence that explains the refusal.
    package var detail: String {
        switch self {
        case .badRequest(let text), .forbidden(let text), .notFound(let text), .conflict(let text),
            .limitReached(let text), .rateLimited(let text, _):
            text
        case .banned(nil, _): "you are banned from this room"
        case .banned(_?, _): "you are banned from this room for a time"
        case .notMember: "only members may do this: join first"
        case .roomClosed: "the room is closed"
        }
    }

    /// The time after which a retry may succeed, in milliseconds; nil if the room does not know it.
    package var retryAfterMs: Int? {
        switch self {
        case .banned(let wait, _): wait.map { Int($0) }
        case .rateLimited(_, let wait): Int(wait)
        case .badRequest, .forbidden, .notFound, .notMember, .conflict, .roomClosed, .limitReached: nil
        }
    }

    /// The reason that a person gave for the ban that refuses.
    package var reason: String? {
        switch self {
        case .banned(_, let reason): reason
        case .badRequest, .forbidden, .notFound, .notMember, .conflict, .roomClosed, .limitReached, .rateLimited: nil
        }
    }
}

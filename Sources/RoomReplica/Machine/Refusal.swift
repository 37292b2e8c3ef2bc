package import RoomWire

/// Why a server did not do what was asked: a socket, a room, a command, a signal, a claim.
package struct Refusal: Sendable, Equatable {
    /// The error of the answer.
    package var code: ErrorName
    /// A sentence for people who read English.
    package var message: String
    /// The time after which another attempt may succeed.
    package var retryAfterMs: Int?
    /// The reason that a person gave for a ban.
    package var reason: String?

    package init(_ code: ErrorName, _ message: String = "", retryAfterMs: Int? = nil, reason: String? = nil) {
        self.code = code
        self.message = message
        self.retryAfterMs = retryAfterMs
        self.reason = reason
    }

    /// The same refusal, told as the end of a room or of the session.
    var ending: Refusal {
        var ending = self
        ending.message =
            switch code.code {
            case .unauthorized: "the session is over"
            case .banned: "you are banned from the room"
            case .notFound: "there is no such room"
            case .roomClosed: "the room is closed"
            case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .forbidden, .notMember,
                .conflict, .tooLarge, .limitReached, .rateLimited, .internal, .unavailable,
                .outcomeUnknown, nil:
                "the room has ended"
            }
        return ending
    }
}

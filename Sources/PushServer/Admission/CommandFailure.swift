import RoomDomain
import RoomService
import RoomWire

/// What a client is told of something that was not done.
struct CommandFailure: Error {
    /// The protocol's code.
    var code: ErrorCode
    /// What a person can make of it.
    var detail: String
    /// When trying again may help.
    var retryAfterMs: Int?

    /// A failure with a code; the sentence is the code's own where it is left out.
    init(_ code: ErrorCode, _ detail: String? = nil, retryAfterMs: Int? = nil) {
        self.code = code
        self.detail = detail ?? code.detail
        // Long enough for a database's restart to get on, short enough not to be noticed after it.
        self.retryAfterMs = retryAfterMs ?? (code == .unavailable || code == .rateLimited ? 1_000 : nil)
    }

    /// The fields that an HTTP answer has because of it (RFC 9110 §10.2.3, §11.6.1).
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if code == .unauthorized { fields.append(("WWW-Authenticate", "Bearer")) }
        // Rounded up: a client that waits as long as it is told is let in.
        if let retryAfterMs { fields.append(("Retry-After", "\((retryAfterMs + 999) / 1_000)")) }
        return fields
    }

    /// What is told of an outcome that is no acknowledgement.
    init(_ outcome: CommandOutcome) {
        switch outcome {
        case .acknowledged: self.init(.internal)
        case .keyReused: self.init(.conflict, "the key was used for another command")
        case .failed(let failure): self.init(failure)
        }
    }

    /// What is told of a reaction or signal that was not done; nil where it was.
    init?(_ outcome: EphemeralOutcome) {
        switch outcome {
        case .done: return nil
        case .rateLimited(let wait):
            self.init(.rateLimited, "too many reactions or signals", retryAfterMs: wait)
        case .failed(let failure): self.init(failure)
        }
    }

    /// What is told of a refusal.
    init(_ refusal: RoomRefusal) {
        self.init(ErrorCode(refusal), refusal.detail, retryAfterMs: refusal.retryAfterMs)
    }

    /// What a connection is told that may not follow a room: the code with its own sentence.
    init(ofSubscription failure: RoomFailure) {
        switch failure {
        case .noSuchRoom: self.init(ErrorCode.notFound)
        case .refused(let refusal): self.init(ErrorCode(refusal), retryAfterMs: refusal.retryAfterMs)
        case .unavailable, .busy, .internalFault: self.init(ErrorCode.unavailable)
        }
    }

    /// What is told of a room that cannot be had, or did not do what was asked.
    init(_ failure: RoomFailure) {
        switch failure {
        case .noSuchRoom: self.init(.notFound, "no such room")
        case .refused(let refusal): self.init(refusal)
        case .unavailable: self.init(ErrorCode.unavailable)
        case .busy: self.init(.unavailable, "as much is read at the moment as can be; try again")
        case .internalFault: self.init(.internal)
        }
    }
}

extension ErrorCode {
    /// What a person can make of the code where there is nothing more to say.
    var detail: String {
        switch self {
        case .unavailable: "the event log is out of reach; nothing was changed, retry with the same key"
        case .internal: "the server could not do this; its log says why"
        case .unauthorized: "a session's token is needed: the cookie __Host-backline_session or Authorization: Bearer"
        case .notFound: "no such room"
        case .banned: "you are banned from this room"
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .forbidden, .notMember, .conflict,
            .roomClosed, .tooLarge, .limitReached, .rateLimited:
            title
        }
    }
}

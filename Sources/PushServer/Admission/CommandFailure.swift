import RoomDomain
import RoomService
import RoomWire

/// A failure as it is reported to a client.
struct CommandFailure: Error, Equatable {
    /// The protocol's code.
    var code: ErrorCode
    /// The explanation for a person.
    var detail: String
    /// The time after which a retry may succeed.
    var retryAfterMs: Int?
    /// The reason that a person gave for a ban.
    var reason: String?

    /// Makes a failure with a code; without a `detail`, it is the code's own sentence.
    init(_ code: ErrorCode, _ detail: String? = nil, retryAfterMs: Int? = nil, reason: String? = nil) {
        self.code = code
        self.reason = reason
        self.detail = detail ?? code.detail
        // Long enough for a restarting database to make progress, and short enough to go unnoticed once it is back.
        self.retryAfterMs =
            retryAfterMs ?? ([.unavailable, .outcomeUnknown, .rateLimited].contains(code) ? 1_000 : nil)
    }

    /// The failure as a problem (RFC 9457).
    var problem: [UInt8] {
        HTTPBody.problem(code: code, detail: detail, retryAfterMs: retryAfterMs, reason: reason)
    }

    /// The failure as the answer to a message of a socket.
    func answer(to request: Int64?) -> [UInt8] {
        ServerMessage.error(re: request, code: code, message: detail, retryAfterMs: retryAfterMs, reason: reason)
    }

    /// The fields that this failure adds to an HTTP answer (RFC 9110 §10.2.3, §11.6.1).
    var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        if code == .unauthorized { fields.append(("WWW-Authenticate", "Bearer")) }
        // Rounded up, so that a client that waits this long is admitted.
        if let retryAfterMs { fields.append(("Retry-After", "\((retryAfterMs + 999) / 1_000)")) }
        return fields
    }

    /// Makes the failure of an outcome other than an acknowledgement.
    init(_ outcome: CommandOutcome) {
        switch outcome {
        case .acknowledged: self.init(.internal)
        case .keyReused: self.init(.conflict, "the key was used for another command")
        case .failed(let failure): self.init(failure)
        }
    }

    /// Makes the failure of a reaction or signal; nil if it was done.
    init?(_ outcome: EphemeralOutcome) {
        switch outcome {
        case .done: return nil
        case .rateLimited(let wait):
            self.init(.rateLimited, "too many reactions or signals", retryAfterMs: wait)
        case .failed(let failure): self.init(failure)
        }
    }

    /// Makes the failure of a command that the room refused.
    init(_ refusal: RoomRefusal) {
        self.init(
            ErrorCode(refusal), refusal.detail, retryAfterMs: refusal.retryAfterMs, reason: refusal.reason)
    }

    /// Makes the failure of a refused subscription: the code with its own sentence.
    init(ofSubscription failure: RoomFailure) {
        switch failure {
        case .noSuchRoom: self.init(ErrorCode.notFound)
        case .refused(let refusal):
            self.init(ErrorCode(refusal), retryAfterMs: refusal.retryAfterMs, reason: refusal.reason)
        case .unavailable, .outcomeUnknown, .busy, .internalFault: self.init(ErrorCode.unavailable)
        }
    }

    /// Makes the failure of a request to a room.
    init(_ failure: RoomFailure) {
        switch failure {
        case .noSuchRoom: self.init(.notFound, "no such room")
        case .refused(let refusal): self.init(refusal)
        case .unavailable: self.init(ErrorCode.unavailable)
        case .outcomeUnknown: self.init(ErrorCode.outcomeUnknown)
        case .busy: self.init(.unavailable, "the server has reached its limit of reads in progress; try again")
        case .internalFault: self.init(.internal)
        }
    }
}

extension ErrorCode {
    /// The explanation of the code for a person, where there is no more specific one.
    var detail: String {
        switch self {
        case .unavailable: "the event log is out of reach; nothing was changed, retry with the same key"
        case .outcomeUnknown:
            "the event log has not answered: it is not known whether this was done; retry with the same key"
        case .internal: "the server failed to do this; its log has the reason"
        case .unauthorized: "a session's token is needed: the cookie __Host-backline_session or Authorization: Bearer"
        case .notFound: "no such room"
        case .banned: "you are banned from this room"
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .forbidden, .notMember, .conflict,
            .roomClosed, .tooLarge, .limitReached, .rateLimited:
            title
        }
    }
}

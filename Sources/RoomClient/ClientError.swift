/// Why something failed, for programs and for people.
public struct ClientError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is: one of the server's codes, or one of the client's own.
    ///
    /// Codes may be added, by the server too; a client treats one that it does not know as a refusal.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code, as the protocol spells it.
        public let rawValue: String

        /// Any code.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The code.
        public var description: String { rawValue }
    }

    /// What kind of failure it is.
    public var code: Code
    /// A sentence for people, in English.
    public var message: String
    /// The time after which trying again may help; nil if that is not known, or if it does not help.
    public var retryAfter: Duration?
    /// The reason that a person gave for a ban, where the server told it with ``Code/banned``.
    public var reason: String?
    /// What lies below: a fault of the transport or of the store.
    public var cause: (any Error)?

    /// An error.
    public init(_ code: Code, _ message: String, retryAfter: Duration? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.cause = cause
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension ClientError.Code {
    // The server's codes (protocol, section 6).

    /// The request is malformed, or a value is out of its bounds.
    public static let badRequest = Self(rawValue: "bad_request")
    /// The session is over, or the token is not known.
    public static let unauthorized = Self(rawValue: "unauthorized")
    /// The role does not allow it.
    public static let forbidden = Self(rawValue: "forbidden")
    /// The member is banned from the room.
    public static let banned = Self(rawValue: "banned")
    /// There is no such room, track, entry or member.
    public static let notFound = Self(rawValue: "not_found")
    /// Only members may do this: join first.
    public static let notMember = Self(rawValue: "not_member")
    /// It contradicts what the room is now.
    public static let conflict = Self(rawValue: "conflict")
    /// The room is closed.
    public static let roomClosed = Self(rawValue: "room_closed")
    /// The request is too large.
    public static let tooLarge = Self(rawValue: "too_large")
    /// The room, the queue or the pool is full.
    public static let limitReached = Self(rawValue: "limit_reached")
    /// Too much in too short a time; ``ClientError/retryAfter`` tells how long to wait.
    public static let rateLimited = Self(rawValue: "rate_limited")
    /// The server has failed.
    public static let `internal` = Self(rawValue: "internal")
    /// The server, or its log, cannot be reached now.
    public static let unavailable = Self(rawValue: "unavailable")

    // The client's own codes.

    /// There is no connection, and this needs one.
    public static let offline = Self(rawValue: "offline")
    /// The command was never sent, and it is too late for it now.
    public static let expired = Self(rawValue: "expired")
    /// The command was never sent: a later one took its effect back, or says the same.
    public static let superseded = Self(rawValue: "superseded")
    /// The command was sent and is not sent again: nobody can say whether it was carried out.
    public static let outcomeUnknown = Self(rawValue: "outcome_unknown")
    /// The task that waited was cancelled, although what it asked for may still happen.
    public static let cancelled = Self(rawValue: "cancelled")
    /// The client runs already, or has been let go.
    public static let misuse = Self(rawValue: "misuse")
    /// The device's store failed.
    public static let store = Self(rawValue: "store")
    /// The server's answer could not be read.
    public static let unreadable = Self(rawValue: "unreadable")
}

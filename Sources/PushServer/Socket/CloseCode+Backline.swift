import WebSocketCodec

extension CloseCode {
    /// The session has ended: do not come back with it.
    static let sessionEnded = CloseCode(rawValue: 4401) ?? .policyViolation
    /// Banned from the room of this socket: do not come back.
    static let banned = CloseCode(rawValue: 4403) ?? .policyViolation
    /// The room of this socket was closed and forgotten: do not come back.
    static let roomForgotten = CloseCode(rawValue: 4404) ?? .policyViolation
    /// Nothing came from the peer for too long.
    static let silent = CloseCode(rawValue: 4408) ?? .policyViolation
    /// More messages came than allowed, and went on coming.
    static let tooManyMessages = CloseCode(rawValue: 4429) ?? .policyViolation
}

import WebSocketCodec

extension CloseCode {
    /// The session has ended; the client must not reconnect with it.
    static let sessionEnded = CloseCode(rawValue: 4401) ?? .policyViolation
    /// The session was banned from the room of this socket; the client must not reconnect.
    static let banned = CloseCode(rawValue: 4403) ?? .policyViolation
    /// The room of this socket was closed and forgotten; the client must not reconnect.
    static let roomForgotten = CloseCode(rawValue: 4404) ?? .policyViolation
    /// The peer sent nothing for too long.
    static let silent = CloseCode(rawValue: 4408) ?? .policyViolation
    /// The peer sent more messages than allowed, and continued after it was told.
    static let tooManyMessages = CloseCode(rawValue: 4429) ?? .policyViolation
}

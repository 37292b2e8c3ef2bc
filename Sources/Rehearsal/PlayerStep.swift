/// What the player asks of its shell, which takes the steps in their order.
package enum PlayerStep: Sendable, Equatable {
    /// Accept the handshake of a connection.
    case accept(Int)
    /// Answer a handshake with this status and problem.
    case refuse(Int, status: Int, body: [UInt8])
    /// Send one text message.
    case send(Int, [UInt8])
    /// Close a connection.
    case close(Int, code: UInt16)
    /// Cut a connection without a close.
    case drop(Int)
    /// Take nothing from a connection and answer nothing on it, not even a ping, until it ends.
    case mute(Int)
    /// Answer an HTTP request.
    case respond(request: Int, status: Int, body: [UInt8])
    /// Write one line to the program.
    case tell([UInt8])
    /// Call ``Player/woken(at:)`` at this time; it replaces the one before.
    case wake(at: Int64)
    /// It is over.
    case finished(PlayerResult)
}

/// How a conversation has ended.
package enum PlayerResult: Sendable, Equatable {
    case passed
    /// What was expected, and what came.
    case failed(String)
    /// The client cannot do what the conversation needs.
    case skipped(needs: [String])
}

/// The reason why a command is refused: nobody is at fault, and nothing has changed.
package enum RoomRefusal: Error, Sendable, Equatable {
    /// A value is out of its range; the text names the field and the range.
    case badRequest(String)
    /// The member's role does not allow it.
    case forbidden(String)
    /// The session was banned from the room: for the given time, or without one until the ban is lifted; with the
    /// reason that was given.
    case banned(retryAfterMs: Int64?, reason: String? = nil)
    /// No such member, track or entry; the text says which.
    case notFound(String)
    /// The session is not in the room.
    case notMember
    /// The command contradicts the room's state.
    case conflict(String)
    /// The room takes no more commands.
    case roomClosed
    /// A limit of the room is reached; the text names it.
    case limitReached(String)
    /// The command comes too soon after an earlier one; the text says which.
    case rateLimited(String, retryAfterMs: Int64)

    /// A ban without an end.
    package static var banned: RoomRefusal { .banned(retryAfterMs: nil) }
}

/// Why the answer is no: nobody is at fault, nothing has changed.
package enum RoomRefusal: Error, Sendable, Equatable {
    /// A value is out of its range; the text names the field and the range.
    case badRequest(String)
    /// The member's role does not allow it.
    case forbidden(String)
    /// The session was banned from the room: for so long where a time is given, else until it is unbanned.
    case banned(retryAfterMs: Int64?)
    /// No such member, track or entry; the text says which.
    case notFound(String)
    /// The session is not in the room.
    case notMember
    /// What is asked contradicts the room's state.
    case conflict(String)
    /// The room takes no commands any more.
    case roomClosed
    /// A limit of the room is reached; the text names it.
    case limitReached(String)
    /// It is too early for once more; the text says for what.
    case rateLimited(String, retryAfterMs: Int64)

    /// A ban without an end.
    package static var banned: RoomRefusal { .banned(retryAfterMs: nil) }
}

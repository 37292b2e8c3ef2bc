package import RoomDomain

/// What became of a reaction or a signal.
package enum LiveOutcome: Sendable, Equatable {
    /// On its way.
    case done
    /// The room says no.
    case refused(RoomRefusal)
    /// Too many; another one is let after so long.
    case rateLimited(retryAfterMs: Int)
    /// There is no such room.
    case noSuchRoom
    /// The event log is out of reach, and the room not in memory.
    case unavailable
    /// The room's log cannot be read.
    case internalFault
}

package import RoomDomain

/// What became of a command.
///
/// All but ``unavailable``, ``internalFault`` and the refusal of what would write too much (``LogShares``) were confirmed
/// by the event log.
package enum CommandOutcome: Sendable, Equatable {
    /// Done and durable.
    case acknowledged(seq: Int, result: CommandResult?)
    /// The room says no; nothing changed.
    case refused(RoomRefusal)
    /// The key was used for another command; nothing changed.
    case keyReused
    /// There is no such room.
    case noSuchRoom
    /// The event log is out of reach. Retry with the same key.
    case unavailable
    /// The event log refuses what we give it; nothing changed.
    case internalFault
}

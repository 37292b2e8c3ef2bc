package import RoomDomain

/// What became of a command.
///
/// The event log has confirmed every outcome but ``RoomFailure/unavailable``, ``RoomFailure/internalFault`` and the
/// refusal of a command that would write too much (``LogShares``).
package enum CommandOutcome: Sendable, Equatable {
    /// Done and durable.
    case acknowledged(seq: Int, result: CommandResult?)
    /// The key was used for another command; nothing changed.
    case keyReused
    /// Not done. After ``RoomFailure/unavailable`` it may be done all the same: retry with the same key.
    case failed(RoomFailure)
}

import EventStorage
package import RoomDomain
import RoomWire

/// The outcome of a command.
///
/// The event log has confirmed every outcome except ``RoomFailure/unavailable``, ``RoomFailure/outcomeUnknown``,
/// ``RoomFailure/internalFault`` and the refusal of a command that would write too much (``LogShares``).
package enum CommandOutcome: Sendable, Equatable {
    /// The command was carried out and is durable.
    ///
    /// `keyed` is the room's count of keyed commands when it was carried out, this command included. A retry gets the
    /// count of the first time.
    case acknowledged(seq: Int, keyed: Int, result: CommandResult?)
    /// The key was used for another command; nothing changed.
    case keyReused
    /// The command was not carried out.
    ///
    /// After ``RoomFailure/outcomeUnknown`` it may have been carried out nevertheless: retry with the same key.
    case failed(RoomFailure)

    /// The outcome of a command whose key was given before, with this command or another.
    init(_ first: CommandKey, fingerprint: Int64) {
        guard [fingerprint, CommandKey.forgotten].contains(first.fingerprint) else {
            self = .keyReused
            return
        }
        self = .acknowledged(
            seq: first.seq, keyed: first.ordinal, result: first.result.flatMap { try? ResultJSON.decode($0) })
    }
}

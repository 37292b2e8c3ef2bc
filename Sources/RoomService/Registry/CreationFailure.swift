/// Why a room is not made.
package enum CreationFailure: Error, Sendable, Equatable {
    /// The key was used for another room.
    case keyReused
    /// No room is made, or the one made before cannot be looked at.
    case failed(RoomFailure)
}

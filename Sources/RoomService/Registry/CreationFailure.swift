/// The reason for which a room is not created.
package enum CreationFailure: Error, Sendable, Equatable {
    /// The key was used for another room.
    case keyReused
    /// No room was created, or the one created earlier cannot be viewed.
    case failed(RoomFailure)
}

package import RoomDomain

/// Why a room is not made.
package enum CreationFailure: Error, Sendable, Equatable {
    case refused(RoomRefusal)
    /// The key was used for another room.
    case keyReused
    case failed(RoomFailure)
}

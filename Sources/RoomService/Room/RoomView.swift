package import RoomDomain
package import RoomWire

/// What somebody who looks at a room gets.
package struct RoomView: Sendable {
    /// The room.
    package var room: RoomID
    /// The epoch of its log.
    package var epoch: String
    /// The last event in `state`.
    package var seq: Int
    /// When it was looked at.
    package var time: Timestamp
    /// `State`, as JSON.
    package var state: SharedState
    /// `You`, as JSON, where the session is a member.
    package var you: [UInt8]?
    /// Who has a live connection; nil for a look at the past.
    package var presence: Presence?
    /// Whether the request that asks for this view has made the room.
    package var isNew = false
}

package import RoomDomain
package import RoomWire

/// A room as one session sees it.
package struct RoomView: Sendable {
    /// The room.
    package var room: RoomID
    /// The epoch of its log.
    package var epoch: String
    /// The last event in `state`.
    package var seq: Int
    /// The room's count of keyed commands; nil if it is not known, and for a view of the past.
    package var keyed: Int?
    /// The time at which it was read.
    package var time: Timestamp
    /// `State`, as JSON.
    package var state: SharedState
    /// `You`, as JSON, if the session is a member.
    package var you: [UInt8]?
    /// The members with a live connection; nil for a view of the past.
    package var presence: Presence?
    /// Whether the request for this view created the room.
    package var isNew = false
}

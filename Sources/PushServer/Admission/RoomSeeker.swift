import RoomDomain

/// The client that looks for a room: a failed look-up is charged to its session and to its address.
struct RoomSeeker: Hashable, Sendable {
    var session: SessionID
    /// The value that stands for its address; nil if the address does not count.
    var address: UInt64?
}

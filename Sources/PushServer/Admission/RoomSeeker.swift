import RoomDomain

/// Whoever looks for a room: a failed look-up is charged to its session and to its address.
struct RoomSeeker: Hashable, Sendable {
    var session: SessionID
    /// What stands for its address; nil where it has none that counts.
    var address: UInt64?
}

import RoomDomain
import RoomWire

/// What another server has reported of a room's members.
enum PeerReport {
    /// These members may have come online or gone offline.
    case presence(Set<MemberID>)
    /// The server's claim to be the deck has changed.
    case deck
    /// A member there shows a reaction to everybody.
    case reaction(String, from: MemberID)
    /// A member there sends a signal to one who is connected here.
    case signal(RelayedJSON, from: MemberID, to: MemberID)
}

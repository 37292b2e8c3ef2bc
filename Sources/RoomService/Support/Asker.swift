package import RoomDomain

/// Who asks for something whose cost grows with a room or a log.
package struct Asker: Hashable, Sendable {
    /// The session.
    package var session: SessionID
    /// A value that stands for all addresses that the session's peer can choose from; nil if it is not known.
    package var address: UInt64?

    package init(_ session: SessionID, from address: UInt64?) {
        self.session = session
        self.address = address
    }

    var origin: HeavyWorkOrigin { address.map { .address($0) } ?? .session(session) }
}

/// What waits for itself: an address, or a session whose address is not known.
enum HeavyWorkOrigin: Hashable {
    case address(UInt64)
    case session(SessionID)
}

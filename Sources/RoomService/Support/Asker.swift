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

extension Array {
    /// The first of each origin, then the second of each, and so on; otherwise in the same order.
    ///
    /// What concerns several origins is the turn of the one that has had fewest.
    func inTurn<Origins: Collection>(by origins: (Element) -> Origins) -> [Element]
    where Origins.Element == HeavyWorkOrigin {
        var turns: [HeavyWorkOrigin: Int] = [:]
        let numbers = map { element in
            let own = origins(element).map { (origin: $0, turn: turns[$0] ?? 0) }
            guard let next = own.min(by: { $0.turn < $1.turn }) else { return 0 }
            turns[next.origin] = next.turn + 1
            return next.turn
        }
        return zip(numbers, indices).sorted(by: <).map { self[$0.1] }
    }
}

package import RoomDomain
package import RoomWire

/// Whether this device is the one that plays a room, over any number of connections.
///
/// A claim belongs to a connection. After a reconnect it is made again, unless another device has claimed meanwhile.
package struct DeviceClaim: Sendable, Equatable {
    private enum Stage: Sendable, Equatable {
        case none
        /// The server was asked, under this `id`; `isAgain`: it has agreed on an earlier connection.
        case asked(Int64, isAgain: Bool)
        /// The server has told that this connection is the deck.
        case here
        /// The connection on which it was the deck is lost.
        case away
    }

    private var stage = Stage.none

    package init() {}

    /// The app has asked the server, under this `id`.
    package mutating func asked(_ isOn: Bool, id: Int64) { stage = isOn ? .asked(id, isAgain: false) : .none }

    /// The server has refused what was asked under this `id`.
    package mutating func refused(_ id: Int64) { if case .asked(id, _) = stage { stage = .none } }

    /// The connection is lost.
    package mutating func disconnected() {
        switch stage {
        case .here, .asked(_, isAgain: true): stage = .away
        case .asked(_, isAgain: false): stage = .none
        case .none, .away: break
        }
    }

    /// The server has told which device plays; returns whether this one claims that again.
    ///
    /// `me` is one's own number: a claim of it that is not this connection's may be that of the lost one.
    package mutating func told(_ deck: ShownDeck?, me: MemberID?) -> Bool {
        switch stage {
        case .none: return false
        case .asked:
            if deck?.isHere == true { stage = .here }
            return false
        case .here:
            if deck?.isHere != true { stage = .none }
            return false
        case .away:
            if let deck, deck.member != me { stage = .none }
            return deck == nil
        }
    }

    /// It is claimed again under this `id`.
    package mutating func claimedAgain(id: Int64) { stage = .asked(id, isAgain: true) }
}

package import RoomDomain
package import RoomWire

/// Whether this device is the one that plays a room, over any number of connections.
///
/// A claim belongs to a connection. After a reconnect it is made again, unless another member has claimed meanwhile.
package struct DeviceClaim: Sendable, Equatable {
    private enum Stage: Sendable, Equatable {
        case none
        /// The server was asked for the first time.
        case asked
        /// The server has agreed.
        case agreed
        /// The server has told everybody that this connection is the deck.
        case here
        /// The connection on which it was the deck is lost.
        case away
    }

    private var stage = Stage.none
    /// The `id` of the newest claim, until it is answered.
    private var question: Int64?
    /// When it may be claimed again; nil: at once.
    private var againAt: ClientInstant?

    package init() {}

    /// Whether this device is the deck, or is to be again once there is a connection.
    package var isDeck: Bool {
        switch stage {
        case .agreed, .here, .away: true
        case .none, .asked: false
        }
    }

    /// The next moment at which it has to be claimed again without a message; nil if there is none.
    package var due: ClientInstant? { stage == .away && question == nil ? againAt : nil }

    /// The server was asked, under this `id`, by the app or because of ``isDueAgain(_:at:)``.
    package mutating func asked(id: Int64) {
        question = id
        if stage == .none { stage = .asked }
    }

    /// The app plays the room no more.
    package mutating func release() { self = DeviceClaim() }

    /// The server has agreed to what was asked under this `id`.
    package mutating func agreed(_ id: Int64) {
        guard question == id else { return }
        question = nil
        switch stage {
        case .asked, .away: stage = .agreed
        case .none, .agreed, .here: break
        }
    }

    /// The server has refused what was asked under this `id`: until `again`, or for good.
    package mutating func refused(_ id: Int64, until again: ClientInstant?) {
        guard question == id else { return }
        question = nil
        switch stage {
        case .away where again != nil: againAt = again
        case .asked, .away: stage = .none
        // It asked for what it is.
        case .none, .agreed, .here: break
        }
    }

    /// The connection is lost.
    package mutating func disconnected() {
        (question, againAt) = (nil, nil)
        switch stage {
        case .agreed, .here: stage = .away
        case .asked: stage = .none
        case .none, .away: break
        }
    }

    /// The server has told which device plays.
    ///
    /// `me` is one's own number: a claim of it that is not this connection's may be that of the lost one.
    package mutating func told(_ deck: ShownDeck?, me: MemberID?) {
        switch stage {
        case .none: break
        case .asked, .agreed: if deck?.isHere == true { stage = .here }
        case .here: if deck?.isHere != true { stage = .none }
        case .away:
            if deck?.isHere == true {
                stage = .here
            } else if let deck, deck.member != me, question == nil {
                stage = .none
            }
        }
    }

    /// Whether it is to be claimed again now, where `deck` plays.
    package func isDueAgain(_ deck: ShownDeck?, at now: ClientInstant) -> Bool {
        stage == .away && question == nil && deck == nil && againAt.map { $0 <= now } ?? true
    }
}

package import RoomDomain
package import RoomWire

/// A receiver of the news of rooms, one for each event loop that has subscribers.
///
/// All methods are called on the room's event loop, in the order of what happened there. An implementation hops to its
/// own loop in a way that keeps this order.
package protocol RoomFeed: AnyObject, Sendable {
    /// Events became durable.
    func roomMoved(_ update: PublishedEvents)
    /// An ephemeral message is shown to all followers.
    func roomShows(_ message: EphemeralMessage)
    /// Another device became the deck, or none is.
    func deckMoved(_ change: DeckChange)
    /// A signal arrived for one session's connections that follow the room.
    func signalArrived(_ signal: RelayedSignal)
    /// A subscription was accepted; `messages` come before anything that ``roomMoved(_:)`` brings later.
    func subscriptionBegan(_ subscription: Subscription)
    /// A subscription was refused.
    func subscriptionRefused(_ request: SubscriptionRequest, because: RoomFailure)
    /// Subscriptions of a session ended because the room banned it.
    func sessionBanned(_ session: SessionID, from room: RoomID)
    /// The room's log was replaced. Everything shown before is void, and every connection that follows must ask to
    /// start again before it is shown later events.
    func roomBegan(_ room: RoomID)
    /// All subscriptions ended because the room no longer exists.
    func roomForgotten(_ room: RoomID)
}

/// Events of one room that became durable together, already encoded.
package struct PublishedEvents: Sendable {
    /// The room.
    package var room: RoomID
    /// The number of the first event.
    package var from: Int
    /// The number of the last event.
    package var seq: Int
    /// One text message (a `delta`).
    package var message: [UInt8]
}

/// A change of a room's deck, as its followers are told.
package struct DeckChange: Sendable {
    /// The room.
    package var room: RoomID
    /// One text message (a `deck`) for those who are not the deck.
    package var message: [UInt8]
    /// The connection that is the deck, and its message; nil if it is at another server, or there is none.
    package var here: (connection: ConnectionID, message: [UInt8])?
    /// The connections for which something changes; nil for all that follow.
    package var concerned: Set<ConnectionID>?
}

/// A connection's request to follow a room.
package struct SubscriptionRequest: Sendable {
    /// What a connection asks for.
    package enum Wish: Sendable, Hashable {
        /// A client asks, from its position if it has one; `id` is given back as `re`.
        case begin(id: Int64?, from: Position?)
        /// The connection follows, and did not keep up: a snapshot in place of the events from this one on.
        case collapse(from: Int)
        /// The connection follows, and an earlier answer did not reach the end: the events from this one on, in the log
        /// that it follows.
        case rest(from: Int)
        /// The connection follows, and the log was replaced (``RoomFeed/roomBegan(_:)``).
        case anew
    }

    /// The connection, unique in this process.
    package var connection: ConnectionID
    /// The session behind it.
    package var session: SessionID
    /// What it asks for.
    package var wish: Wish
    /// Whether the connection accepts a compressed state.
    package var takesCompressed: Bool
    /// Whether the room was at its log's head, by all that it knew, when it began to answer.
    var isVerified = false
    /// The feed that receives the answer.
    package var feed: any RoomFeed

    package init(
        connection: ConnectionID, session: SessionID, _ wish: Wish, takesCompressed: Bool = false, feed: any RoomFeed
    ) {
        self.connection = connection
        self.session = session
        self.wish = wish
        self.takesCompressed = takesCompressed
        self.feed = feed
    }

    /// The client's id of the request, given back as `re`.
    package var id: Int64? {
        if case .begin(let id, _) = wish { id } else { nil }
    }

    /// The position from which the client resumes; nil if it has none.
    package var position: Position? {
        if case .begin(_, let position) = wish { position } else { nil }
    }

    /// The first event that was not sent to this connection; nil if none is known.
    package var leftOutFrom: Int? {
        switch wish {
        case .collapse(let from), .rest(let from): from
        case .begin, .anew: nil
        }
    }

    /// Whether the connection asks for the rest of an earlier answer.
    package var isRest: Bool {
        if case .rest = wish { true } else { false }
    }

    /// Whether the connection asks on its own, without a message of the client.
    package var isCatchUp: Bool {
        if case .begin = wish { false } else { true }
    }
}

/// An accepted subscription.
package struct Subscription: Sendable {
    /// The connection.
    package var connection: ConnectionID
    /// The room.
    package var room: RoomID
    /// The last event in `messages`.
    package var seq: Int
    /// Whether that is the room's last event.
    ///
    /// Otherwise the connection asks for later ones (``SubscriptionRequest/Wish/rest(from:)``) when it has taken the
    /// messages.
    package var isWhole: Bool
    /// Whether it only replaces left-out events: the connection followed already.
    package var isCatchUp: Bool
    /// The first event that was left out at the time of the request; nil if none was.
    package var leftOutFrom: Int?
    /// Whether it begins with a snapshot.
    package var isSnapshot: Bool
    /// The answer and the deltas after it: text messages in order.
    package var messages: [RoomMessage]
}

/// How a connection's subscription ends.
package enum SubscriptionEnd: Sendable {
    /// The client asked for the end.
    case asked
    /// The connection ended in any way, and the client may be back in a moment.
    case lost
}

/// A connection's number, unique in this process.
package struct ConnectionID: RawRepresentable, Hashable, Sendable {
    /// The number.
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }
}

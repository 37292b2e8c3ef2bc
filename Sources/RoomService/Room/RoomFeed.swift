package import RoomDomain

/// A receiver of the news of rooms, one for each event loop that has subscribers.
///
/// All methods are called on the room's event loop, in the order of what happened there. An implementation hops to its
/// own loop in a way that keeps this order.
package protocol RoomFeed: AnyObject, Sendable {
    /// Events became durable.
    func roomMoved(_ update: PublishedEvents)
    /// An ephemeral message is shown to all followers.
    func roomShows(_ message: EphemeralMessage)
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

/// A connection's request to follow a room.
package struct SubscriptionRequest: Sendable {
    /// The connection, unique in this process.
    package var connection: ConnectionID
    /// The session behind it.
    package var session: SessionID
    /// The request's id, given back as `re`.
    package var id: Int64?
    /// The epoch of the client's position, if it resumes.
    package var epoch: String?
    /// The last event the client has, if it resumes.
    package var seq: Int?
    /// The first event that was left out for this connection, if it did not keep up.
    package var collapsedFrom: Int?
    /// Whether the connection follows already and was shown another log (``RoomFeed/roomBegan(_:)``).
    package var beginsAnew: Bool
    /// Whether the connection asks for the events after `seq` that an earlier answer did not reach, in the log that it
    /// follows, whatever its epoch.
    package var continues: Bool
    /// Whether the connection accepts a compressed state.
    package var takesCompressed: Bool
    /// Whether the room was at its log's head, by all that it knew, when it began to answer.
    var isVerified = false
    /// The feed that receives the answer.
    package var feed: any RoomFeed

    package init(
        connection: ConnectionID, session: SessionID, id: Int64?, epoch: String? = nil, seq: Int? = nil,
        collapsedFrom: Int? = nil, beginsAnew: Bool = false, continues: Bool = false, takesCompressed: Bool = false,
        feed: any RoomFeed
    ) {
        self.connection = connection
        self.session = session
        self.id = id
        self.epoch = epoch
        self.seq = seq
        self.collapsedFrom = collapsedFrom
        self.beginsAnew = beginsAnew
        self.continues = continues
        self.takesCompressed = takesCompressed
        self.feed = feed
    }

    /// Whether the connection asks on its own, without a message of the client.
    package var isCatchUp: Bool { beginsAnew || collapsedFrom != nil }
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
    /// Otherwise the connection asks for later ones (``SubscriptionRequest/continues``) when it has taken the messages.
    package var isWhole: Bool
    /// Whether it only replaces left-out events: the connection followed already.
    package var isCatchUp: Bool
    /// The first event that was left out at the time of the request; nil if none was.
    package var collapsedFrom: Int?
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

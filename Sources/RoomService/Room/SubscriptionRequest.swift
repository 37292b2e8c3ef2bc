package import RoomDomain
package import RoomWire

/// A connection's request to follow a room.
package struct SubscriptionRequest: Sendable {
    /// The connection, unique in this process.
    package var connection: ConnectionID
    /// The session behind it.
    package var session: SessionID
    /// What it asks for.
    package var wish: SubscriptionWish
    /// Whether the connection accepts a compressed state.
    package var takesCompressed: Bool
    /// Whether the room was at its log's head, by all that it knew, when it began to answer.
    var isVerified = false
    /// The feed that receives the answer.
    package var feed: any RoomFeed

    package init(
        connection: ConnectionID, session: SessionID, _ wish: SubscriptionWish, takesCompressed: Bool = false,
        feed: any RoomFeed
    ) {
        self.connection = connection
        self.session = session
        self.wish = wish
        self.takesCompressed = takesCompressed
        self.feed = feed
    }

    /// The client's id of the request, given back as `re`.
    package var id: Int64? { wish.id }

    /// The position from which the client resumes; nil if it has none.
    package var position: Position? { wish.position }

    /// The first event that was not sent to this connection; nil if none is known.
    package var leftOutFrom: Int? { wish.leftOutFrom }

    /// Whether the connection asks for the rest of an earlier answer.
    package var isRest: Bool { wish.isRest }

    /// Whether the connection asks on its own, without a message of the client.
    package var isCatchUp: Bool { wish.isCatchUp }
}

extension RefusedSubscription {
    init(_ request: SubscriptionRequest, _ failure: RoomFailure) {
        self.init(connection: request.connection, session: request.session, wish: request.wish, failure: failure)
    }
}

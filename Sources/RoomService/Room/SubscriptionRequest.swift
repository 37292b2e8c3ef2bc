package import RoomDomain
import RoomWire

/// A connection's request to follow a room.
package struct SubscriptionRequest: Sendable {
    /// The connection, unique in this process.
    package var connection: ConnectionID
    /// The session behind it, and its address.
    package var asker: Asker
    /// What it asks for.
    package var wish: SubscriptionWish
    /// Whether the connection accepts a compressed state.
    package var takesCompressed: Bool
    /// Whether the room was at its log's head, by all that it knew, when it began to answer.
    var isVerified = false
    /// The feed that receives the answer.
    package var feed: any RoomFeed

    /// The session behind the connection.
    package var session: SessionID { asker.session }

    package init(
        connection: ConnectionID, asker: Asker, _ wish: SubscriptionWish, takesCompressed: Bool = false,
        feed: any RoomFeed
    ) {
        self.connection = connection
        self.asker = asker
        self.wish = wish
        self.takesCompressed = takesCompressed
        self.feed = feed
    }
}

extension RefusedSubscription {
    init(_ request: SubscriptionRequest, _ failure: RoomFailure) {
        self.init(connection: request.connection, session: request.session, wish: request.wish, failure: failure)
    }
}

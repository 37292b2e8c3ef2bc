package import RoomDomain

/// An accepted subscription.
package struct Subscription: Equatable, Sendable {
    /// The connection.
    package var connection: ConnectionID
    /// The room.
    package var room: RoomID
    /// The last event in `messages`.
    package var seq: Int
    /// Whether that is the room's last event.
    ///
    /// Otherwise the connection asks for later ones (``SubscriptionWish/rest(from:)``) when it has taken the messages.
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

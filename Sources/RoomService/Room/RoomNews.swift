package import RoomDomain

/// What a room tells a feed of its followers.
package enum RoomNews: Equatable, Sendable {
    /// Events became durable.
    case events(PublishedEvents)
    /// An ephemeral message is shown to all followers.
    case message(EphemeralMessage)
    /// Another device became the deck, or none is.
    case deck(DeckChange)
    /// A signal arrived for one session's connections that follow the room.
    case signal(RelayedSignal)
    /// A subscription was accepted; its messages come before all later news of the room.
    case subscribed(Subscription)
    /// A subscription was refused.
    case refused(RefusedSubscription)
    /// Subscriptions of a session ended because the room banned it.
    case banned(SessionID, from: RoomID)
    /// The room's log was replaced. Everything shown before is void, and every connection that follows must ask to
    /// start again before it is shown later events.
    case replaced(RoomID)
    /// All subscriptions ended because the room no longer exists.
    case forgotten(RoomID)
}

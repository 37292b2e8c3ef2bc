package import RoomDomain

/// A subscription that a room has refused.
package struct RefusedSubscription: Equatable, Sendable {
    /// The connection, unique in this process.
    package var connection: ConnectionID
    /// The session behind it.
    package var session: SessionID
    /// What it asked for.
    package var wish: SubscriptionWish
    /// The reason.
    package var failure: RoomFailure
}

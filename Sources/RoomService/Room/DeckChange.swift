package import RoomDomain

/// A change of a room's deck, as its followers are told.
package struct DeckChange: Equatable, Sendable {
    /// The connection that is the deck, and what it is told.
    package struct Here: Equatable, Sendable {
        /// The connection.
        package var connection: ConnectionID
        /// One text message (a `deck`).
        package var message: [UInt8]
    }

    /// The room.
    package var room: RoomID
    /// One text message (a `deck`) for those who are not the deck.
    package var message: [UInt8]
    /// The connection that is the deck; nil if it is at another server, or there is none.
    package var here: Here?
    /// The connections for which something changes; nil for all that follow.
    package var concerned: Set<ConnectionID>?
}

package import RoomDomain

/// An encoded message that is shown to everybody who follows a room and never logged.
package struct EphemeralMessage: Equatable, Sendable {
    /// The kinds of ephemeral messages.
    package enum Kind: Sendable {
        /// A change of presence; a client that misses one no longer knows who is online.
        case presence
        /// A reaction; missing one does no harm.
        case reaction
        /// A change of the deck; a client that misses one no longer knows the deck.
        case deck
    }

    /// The room.
    package var room: RoomID
    /// The kind of the message.
    package var kind: Kind
    /// One text message.
    package var message: [UInt8]

    package init(room: RoomID, kind: Kind, message: [UInt8]) {
        self.room = room
        self.kind = kind
        self.message = message
    }
}

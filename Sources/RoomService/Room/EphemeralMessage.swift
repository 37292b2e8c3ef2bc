package import RoomDomain

/// An ephemeral message: shown to everybody who follows a room and never logged; already encoded.
package struct EphemeralMessage: Sendable {
    /// What it is.
    package enum Kind: Sendable {
        /// Who lacks one knows no longer who is online.
        case presence
        /// Nobody misses one.
        case reaction
    }

    /// The room.
    package var room: RoomID
    /// What it is.
    package var kind: Kind
    /// One text message.
    package var message: [UInt8]

    package init(room: RoomID, kind: Kind, message: [UInt8]) {
        self.room = room
        self.kind = kind
        self.message = message
    }
}

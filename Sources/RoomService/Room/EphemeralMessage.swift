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

/// What one member says to another one alone, already encoded.
package struct RelayedSignal: Sendable {
    /// The room.
    package var room: RoomID
    /// The session of the member it is for.
    package var session: SessionID
    /// One text message (a `signal`).
    package var message: [UInt8]
    /// Held until every connection that it is for has handed it to its transport.
    package var charge: SignalBacklog.Charge
}

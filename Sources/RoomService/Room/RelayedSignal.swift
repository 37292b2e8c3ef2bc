package import RoomDomain

/// An encoded signal of one member to another, which nobody else sees and which is never logged.
package struct RelayedSignal: Equatable, Sendable {
    /// The room.
    package var room: RoomID
    /// The session of the recipient.
    package var session: SessionID
    /// One text message (a `signal`).
    package var message: [UInt8]
    /// The charge of the signal, held until each of its connections has given it to its transport.
    package var charge: SignalBacklog.Charge

    /// Compares what is told; the charge is no part of it.
    package static func == (one: RelayedSignal, other: RelayedSignal) -> Bool {
        one.room == other.room && one.session == other.session && one.message == other.message
    }
}

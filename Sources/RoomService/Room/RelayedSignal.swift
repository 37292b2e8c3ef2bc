package import RoomDomain

/// A signal of one member to another one alone, already encoded; never logged.
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

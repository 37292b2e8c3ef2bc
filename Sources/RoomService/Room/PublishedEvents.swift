package import RoomDomain

/// Events of one room that became durable together, already encoded.
package struct PublishedEvents: Equatable, Sendable {
    /// The room.
    package var room: RoomID
    /// The number of the first event.
    package var from: Int
    /// The number of the last event.
    package var seq: Int
    /// One text message (a `delta`).
    package var message: [UInt8]
}

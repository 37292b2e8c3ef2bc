package import RoomDomain
import RoomWire

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

    /// The most events in one `delta`.
    static let eventsPerDelta = 200

    /// The events in order, a part for each delta.
    static func parts(of events: [RecordedEvent], in room: RoomID) -> [PublishedEvents] {
        events.parts(of: eventsPerDelta).map { part in
            PublishedEvents(
                room: room, from: part[part.startIndex].seq, seq: part[part.endIndex - 1].seq,
                message: ServerMessage.delta(room: room, events: part))
        }
    }
}

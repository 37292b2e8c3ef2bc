package import RoomDomain

/// A part of a room's log.
package struct LogPage: Sendable {
    /// The log's epoch.
    package var epoch: String
    /// Events, ascending.
    package var events: [RecordedEvent]
    /// The room's last event.
    package var seq: Int
}

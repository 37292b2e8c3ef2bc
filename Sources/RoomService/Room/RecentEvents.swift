import RoomDomain

/// The newest durable events of a room, without a gap, so that resuming after a short absence needs no read.
struct RecentEvents: Sendable {
    /// How many events are kept, and about how many bytes; twice as much at times, so that trimming is rare.
    private static let events = 1_000
    private static let bytes = 1 << 20

    private var newest: [RecordedEvent] = []
    private var weight = 0

    init() {}

    /// Keeps the newest of these events.
    init(_ events: [RecordedEvent]) {
        append(events)
        trim()
    }

    /// The number of events.
    var count: Int { newest.count }

    /// Removes the data that a redaction no longer shows to anybody.
    mutating func redact(_ redaction: Redaction) { newest = redaction.shown(newest) }

    /// The newest `count` of them.
    func suffix(_ count: Int) -> ArraySlice<RecordedEvent> { newest.suffix(count) }

    /// Adds the events that follow the last one.
    mutating func append(_ events: [RecordedEvent]) {
        newest += events
        weight += events.weight
        if newest.count > 2 * Self.events || weight > 2 * Self.bytes { trim() }
    }

    private mutating func trim() {
        var (kept, keptWeight) = (0, 0)
        for event in newest.reversed() {
            guard kept < Self.events, keptWeight + event.weight <= Self.bytes else { break }
            kept += 1
            keptWeight += event.weight
        }
        newest.removeFirst(newest.count - kept)
        weight = keptWeight
    }
}

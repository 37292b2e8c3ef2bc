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

    /// How many of these events the same room's log, which is at `seq`, does not have; `others` are its newest.
    ///
    /// Where the two have no event in common, those that neither has are counted by their numbers.
    func lost(in others: RecentEvents, at seq: Int) -> Int {
        guard let last = newest.last?.seq else { return 0 }
        let log = Dictionary(others.newest.map { ($0.seq, $0) }) { first, _ in first }
        let common = newest.last { $0.seq <= seq && (log[$0.seq] == $0 || log[$0.seq] == nil && $0.seq < others.first) }
        return last - (common?.seq ?? min(seq, newest[0].seq - 1))
    }

    /// The number of the oldest event.
    private var first: Int { newest.first?.seq ?? .max }

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

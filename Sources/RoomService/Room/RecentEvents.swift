import RoomDomain

/// The newest durable events of a room, without a hole, so that resuming after a short absence needs no read.
struct RecentEvents: Sendable {
    /// How many of them are kept, and about how many bytes: twice as much now and then, so that trimming is seldom.
    private static let events = 1_000
    private static let bytes = 1 << 20

    private var newest: [RecordedEvent] = []
    private var weight = 0

    init() {}

    /// The newest of these.
    init(_ events: [RecordedEvent]) {
        append(events)
        trim()
    }

    /// How many there are.
    var count: Int { newest.count }

    /// Takes out of them what nobody is shown any more.
    mutating func redact(_ redaction: Redaction) { newest = redaction.shown(newest) }

    /// The newest `count` of them.
    func suffix(_ count: Int) -> ArraySlice<RecordedEvent> { newest.suffix(count) }

    /// Takes in events that follow on those that are here.
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

extension RecordedEvent {
    /// About how many bytes it takes as JSON, and in memory.
    var weight: Int {
        switch event {
        case .tracksAdded(let tracks, _): tracks.reduce(Self.least) { $0 + $1.info.weight }
        case .tracksRemoved(let tracks, _): Self.least + 8 * tracks.count
        case .memberLeft(let left): Self.least + 48 * left.votes.count + (left.note?.utf8.count ?? 0)
        case .memberJoined(_, let name, _, _), .memberRenamed(_, let name): Self.least + name.utf8.count
        case .roomUpdated(let changes):
            Self.least + (changes.name?.utf8.count ?? 0) + (changes.note?.utf8.count ?? 0)
        case .roomClosed(_, _, let note), .roleChanged(_, _, _, let note), .memberBanned(_, _, _, _, let note, _),
            .memberUnbanned(_, _, let note):
            Self.least + (note?.utf8.count ?? 0)
        case .roomCreated, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved,
            .playbackStarted, .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast,
            .entryFinished:
            Self.least
        }
    }

    private static let least = 200
}

extension [RecordedEvent] {
    /// About how many bytes they take as JSON, and in memory.
    var weight: Int { reduce(0) { $0 + $1.weight } }
}

extension TrackInfo {
    fileprivate var weight: Int {
        let texts = [source, sourceID, title, artist ?? "", album ?? "", artworkURL ?? ""]
        return texts.reduce(100) { $0 + $1.utf8.count }
    }
}

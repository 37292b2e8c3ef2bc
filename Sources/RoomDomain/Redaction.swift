/// What nobody is shown any more of a room, although its log may still hold it.
///
/// A room that is forgotten shows no location and no names; one whose location was cleared shows none of before that.
/// The fold of redacted events is the redacted fold of the events as they were: so a log may be rewritten, at once or
/// little by little, and stays the log of the same room.
package struct Redaction: Sendable, Hashable {
    /// Whether the room is forgotten.
    package var isForgotten: Bool
    /// The last event that cleared the location; nil where none did.
    package var clearing: Int?

    package init(isForgotten: Bool = false, clearing: Int? = nil) {
        self.isForgotten = isForgotten
        self.clearing = clearing
    }

    /// What is taken away by `events` themselves, from those among them.
    package init(by events: [RecordedEvent]) {
        self.init(
            isForgotten: events.contains(where: \.event.forgetsRoom),
            clearing: events.last(where: \.event.clearsLocation)?.seq)
    }

    /// Whether everything is shown.
    package var isEmpty: Bool { !isForgotten && clearing == nil }

    /// The event as it may be shown.
    package func shown(_ recorded: RecordedEvent) -> RecordedEvent {
        if isForgotten { return recorded.withoutPersonalData }
        guard let clearing, recorded.seq < clearing else { return recorded }
        return RecordedEvent(seq: recorded.seq, at: recorded.at, event: recorded.event.withoutLocation)
    }

    /// The events as they may be shown.
    package func shown(_ events: [RecordedEvent]) -> [RecordedEvent] {
        isEmpty ? events : events.map { shown($0) }
    }

    /// Takes out of the room as it was at some position what may not be shown of it.
    package func redact(_ state: inout RoomState) {
        if isForgotten { state.dropPersonalData() }
        if let clearing, state.seq < clearing { state.location = nil }
    }
}

extension RoomState {
    /// What nobody is shown any more of the room.
    package var redaction: Redaction { Redaction(isForgotten: isForgotten, clearing: clearing) }
}

extension RoomEvent {
    /// Whether the room has no location from then on, and shows none of before.
    package var clearsLocation: Bool {
        if case .roomUpdated(let changes) = self { changes.locationCleared } else { false }
    }

    /// The event without a location.
    package var withoutLocation: RoomEvent {
        switch self {
        case .roomCreated(var room):
            room.location = nil
            return .roomCreated(room)
        case .roomUpdated(var changes):
            changes.location = nil
            return .roomUpdated(changes)
        case .memberJoined, .memberLeft, .memberRenamed, .roomClosed, .roleChanged, .memberBanned, .memberUnbanned,
            .tracksAdded, .tracksRemoved, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved,
            .entryMoved, .playbackStarted, .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped,
            .skipVoteCast, .entryFinished:
            return self
        }
    }
}

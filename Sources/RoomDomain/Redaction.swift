/// The part of a room's past that must no longer be shown, although its log may still hold it.
///
/// A forgotten room shows no location and no names. A room whose location was cleared shows no location from before the
/// clearing. Folding redacted events gives the same state as folding the original events and redacting the result. A
/// log may therefore be rewritten, at once or bit by bit, and remains the log of the same room.
package struct Redaction: Sendable, Hashable {
    /// Whether the room is forgotten.
    package var isForgotten: Bool
    /// The number of the last event that cleared the location; nil if none did.
    package var clearing: Int?

    package init(isForgotten: Bool = false, clearing: Int? = nil) {
        self.isForgotten = isForgotten
        self.clearing = clearing
    }

    /// The redaction that `events` cause, computed from these events alone.
    package init(by events: [RecordedEvent]) {
        self.init(
            isForgotten: events.contains(where: \.event.forgetsRoom),
            clearing: events.last(where: \.event.clearsLocation)?.seq)
    }

    /// Whether nothing is redacted.
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

    /// Removes from `state`, the room at some position, everything that must no longer be shown.
    package func redact(_ state: inout RoomState) {
        if isForgotten { state.dropPersonalData() }
        if let clearing, state.seq < clearing { state.location = nil }
    }
}

extension RoomState {
    /// The room's redaction: what must no longer be shown of it.
    package var redaction: Redaction { Redaction(isForgotten: isForgotten, clearing: clearing) }
}

extension RoomEvent {
    /// Whether the event removes the room's location, now and from everything shown of its past.
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
            .tracksAdded, .tracksRemoved, .waveformSet, .durationSet, .missingSet, .voteCast, .voteWithdrawn,
            .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackStarted, .playbackPaused,
            .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast, .skipVoteWithdrawn, .entryFinished:
            return self
        }
    }
}

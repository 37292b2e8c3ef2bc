/// Removes personal data from a room and from its events: names, locations and reasons.
///
/// Folding events without personal data gives the same state as folding the original events and then removing the data.
/// A log may therefore be rewritten, at once or bit by bit, and remains the log of the same room.
extension RoomState {
    /// The text that replaces every member's name in a forgotten room.
    package static let forgottenName = "-"

    /// Removes the location, with everything derived from it, all names of members, and the reasons for bans.
    package mutating func dropPersonalData() {
        location = nil
        clearing = nil
        for id in members.keys { members[id]?.name = Self.forgottenName }
        for session in bans.keys { bans[session]?.note = nil }
    }
}

extension RoomEvent {
    /// The event without a location, members' names, and the reasons that people gave.
    ///
    /// Sessions stay: they are random numbers and identify nobody once the session is deleted.
    package var withoutPersonalData: RoomEvent {
        switch self {
        case .roomCreated(var room):
            room.location = nil
            return .roomCreated(room)
        case .memberJoined(let member, _, let role, let session):
            return .memberJoined(member: member, name: RoomState.forgottenName, role: role, session: session)
        case .memberLeft(var left):
            left.note = nil
            return .memberLeft(left)
        case .memberRenamed(let member, _):
            return .memberRenamed(member: member, name: RoomState.forgottenName)
        case .roomUpdated(var changes):
            changes.location = nil
            changes.locationCleared = false
            changes.note = nil
            return .roomUpdated(changes)
        case .roomClosed(let forget, let by, _):
            return .roomClosed(forget: forget, by: by)
        case .roleChanged(let member, let role, let by?, _):
            return .roleChanged(member: member, role: role, by: by)
        case .memberBanned(let member, let by, let session, let until, _, let role):
            return .memberBanned(member: member, by: by, session: session, until: until, role: role)
        case .memberUnbanned(let member, let by, _):
            return .memberUnbanned(member: member, by: by)
        case .roleChanged, .tracksAdded, .tracksRemoved, .waveformSet, .durationSet, .missingSet, .voteCast,
            .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackStarted,
            .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast, .skipVoteWithdrawn,
            .entryFinished:
            return self
        }
    }
}

extension RecordedEvent {
    /// The recorded event with its event as ``RoomEvent/withoutPersonalData`` returns it.
    package var withoutPersonalData: RecordedEvent {
        RecordedEvent(seq: seq, at: at, event: event.withoutPersonalData)
    }
}

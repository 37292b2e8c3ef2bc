/// Forgetting: what a room says of people's names and whereabouts, taken out of it and of its events.
///
/// The fold of events without personal data is the fold of the events as they were, without personal data: so a log may
/// be rewritten, at once or little by little, and stays the log of the same room.
extension RoomState {
    /// What stands for every member's name in a room that is forgotten.
    package static let forgottenName = "-"

    /// Drops the location, with all that is known of it, and all names of members.
    package mutating func dropPersonalData() {
        location = nil
        clearing = nil
        for id in members.keys { members[id]?.name = Self.forgottenName }
    }
}

extension RoomEvent {
    /// The event without a location, members' names, and the reasons that people gave for what they did.
    ///
    /// Sessions stay: they are random, and know nobody once they are deleted.
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
        case .roleChanged, .tracksAdded, .tracksRemoved, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued,
            .entryRemoved, .entryMoved, .playbackStarted, .playbackPaused, .playbackResumed, .playbackSeeked,
            .playbackStopped, .skipVoteCast, .entryFinished:
            return self
        }
    }
}

extension RecordedEvent {
    /// The event in its place, as ``RoomEvent/withoutPersonalData`` has it.
    package var withoutPersonalData: RecordedEvent {
        RecordedEvent(seq: seq, at: at, event: event.withoutPersonalData)
    }
}

package import RoomDomain

/// The effect of an event on memberships.
package enum MembershipChange {
    case began(SessionID)
    case ended(MemberID)
}

extension RoomEvent {
    /// The event's effect on memberships; nil if it has none.
    package var membershipChange: MembershipChange? {
        switch self {
        case .memberJoined(_, _, _, let session):
            .began(session)
        case .memberLeft(let left):
            .ended(left.member)
        case .roomCreated, .memberRenamed, .roomUpdated, .roomClosed, .roleChanged, .memberBanned, .memberUnbanned,
            .tracksAdded, .tracksRemoved, .waveformSet, .durationSet, .missingSet, .voteCast, .voteWithdrawn,
            .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackStarted, .playbackPaused,
            .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast, .skipVoteWithdrawn, .entryFinished:
            nil
        }
    }

    /// Whether the event can change the directory's entry.
    package var concernsDirectory: Bool {
        switch self {
        case .roomCreated, .memberRenamed, .roomUpdated, .roomClosed, .roleChanged, .playbackStarted, .playbackStopped,
            .entryFinished:
            true
        case .memberJoined, .memberLeft, .memberBanned, .memberUnbanned, .tracksAdded, .tracksRemoved, .waveformSet,
            .durationSet, .missingSet, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved,
            .entryMoved, .playbackPaused, .playbackResumed, .playbackSeeked, .skipVoteCast, .skipVoteWithdrawn:
            false
        }
    }
}

package import RoomDomain

/// What an event does to memberships.
package enum MembershipChange {
    case began(SessionID)
    case ended(MemberID)
}

extension RoomEvent {
    /// What it does to memberships, where it does anything.
    package var membershipChange: MembershipChange? {
        switch self {
        case .memberJoined(_, _, _, let session):
            .began(session)
        case .memberLeft(let left):
            .ended(left.member)
        case .roomCreated, .memberRenamed, .roomUpdated, .roomClosed, .roleChanged, .memberBanned, .memberUnbanned,
            .tracksAdded, .tracksRemoved, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved,
            .entryMoved, .playbackStarted, .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped,
            .skipVoteCast, .entryFinished:
            nil
        }
    }

    /// Whether the directory's entry may be another after it.
    package var concernsDirectory: Bool {
        switch self {
        case .roomCreated, .memberRenamed, .roomUpdated, .roomClosed, .roleChanged, .playbackStarted, .playbackStopped,
            .entryFinished:
            true
        case .memberJoined, .memberLeft, .memberBanned, .memberUnbanned, .tracksAdded, .tracksRemoved, .voteCast,
            .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackPaused,
            .playbackResumed, .playbackSeeked, .skipVoteCast:
            false
        }
    }
}

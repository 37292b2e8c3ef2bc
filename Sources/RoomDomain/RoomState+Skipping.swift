/// Decides whether the members' votes skip the entry on air.
extension RoomState {
    /// A vote to skip the entry on air; a vote for any other entry causes nothing.
    ///
    /// Whoever sends it is there, whatever `online` says.
    func voteSkip(_ entry: EntryID, by member: MemberID, online: Set<MemberID>, at now: Timestamp) -> [RoomEvent] {
        guard let onAir, onAir.entry == entry else { return [] }
        let online = online.union([member])
        guard !onAir.skipVoters.contains(member) else { return countSkipVotes(online: online, at: now) }
        let cast = RoomEvent.skipVoteCast(entry: entry, by: member, skipVotes: onAir.skipVoters.count + 1)
        return [cast] + folding([cast], at: now).countSkipVotes(online: online, at: now)
    }

    /// Takes a vote to skip the entry on air back; causes nothing for any other entry, and without a vote.
    func unvoteSkip(_ entry: EntryID, by member: MemberID) -> [RoomEvent] {
        guard let onAir, onAir.entry == entry, onAir.skipVoters.contains(member) else { return [] }
        return [.skipVoteWithdrawn(entry: entry, by: member, skipVotes: onAir.skipVoters.count - 1)]
    }

    /// Skips the entry on air if enough members vote for it.
    func countSkipVotes(online: Set<MemberID>, at now: Timestamp) -> [RoomEvent] {
        isVotedOut(online: online) ? finish(.skipped, by: nil, at: now) : []
    }

    /// Whether enough of the online members vote to skip the entry on air: votes of members who are away do not count.
    package func isVotedOut(online: Set<MemberID>) -> Bool {
        guard isOpen, let onAir, !onAir.skipVoters.isEmpty else { return false }
        let present = online.count { members[$0] != nil }
        return SkipVotes.counted(onAir.skipVoters, online: online)
            >= SkipVotes.needed(ratio: settings.skipRatio, online: present)
    }
}

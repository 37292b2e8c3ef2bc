/// Deciding whether the members skip what is on air.
extension RoomState {
    /// A vote for skipping an entry that is on air; of one that is not, nothing is asked.
    func voteSkip(_ entry: EntryID, by member: MemberID, online: Set<MemberID>, at now: Timestamp) -> [RoomEvent] {
        guard let onAir, onAir.entry == entry else { return [] }
        guard !onAir.skipVoters.contains(member) else { return countSkipVotes(online: online, at: now) }
        let cast = RoomEvent.skipVoteCast(entry: entry, by: member, skipVotes: onAir.skipVoters.count + 1)
        return [cast] + folding([cast], at: now).countSkipVotes(online: online, at: now)
    }

    /// Skips what is on air where enough members want it.
    func countSkipVotes(online: Set<MemberID>, at now: Timestamp) -> [RoomEvent] {
        isVotedOut(online: online) ? finish(.skipped, by: nil, at: now) : []
    }

    /// Whether enough members want what is on air skipped, of those who are online.
    package func isVotedOut(online: Set<MemberID>) -> Bool {
        guard isOpen, let onAir, !onAir.skipVoters.isEmpty else { return false }
        return onAir.skipVoters.count >= skipVotesNeeded(online: online)
    }

    /// How many votes skip: the set part of the members who are online, rounded up, at least one.
    private func skipVotesNeeded(online: Set<MemberID>) -> Int {
        let present = online.count { members[$0] != nil }
        // A product that is whole but for the error of its factors counts as whole.
        return max(1, Int((settings.skipRatio * Double(present) - 1e-9).rounded(.up)))
    }
}

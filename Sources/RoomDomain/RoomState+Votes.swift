/// Decides votes, and counts them.
extension RoomState {
    /// Tracks with votes in the order of their requests: most votes first, then the earliest request.
    ///
    /// Sorts the tracks that have votes on each call.
    package func requestOrder() -> [TrackID] {
        var requests: [RequestRank] = []
        requests.reserveCapacity(voters.count)
        for (id, row) in voters {
            requests.append(RequestRank(votes: row.count, requestedSeq: tracks[id]?.requestedSeq ?? 0, track: id))
        }
        requests.sort()
        return requests.map(\.track)
    }

    func vote(for id: TrackID, by member: MemberID) throws(RoomRefusal) -> [RoomEvent] {
        let track = try existing(id)
        guard voters[id]?.contains(member) != true else { return [] }
        guard onAir?.track != id else { throw .conflict("track \(id.rawValue) is on air") }
        guard !queue.contains(where: { $0.track == id }) else {
            throw .conflict("track \(id.rawValue) is waiting in the queue")
        }
        let requestedSeq = track.requestedSeq ?? nextSeq
        return [.voteCast(track: id, by: member, votes: voteCount(of: id) + 1, requestedSeq: requestedSeq)]
    }

    func unvote(_ id: TrackID, by member: MemberID) throws(RoomRefusal) -> [RoomEvent] {
        let track = try existing(id)
        guard voters[id]?.contains(member) == true else { return [] }
        let left = withdrawal(from: track)
        return [.voteWithdrawn(track: id, by: member, votes: left.votes, requestedSeq: left.requestedSeq)]
    }

    /// The event by which a track's votes are spent; none if it has no votes.
    func spentVotes(for track: TrackID) -> [RoomEvent] {
        voters[track] == nil ? [] : [.votesCleared(track: track)]
    }

    /// The number of votes for a track.
    func voteCount(of track: TrackID) -> Int { voters[track]?.count ?? 0 }

    /// The new vote counts of the tracks that `member` votes for, after these votes are withdrawn; ascending by track.
    func withdrawals(of member: MemberID) -> [MemberLeft.Withdrawal] {
        guard let voted = votesOfMember[member] else { return [] }
        return voted.sorted().compactMap { tracks[$0] }.map(withdrawal(from:))
    }

    /// The vote count of a track after one of its votes is withdrawn.
    private func withdrawal(from track: Track) -> MemberLeft.Withdrawal {
        let votes = voteCount(of: track.id) - 1
        return .init(track: track.id, votes: votes, requestedSeq: votes > 0 ? track.requestedSeq : nil)
    }
}

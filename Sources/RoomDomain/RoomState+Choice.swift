/// The tracks that the room chooses by itself, and the pause between two plays of a track.
extension RoomState {
    /// The track that the queue mode chooses; nil if there is no request that can be played, if only DJs fill the
    /// queue, or if the queue is locked.
    func choice() -> (track: TrackID, why: ChoiceReason)? {
        guard !settings.queueLocked else { return nil }
        return switch settings.queueMode {
        case .dj: nil
        case .votes: topRequest()
        case .fair: fairChoice()
        }
    }

    /// The top request among the tracks that may be played.
    private func topRequest() -> (track: TrackID, why: ChoiceReason)? {
        let requests = voters.lazy.filter { mayPlay($0.key) }.map { id, row in
            (votes: row.count, seq: tracks[id]?.requestedSeq ?? 0, track: id)
        }
        guard let top = requests.min(by: { ($1.votes, $0.seq, $0.track) < ($0.votes, $1.seq, $1.track) })
        else { return nil }
        return (top.track, ChoiceReason(rule: .votes, rank: [top.votes, top.seq]))
    }

    /// The first request of the member whose turn is next: members who request tracks take turns in rounds.
    ///
    /// A member counts as at most one round behind, so that a member who comes late cannot claim the rounds before.
    /// Within a round, the member with fewer turns goes first, then the one with the earliest request.
    private func fairChoice() -> (track: TrackID, why: ChoiceReason)? {
        var best: (rank: [Int], track: TrackID, member: MemberID)?
        let floor = turnFloor
        for (member, wanted) in votesOfMember {
            let requests = wanted.lazy.filter(mayPlay).map { (tracks[$0]?.requestedSeq ?? 0, $0) }
            guard let first = requests.min(by: <) else { continue }
            let turn = (turns[member] ?? Turns()).next(above: floor)
            let candidate = (rank: [turn.round, turn.taken, first.0], track: first.1, member: member)
            if let best, !Self.goes(candidate, before: best) { continue }
            best = candidate
        }
        return best.map { ($0.track, ChoiceReason(rule: .fair, rank: $0.rank, turnOf: $0.member)) }
    }

    /// The member's turns after one more.
    func nextTurn(of member: MemberID) -> Turns {
        (turns[member] ?? Turns()).next(above: turnFloor)
    }

    /// The last round that is complete for everybody.
    private var turnFloor: Int { max(0, (turns.values.lazy.map(\.round).max() ?? 0) - 1) }

    private static func goes(
        _ left: (rank: [Int], track: TrackID, member: MemberID),
        before right: (rank: [Int], track: TrackID, member: MemberID)
    ) -> Bool {
        guard left.rank == right.rank else { return left.rank.lexicographicallyPrecedes(right.rank) }
        return (left.track, left.member) < (right.track, right.member)
    }

    /// Whether the room may choose the track: the deck has it, and it has rested.
    private func mayPlay(_ track: TrackID) -> Bool { !missing.contains(track) && isRested(track) }

    // MARK: Rest

    /// Whether enough other plays have been since the track was on air.
    func isRested(_ track: TrackID) -> Bool {
        playsSince(track).map { $0 >= settings.repeatAfterPlays } ?? true
    }

    /// The reason why a track that has not rested is passed over.
    func restReason(of track: TrackID) -> ChoiceReason {
        ChoiceReason(rule: .repeatAfterPlays, rank: [playsSince(track) ?? 0, settings.repeatAfterPlays])
    }

    /// The same reason in words.
    func restRule(of track: TrackID) -> String {
        "track \(track.rawValue) is played again after \(settings.repeatAfterPlays) other plays"
    }

    /// Refuses an entry with too few other plays between it and another play of its track.
    func requireNoRepeat(of track: TrackID, at index: Int) throws(RoomRefusal) {
        let least = settings.repeatAfterPlays
        guard least > 0 else { return }
        let before = queue[..<index].lastIndex { $0.track == track }.map { index - $0 - 1 }
        let after = queue[index...].firstIndex { $0.track == track }.map { $0 - index }
        let sinceLast = before ?? playsSince(track).map { $0 + index }
        if let sinceLast, sinceLast < least { throw .conflict(restRule(of: track)) }
        if let after, after < least { throw .conflict(restRule(of: track)) }
    }

    /// The number of other plays since the track was on air; nil if it has never been on air.
    private func playsSince(_ track: TrackID) -> Int? {
        tracks[track]?.lastPlay.map { plays - $0 }
    }
}

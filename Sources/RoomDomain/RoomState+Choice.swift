/// What the room chooses by itself, and what it lets rest.
extension RoomState {
    /// The track that the queue mode chooses; nil where nobody asks for one, the DJ alone fills the queue, or the queue
    /// is locked.
    func choice() -> (track: TrackID, why: ChoiceReason)? {
        guard !settings.queueLocked else { return nil }
        return switch settings.queueMode {
        case .dj: nil
        case .votes: topRequest()
        case .fair: fairChoice()
        }
    }

    /// The top request among those that have rested.
    private func topRequest() -> (track: TrackID, why: ChoiceReason)? {
        let requests = voters.lazy.filter { isRested($0.key) }.map { id, row in
            (votes: row.count, seq: tracks[id]?.requestedSeq ?? 0, track: id)
        }
        guard let top = requests.min(by: { ($1.votes, $0.seq, $0.track) < ($0.votes, $1.seq, $1.track) })
        else { return nil }
        return (top.track, ChoiceReason(rule: .votes, rank: [top.votes, top.seq]))
    }

    /// The first request of the member who is next: rounds among those who ask.
    ///
    /// Nobody is further behind than one round: who comes late cannot claim the rounds that were before. In the same
    /// round goes first who had fewer turns, then who asked first.
    private func fairChoice() -> (track: TrackID, why: ChoiceReason)? {
        var best: (rank: [Int], track: TrackID, member: MemberID)?
        let floor = turnFloor
        for (member, wanted) in votesOfMember {
            let requests = wanted.lazy.filter(isRested).map { (tracks[$0]?.requestedSeq ?? 0, $0) }
            guard let first = requests.min(by: <) else { continue }
            let turn = (turns[member] ?? Turns()).next(above: floor)
            let candidate = (rank: [turn.round, turn.taken, first.0], track: first.1, member: member)
            if let best, !Self.goes(candidate, before: best) { continue }
            best = candidate
        }
        return best.map { ($0.track, ChoiceReason(rule: .fair, rank: $0.rank, turnOf: $0.member)) }
    }

    /// A member's turns with one more.
    func nextTurn(of member: MemberID) -> Turns {
        (turns[member] ?? Turns()).next(above: turnFloor)
    }

    /// The last round that is over for everybody.
    private var turnFloor: Int { max(0, (turns.values.lazy.map(\.round).max() ?? 0) - 1) }

    private static func goes(
        _ left: (rank: [Int], track: TrackID, member: MemberID),
        before right: (rank: [Int], track: TrackID, member: MemberID)
    ) -> Bool {
        guard left.rank == right.rank else { return left.rank.lexicographicallyPrecedes(right.rank) }
        return (left.track, left.member) < (right.track, right.member)
    }

    // MARK: Rest

    /// Whether enough other plays have been since the track was on air.
    func isRested(_ track: TrackID) -> Bool {
        playsSince(track).map { $0 >= settings.repeatAfterPlays } ?? true
    }

    /// Why a track that has not rested is passed over.
    func restReason(of track: TrackID) -> ChoiceReason {
        ChoiceReason(rule: .repeatAfterPlays, rank: [playsSince(track) ?? 0, settings.repeatAfterPlays])
    }

    /// The same in words.
    func restRule(of track: TrackID) -> String {
        "track \(track.rawValue) is played again after \(settings.repeatAfterPlays) other plays"
    }

    /// Refuses an entry between which and another play of its track there would be too few others.
    func requireNoRepeat(of track: TrackID, at index: Int) throws(RoomRefusal) {
        let least = settings.repeatAfterPlays
        guard least > 0 else { return }
        let before = queue[..<index].lastIndex { $0.track == track }.map { index - $0 - 1 }
        let after = queue[index...].firstIndex { $0.track == track }.map { $0 - index }
        let sinceLast = before ?? playsSince(track).map { $0 + index }
        if let sinceLast, sinceLast < least { throw .conflict(restRule(of: track)) }
        if let after, after < least { throw .conflict(restRule(of: track)) }
    }

    /// How many other plays have been since the track was on air; nil where it never was.
    private func playsSince(_ track: TrackID) -> Int? {
        tracks[track]?.lastPlay.map { plays - $0 }
    }
}

package import RoomDomain
package import RoomWire

/// One room of a client: the replica, what is on its way, and what is shown of both.
package struct ClientRoom: Sendable {
    /// The time between two savings of a room that changes.
    static let saveMs: Int64 = 60_000

    var following: Following
    var commands = Commands()
    var overlay = Overlay()
    var deck = DeckSync()
    var claim = DeviceClaim()
    /// The device that plays, as the app was told.
    var toldDeck: ShownDeck?
    /// Whether the app follows the room; if not, it is here until its commands are answered.
    var isHeld = false
    /// Whether the replica has changed since it was kept.
    var isUnsaved = false
    /// When it was kept last, or first known.
    var savedAt: ClientInstant?

    init(_ reference: RoomReference) {
        following = Following(reference)
    }

    /// The room, as the app names it.
    package var reference: RoomReference { following.reference }
    /// The room's identifier; nil if it is not known yet.
    package var id: RoomID? { following.id }
    /// The room as the server has shown it; nil before the first snapshot.
    package var replica: Replica? { following.replica }
    /// The stage.
    package var phase: Following.Phase { following.phase }
    /// The commands without an answer, in the order of the calls.
    package var pending: [OutboxCommand] { commands.unanswered }

    /// The room as it is shown, with what is on its way; nil before the first snapshot.
    ///
    /// It has the form of the protocol's `State`. O(members + tracks + queue).
    package var shown: ShownState? {
        guard let replica else { return nil }
        var state = replica.state
        guard !overlay.isEmpty else { return state }
        state.members = state.members.map { overlay.member($0.id, in: replica) ?? $0 }
        state.queue = overlay.queue(in: replica)
        state.playback = overlay.playback(in: replica)
        for index in state.pool.indices {
            guard let votes = overlay.votes(of: state.pool[index].id, in: replica) else { continue }
            (state.pool[index].votes, state.pool[index].requestedSeq) = (votes.votes, votes.requestedSeq)
        }
        let ranks = state.pool.filter { $0.votes > 0 }.map { track in
            RequestRank(votes: track.votes, requestedSeq: track.requestedSeq ?? .max, track: track.id)
        }
        state.requests = ranks.sorted().map(\.track)
        return state
    }

    /// The votes of a track as they are shown; nil if there is no such track.
    package func votes(of track: TrackID) -> TrackVotes? {
        replica.flatMap { overlay.votes(of: track, in: $0) }
    }

    /// The tracks that are shown with the own vote.
    package var shownOwnVotes: Set<TrackID> {
        guard let replica else { return [] }
        var votes = replica.ownVotes
        for track in overlay.touchedVotes {
            votes.remove(track)
            if overlay.votes(of: track, in: replica)?.isMine == true { votes.insert(track) }
        }
        return votes
    }

    /// The device that plays as it is shown: this one, also while it has no connection, or what the server has told.
    package var shownDeck: ShownDeck? {
        if claim.isDeck, let me = replica?.me?.member { return ShownDeck(member: me, isHere: true) }
        return replica?.deck.map { ShownDeck(member: $0.member, isHere: false) }
    }

    /// Whether something plays, as far as the server has shown.
    var isPlaying: Bool { replica?.playback.map { !$0.isPaused } ?? false }

    /// Whether nobody follows the room and nothing is on its way to it.
    var isDone: Bool { !isHeld && commands.isEmpty }

    /// What is to be kept of the room, if that is due; `now` nil: at once.
    mutating func takeUnsaved(at now: ClientInstant?) -> StoredRoom? {
        guard isUnsaved, let replica else { return nil }
        if let now {
            guard let saved = savedAt else {
                savedAt = now
                return nil
            }
            guard saved.advanced(byMs: Self.saveMs) <= now else { return nil }
            savedAt = now
        }
        isUnsaved = false
        return replica.stored
    }
}

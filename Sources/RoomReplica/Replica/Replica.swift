package import RoomDomain
package import RoomWire

/// A room as one client has it: the fold of what the client was sent.
///
/// It begins with a snapshot and changes in place. `RoomState` cannot be a client's: events reach clients without
/// sessions, and who voted, whose turn it is and who is banned are not shown. What the two share are the values of
/// tracks, the table that holds them, and the pool's order. The position belongs to the state and is set with it only.
package struct Replica: Sendable {
    /// The room's identifier.
    package let id: RoomID
    /// Its short code.
    package let code: RoomCode
    /// The time when it was made.
    package let createdAt: Timestamp
    /// The position of this state.
    package internal(set) var position: Position
    /// The newest count of keyed commands that the client knows of this epoch; nil if it knows none.
    package internal(set) var keyed: Int?
    /// The room's own values.
    package internal(set) var properties: RoomProperties
    /// Its members by number.
    package internal(set) var members: [MemberID: ShownState.Member] = [:]
    /// The pool's tracks by number.
    package internal(set) var tracks = TrackTable()
    /// The tracks that the deck lacks or cannot play: those of ``tracks`` that say so.
    package internal(set) var missing: Set<TrackID> = []
    /// The pool's order.
    package internal(set) var pool: [TrackID] = []
    /// The tracks with votes, in the order of their requests.
    package internal(set) var requests = RequestOrder()
    /// The waiting entries, in play order.
    package internal(set) var queue: [QueueEntry] = []
    /// Whether events of the delta that is folded have changed the queue.
    ///
    /// It is told once a delta: a list for every event would take quadratic memory.
    var hasOtherQueue = false
    /// What is on air; nil: nothing.
    package internal(set) var playback: ShownState.Playback?
    /// The entries that were on air, newest first.
    package internal(set) var history: [HistoryEntry] = []
    /// The client's own membership; nil if its session is not a member.
    package internal(set) var me: OwnMembership?
    /// The tracks that the client's own member votes for.
    package internal(set) var ownVotes: Set<TrackID> = []
    /// The number of online members; nil before the server has told it.
    package internal(set) var online: Int?
    /// The online members; nil if they are not known.
    package internal(set) var onlineMembers: Set<MemberID>?
    /// The device that plays; nil: none.
    package internal(set) var deck: ShownDeck?

    /// The room of a snapshot.
    package init(_ snapshot: ServerMessage.Received.Snapshot) {
        self.init(
            state: snapshot.state, position: snapshot.position, keyed: snapshot.keyed, you: snapshot.you)
        set(snapshot.presence)
        deck = snapshot.deck
    }

    /// The room as it was stored on the device.
    package init(_ stored: StoredRoom) {
        self.init(state: stored.state, position: stored.position, keyed: stored.keyed, you: stored.you)
    }

    private init(state: ShownState, position: Position, keyed: Int?, you: You?) {
        id = state.id
        code = state.code
        createdAt = state.createdAt
        self.position = position
        self.keyed = keyed
        properties = RoomProperties(
            name: state.name, closedAt: state.closedAt, visibility: state.visibility, location: state.location,
            settings: state.settings)
        for member in state.members { members[member.id] = member }
        pool.reserveCapacity(state.pool.count)
        for track in state.pool where tracks.updateValue(track, forKey: track.id) == nil {
            pool.append(track.id)
            if track.isMissing { missing.insert(track.id) }
        }
        requests = RequestOrder(of: tracks, given: state.requests)
        queue = state.queue
        playback = state.playback
        history = state.history
        set(you)
    }

    /// Whether the own member has voted to skip what is on air.
    package var hasVotedToSkip: Bool {
        guard let me, let playback else { return false }
        return playback.skipVoters.contains(me.member)
    }

    /// The room as the protocol shows it: `State`.
    ///
    /// O(members + tracks + queue).
    package var state: ShownState {
        var state = ShownState(
            id: id, code: code, name: properties.name, createdAt: createdAt, closedAt: properties.closedAt,
            visibility: properties.visibility, location: properties.location, settings: properties.settings)
        state.members = members.values.sorted { $0.id < $1.id }
        state.pool = pool.compactMap { tracks[$0] }
        state.requests = requests.tracks
        state.queue = queue
        state.playback = playback
        state.history = history
        return state
    }

    /// The own membership as the protocol shows it: `You`.
    package var you: You? {
        me.map { You(member: $0.member, role: $0.role, votes: ownVotes.sorted()) }
    }

    /// The room with its position, to be kept on the device.
    package var stored: StoredRoom { StoredRoom(position: position, keyed: keyed, state: state, you: you) }

    mutating func set(_ you: You?) {
        me = you.map { OwnMembership(member: $0.member, role: $0.role) }
        ownVotes = Set(you?.votes ?? [])
    }

    mutating func set(_ presence: Presence) {
        online = presence.online
        onlineMembers = presence.members.map { Set($0) }
    }
}

/// A room with the position that it is of, as it is kept on the device; neither is ever kept alone.
package struct StoredRoom: Sendable, Equatable {
    /// The position of `state`.
    package var position: Position
    /// The count of keyed commands that was known then.
    package var keyed: Int?
    /// The room.
    package var state: ShownState
    /// The own membership; nil if there was none.
    package var you: You?

    package init(position: Position, keyed: Int?, state: ShownState, you: You?) {
        self.position = position
        self.keyed = keyed
        self.state = state
        self.you = you
    }
}

public import Observation
import RoomDomain
import RoomReplica
import RoomWire

/// A room as this person sees it: what is confirmed, and on top of it what is on its way.
///
/// It is followed for as long as somebody holds the object. What it shows changes on the main actor only, and at once
/// where this person does something. While there is no connection it is as it was last seen.
@MainActor @Observable public final class Room {
    /// How the room stands to the server.
    public enum Phase: Sendable, Equatable {
        /// The room is not known yet.
        case connecting
        /// The room is as the server has it.
        case live
        /// The server has answered, and what happened meanwhile is on its way.
        case catchingUp
        /// There is no connection, since about this time.
        case offline(since: ServerTime)
        /// The room is followed no more, and why.
        case ended(reason: String)
    }

    /// What names the room.
    public nonisolated let reference: RoomReference
    /// How the room stands to the server.
    public private(set) var phase = Phase.connecting
    /// The position of what is shown; nil before the room is known.
    public private(set) var position: Position?
    /// The identifier; nil before the room is known.
    public private(set) var id: RoomID?
    /// The code; nil before the room is known.
    public private(set) var code: String?
    /// The room's own values; nil before the room is known.
    public private(set) var details: RoomDetails?
    /// One's own membership; nil: none.
    public private(set) var me: Membership?
    /// The members by number.
    public private(set) var members: [MemberID: Member] = [:]
    /// The number of members online; nil before the server has told it.
    public private(set) var online: Int?
    /// The members online; nil where a room is too large for the server to name them.
    public private(set) var onlineMembers: Set<MemberID>?
    /// The pool, by title.
    public private(set) var pool: [Track] = []
    /// The waiting entries, in play order.
    public private(set) var queue: [QueueEntry] = []
    /// What is on air; nil: nothing.
    public private(set) var playback: Playback?
    /// The entries that were on air, newest first; at most 50.
    public private(set) var history: [HistoryEntry] = []
    /// The member whose device plays; nil: none.
    public private(set) var deckMember: MemberID?
    /// Whether this device is the one that plays, by ``claimDeck()``; also while it has no connection.
    public private(set) var isDeck = false
    /// The commands without an answer, in the order of the calls.
    public private(set) var pending: [PendingCommand] = []

    /// The votes to skip what is on air that count now: those of members who are online; all, where it is not known who is.
    public var countedSkipVotes: Int {
        guard let playback else { return 0 }
        return SkipVotes.counted(
            playback.skipVoters, of: playback.skipVotes, online: onlineMembers, me: me?.member)
    }

    @ObservationIgnored let engine: ClientEngine
    /// When the room was made; nil before the room is known.
    @ObservationIgnored private(set) var createdAt: ServerTime?
    @ObservationIgnored private var tracks: [TrackID: Track] = [:]
    @ObservationIgnored private var order = RequestList()
    @ObservationIgnored private let reactionStreams = Broadcast<Reaction>()
    @ObservationIgnored private let signalStreams = Broadcast<Signal>()
    @ObservationIgnored private weak var deck: Deck?
    /// Those who wait for the room to be live.
    @ObservationIgnored private var arrivals: [Promise<Void>] = []
    @ObservationIgnored private var end: ClientError?

    init(_ reference: RoomReference, _ engine: ClientEngine) {
        self.reference = reference
        self.engine = engine
    }

    deinit { engine.release(reference.wire) }

    /// The settings; the defaults before the room is known.
    public var settings: RoomSettings { details?.settings ?? RoomSettings() }

    /// The tracks with votes: most votes first, then the earliest request.
    public var requests: [Track] {
        access(keyPath: \.requests)
        return order.tracks
    }

    /// The track of a number; nil if it is not in the pool.
    public func track(_ id: TrackID) -> Track? { tracks[id] }

    /// Reactions of others from now on: the newest 64 that were not taken.
    public var reactions: AsyncStream<Reaction> { reactionStreams.stream(.newest(64)) }

    /// Signals to this member from now on: all of them.
    ///
    /// The stream ends where more than 1 MiB waits in it.
    public var signals: AsyncStream<Signal> { signalStreams.stream(.bytes(1_048_576) { $0.json.count }) }

    // MARK: What the engine tells

    func take(_ contents: RoomContents) {
        let state = contents.state
        position = Position(contents.position)
        (id, code) = (RoomID(state.id), state.code.description)
        details = RoomDetails(state)
        createdAt = ServerTime(state.createdAt)
        me = contents.me.map { Membership($0) }
        members = Dictionary(state.members.map { (MemberID($0.id), Member($0)) }) { $1 }
        online = contents.online
        onlineMembers = contents.onlineMembers.map { Set($0.map { MemberID($0) }) }
        // Objects of tracks that stay are kept, so that nothing that looks at them has to look elsewhere.
        var kept: [TrackID: Track] = [:]
        kept.reserveCapacity(state.pool.count)
        pool = state.pool.map { track in
            let object = self.object(of: track, isMine: contents.ownVotes.contains(track.id))
            kept[object.id] = object
            return object
        }
        tracks = kept
        // In their order already, unless a server counts votes without a request.
        let requests = RequestList(state.requests.compactMap { kept[TrackID($0)] })
        withMutation(keyPath: \.requests) { order = requests }
        queue = state.queue.map { QueueEntry($0) }
        playback = state.playback.map { Playback($0) }
        history = state.history.map { HistoryEntry($0) }
        take(contents.deck)
        deck?.roomHasChanged()
    }

    private func object(of track: RoomDomain.Track, isMine: Bool) -> Track {
        guard let known = tracks[TrackID(track.id)] else { return Track(track, isMine: isMine) }
        known.votes = track.votes
        known.isMine = isMine
        known.waveform = track.waveform.map { WaveformName($0) }
        known.duration = track.info.durationMs.map { .milliseconds($0) }
        known.isMissing = track.isMissing
        known.rank = RequestRank(shown: track)
        return known
    }

    func take(_ changes: [RoomReplica.RoomChange], _ position: RoomWire.Position) {
        if changes.contains(where: movesRequests) {
            // Observers are told once for all changes.
            withMutation(keyPath: \.requests) { for change in changes { take(change) } }
        } else {
            for change in changes { take(change) }
        }
        self.position = Position(position)
        deck?.roomHasChanged()
    }

    private func take(_ change: RoomReplica.RoomChange) {
        switch change {
        case .reset: break
        case .properties(let properties): details = RoomDetails(properties)
        case .member(let member): members[MemberID(member.id)] = Member(member)
        case .memberLeft(let member): members[MemberID(member)] = nil
        case .tracksAdded(let placed): add(placed)
        case .tracksRemoved(let removed): remove(Set(removed.map { TrackID($0) }))
        case .votes(let votes): take(votes)
        case .waveform(let track, let name): tracks[TrackID(track)]?.waveform = WaveformName(name)
        case .duration(let track, let durationMs): tracks[TrackID(track)]?.duration = .milliseconds(durationMs)
        case .missing(let missing): for track in pool { track.isMissing = missing.contains(track.id.domain) }
        case .queue(let queue): self.queue = queue.map { QueueEntry($0) }
        case .playback(let playback): self.playback = playback.map { Playback($0) }
        case .finished(let entry):
            history.insert(HistoryEntry(entry), at: 0)
            if history.count > RoomLimits.history { history.removeLast(history.count - RoomLimits.history) }
        case .membership(let me): self.me = me.map { Membership($0) }
        case .online(let count, let members):
            online = count
            onlineMembers = members.map { Set($0.map { MemberID($0) }) }
        case .deck(let deck): take(deck)
        }
    }

    private func take(_ deck: ShownDeck?) {
        deckMember = deck.map { MemberID($0.member) }
        isDeck = deck?.isHere ?? false
    }

    private func take(_ votes: TrackVotes) {
        guard let track = tracks[TrackID(votes.track)] else { return }
        let rank = RequestRank(shown: votes)
        if track.rank != rank { order.move(track, to: rank) }
        track.votes = votes.votes
        track.isMine = votes.isMine
    }

    /// Whether a change moves tracks among the requests.
    private func movesRequests(_ change: RoomReplica.RoomChange) -> Bool {
        switch change {
        case .votes(let votes): tracks[TrackID(votes.track)]?.rank != RequestRank(shown: votes)
        case .tracksAdded(let placed): placed.contains { $0.track.votes > 0 }
        case .tracksRemoved(let removed): removed.contains { (tracks[TrackID($0)]?.rank.votes ?? 0) > 0 }
        case .reset, .properties, .member, .memberLeft, .waveform, .duration, .missing, .queue, .playback, .finished,
            .membership, .online, .deck:
            false
        }
    }

    private func add(_ placed: [PlacedTrack]) {
        var merged: [Track] = []
        merged.reserveCapacity(pool.count + placed.count)
        var rest = pool[...]
        for new in placed {
            let before = max(0, new.place - merged.count)
            merged += rest.prefix(before)
            rest = rest.dropFirst(before)
            let track = Track(new.track, isMine: false)
            tracks[track.id] = track
            merged.append(track)
            order.insert(track)
        }
        pool = merged + rest
    }

    private func remove(_ removed: Set<TrackID>) {
        pool.removeAll { removed.contains($0.id) }
        if removed.contains(where: { (tracks[$0]?.rank.votes ?? 0) > 0 }) { order.remove(removed) }
        for track in removed { tracks[track] = nil }
    }

    func take(_ phase: Following.Phase, at time: ServerTime) {
        let new: Phase =
            switch phase {
            case .connecting: .connecting
            case .live: .live
            case .catchingUp: .catchingUp
            case .offline: .offline(since: time)
            case .ended(let refusal): .ended(reason: refusal.message)
            }
        if new != self.phase { self.phase = new }
        if case .ended(let refusal) = phase { end = ClientError(refusal) }
        deck?.roomHasChanged()
        tellArrivals()
    }

    /// Waits until the room is ``Phase/live``: known, and as the server has it.
    ///
    /// ``RoomClient/run()`` connects meanwhile. Without a connection it waits for one; ``RoomClient/fault`` tells why
    /// there is none.
    ///
    /// - Throws: Why the room is followed no more, for example ``ClientError/Code/notFound``;
    ///   ``ClientError/Code/cancelled`` if the task is cancelled.
    public func live() async throws(ClientError) {
        let arrival = Promise<Void>()
        arrivals.append(arrival)
        tellArrivals()
        try await arrival.value()
    }

    private func tellArrivals() {
        let result: Result<Void, ClientError>
        switch phase {
        case .live: result = .success(())
        case .ended(let reason): result = .failure(end ?? ClientError(.roomClosed, reason))
        case .connecting, .catchingUp, .offline: return
        }
        for arrival in arrivals { arrival.fulfil(result) }
        arrivals = []
    }

    func take(_ commands: [PendingCommand]) {
        let before = Set(pending.compactMap(\.command.track))
        let now = Set(commands.compactMap(\.command.track))
        for track in before.subtracting(now) { tracks[track]?.isPending = false }
        for track in now.subtracting(before) { tracks[track]?.isPending = true }
        pending = commands
    }

    func take(_ reaction: Reaction) { reactionStreams.yield(reaction) }

    func take(_ signal: Signal) { signalStreams.yield(signal) }

    func deckEnded(_ error: ClientError) { deck?.ended(error) }

    func deckAnswered(_ key: String, _ answer: Result<Int, ClientError>) { deck?.answered(key, answer) }

    /// Leads the room with this device's own deck.
    ///
    /// The deck of an earlier call ends. The owner and DJs may lead; a deck ends where the role is gone.
    ///
    /// - Returns: The deck, which leads for as long as somebody holds it.
    /// - Throws: ``ClientError/Code/unavailable`` before the room is known, ``ClientError/Code/forbidden`` for a guest,
    ///   ``ClientError/Code/roomClosed`` if the room is followed no more.
    public func takeDeck() throws(ClientError) -> Deck {
        if case .ended(let reason) = phase { throw ClientError(.roomClosed, reason) }
        guard position != nil else { throw ClientError(.unavailable, "the room is not known yet") }
        guard let me else { throw ClientError(.notMember, "only members lead a room") }
        guard me.role != .guest else { throw ClientError(.forbidden, "the owner and DJs lead a room") }
        deck?.end()
        let deck = Deck(of: self)
        self.deck = deck
        return deck
    }
}

extension RoomDetails {
    init(_ state: ShownState) {
        self.init(
            RoomProperties(
                name: state.name, closedAt: state.closedAt, visibility: state.visibility, location: state.location,
                settings: state.settings))
    }
}

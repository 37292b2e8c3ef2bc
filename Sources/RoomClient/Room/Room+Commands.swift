import RoomDomain
import RoomReplica
import RoomWire

extension Room {
    // MARK: Commands

    /// Gives the room a command.
    ///
    /// What it does is shown at once, if it is one of those that can be shown. It returns when the command is durable at
    /// the server. A refusal takes back what was shown. Without a connection it waits for one, for as long as the
    /// command is worth sending: ten seconds for `play`, `pause`, `resume`, `seek`, `skip` and `finish`, a day for others.
    /// Commands of a room are carried out in the order of the calls. A key belongs to one command, however often the call is
    /// repeated.
    @discardableResult public func send(
        _ command: Command, key: CommandKey = .random()
    ) async throws(ClientError) -> Receipt {
        let promise = engine.post(command, to: reference.wire, key: key, isKept: false)
        engine.deliver()
        return try await promise.value()
    }

    /// Gives the room a command that is kept in the store until it is answered, also over a restart of the app.
    ///
    /// It is in the store before it is first sent.
    ///
    /// - Throws: ``ClientError/Code/roomClosed`` and others if the room is followed no more.
    @discardableResult public func post(
        _ command: Command, key: CommandKey = .random()
    ) throws(ClientError) -> PendingCommand {
        if case .ended(let reason) = phase { throw ClientError(.roomClosed, reason) }
        let promise = engine.post(command, to: reference.wire, key: key, isKept: true)
        engine.deliver()
        return PendingCommand(id: key, command: command, isKept: true, promise: promise)
    }

    /// Joins the room; one's own number is ``me`` then.
    @discardableResult public func join(as name: String? = nil) async throws(ClientError) -> Receipt {
        try await send(.join(as: name))
    }
    /// Leaves the room.
    public func leave() async throws(ClientError) { try await send(.leave) }
    /// Takes another name in this room.
    public func rename(to name: String) async throws(ClientError) { try await send(.rename(to: name)) }
    /// Votes for a track.
    public func vote(for track: Track) async throws(ClientError) { try await send(.vote(for: track.id)) }
    /// Takes the vote for a track back.
    public func unvote(_ track: Track) async throws(ClientError) { try await send(.unvote(track.id)) }
    /// Adds tracks to the pool; their numbers, in the same order.
    @discardableResult public func add(_ tracks: [TrackInfo]) async throws(ClientError) -> [TrackID] {
        try await send(.add(tracks)).tracks
    }
    /// Removes tracks from the pool.
    public func remove(_ tracks: [TrackID]) async throws(ClientError) { try await send(.remove(tracks)) }
    /// Adds a track to the queue, at its end if no place is given.
    public func enqueue(_ track: Track, at index: Int? = nil) async throws(ClientError) {
        try await send(.enqueue(track.id, at: index))
    }
    /// Removes an entry from the queue.
    public func dequeue(_ entry: EntryID) async throws(ClientError) { try await send(.dequeue(entry)) }
    /// Moves an entry of the queue to another place.
    public func move(_ entry: EntryID, to index: Int) async throws(ClientError) {
        try await send(.move(entry, to: index))
    }
    /// Plays an entry, or the head of the queue.
    public func play(_ entry: EntryID? = nil) async throws(ClientError) { try await send(.play(entry)) }
    /// Pauses what is on air, as it is shown; nothing if that is not on air any more.
    public func pause() async throws(ClientError) { try await send(.pause(playback?.entry)) }
    /// Goes on with what is on air, as it is shown; nothing if that is not on air any more.
    public func resume() async throws(ClientError) { try await send(.resume(playback?.entry)) }
    /// Goes to a position of what is on air, as it is shown; nothing if that is not on air any more.
    public func seek(to position: Duration) async throws(ClientError) {
        try await send(.seek(to: position, of: playback?.entry))
    }
    /// Skips what is on air, as it is shown; nothing if that is not on air any more.
    public func skip() async throws(ClientError) { try await send(.skip(playback?.entry)) }
    /// Votes to skip what is on air; nothing if nothing is.
    public func voteToSkip() async throws(ClientError) {
        if let entry = playback?.entry { try await send(.voteToSkip(entry)) }
    }
    /// Takes the vote to skip what is on air back; nothing if nothing is.
    public func unvoteToSkip() async throws(ClientError) {
        if let entry = playback?.entry { try await send(.unvoteToSkip(entry)) }
    }

    // MARK: What is never logged

    /// Makes this device the one that plays the room, in place of any other; returns when it is.
    ///
    /// The owner and DJs may. Everybody sees it as ``Room/deckMember``, and this device as ``Room/isDeck``. After a lost
    /// connection it is the deck again, unless another member has claimed that meanwhile. It ends with
    /// ``releaseDeck()``, and where another device claims, or the role is gone.
    public func claimDeck() async throws(ClientError) { try await claimDeck(true) }

    /// Plays the room no more; nothing where another device does.
    public func releaseDeck() async throws(ClientError) { try await claimDeck(false) }

    private func claimDeck(_ isOn: Bool) async throws(ClientError) {
        let room = reference.wire
        let promise = engine.tell { machine, now in machine.claimDeck(isOn, in: room, at: now) }
        try await promise.value()
        engine.deliver()
    }

    /// Shows a reaction to everybody in the room; without a connection, to nobody.
    public func react(_ emoji: Character) {
        let room = reference.wire
        engine.call { state, now in state.machine?.react(String(emoji), in: room, at: now) ?? [] }
    }

    /// Sends data to one member, a JSON text of at most 64 KiB; returns when it is on its way to their devices.
    public func signal(json: [UInt8], to member: MemberID) async throws(ClientError) {
        guard let data = RelayedJSON(json) else {
            throw ClientError(.badRequest, "a signal is a JSON text of at most 64 KiB")
        }
        let room = reference.wire
        let promise = engine.tell { machine, now in machine.signal(data, to: member.domain, in: room, at: now) }
        try await promise.value()
    }
}

import GeoSearch

/// Deciding: what a command causes, or why not.
extension RoomState {
    /// Returns the events that `command` causes, without applying them; an empty array: what is asked for already holds.
    ///
    /// The checks come in one order: a banned session, a closed room, no membership, the role, the command's values,
    /// the existence of what it names, and then the room's state. The server acts with the owner's rights and without
    /// a membership: what only a member can do (joining, leaving, renaming oneself, adding and removing tracks, voting)
    /// is refused it as `notMember`.
    ///
    /// - Parameters:
    ///   - command: What is asked for; nothing of it has been checked.
    ///   - actor: Who asks.
    ///   - now: The server's clock; where it is behind ``lastEventAt``, that counts instead.
    ///   - online: The members who are online: the electorate of who wants to skip.
    ///   - lastSeen: When members who are not online last were; one who is in neither was not since it joined. Nil where
    ///     it is not known who is online: then nobody makes room for a newcomer to a full room.
    ///   - budget: How much a pool may hold.
    ///   - cell: The size in metres of the cells to which locations are rounded; 0: they are not.
    /// - Returns: The events in their order, to be numbered by ``recorded(_:at:)``.
    /// - Throws: Why the answer is no.
    package func decide(
        _ command: RoomCommand, by actor: Actor, at now: Timestamp, online: Set<MemberID> = [],
        lastSeen: [MemberID: Timestamp]? = nil, within budget: PoolBudget = PoolBudget(),
        cell: Double = RoundedLocation.usualCell
    ) throws(RoomRefusal) -> [RoomEvent] {
        let now = max(now, lastEventAt)
        let events: [RoomEvent]
        if case .endMembership(let session, let reason) = command, case .server = actor {
            events = try endMembership(of: session, reason)
        } else {
            let asker = try admit(actor, for: command, at: now)
            events = try decide(
                command, of: asker, actor, at: now, online: online, lastSeen: lastSeen, within: budget, cell: cell)
        }
        // Who goes may have been all that kept a song on air.
        guard let onAir, !onAir.skipVoters.isEmpty, events.contains(where: \.endsMembership) else { return events }
        return events + folding(events, at: now).countSkipVotes(online: online, at: now)
    }

    private func decide(
        _ command: RoomCommand, of asker: Asker, _ actor: Actor, at now: Timestamp, online: Set<MemberID>,
        lastSeen: [MemberID: Timestamp]?, within budget: PoolBudget, cell: Double
    ) throws(RoomRefusal) -> [RoomEvent] {
        switch command {
        case .join(let name): return try join(name: name, by: actor, online: online, lastSeen: lastSeen)
        case .leave: return membershipEnd(of: try asker.memberOnly, .left)
        case .rename(let name): return try rename(try asker.memberOnly, to: name)
        case .updateRoom(let update): return try updateRoom(update, by: asker.member?.id, cell: cell)
        case .closeRoom(let forget, let note): return try closeRoom(forget: forget, by: asker.member?.id, note)
        case .setRole(let member, let role, let note):
            return try setRole(of: member, to: role, by: asker.member?.id, note)
        case .transferOwnership(let member, let note):
            return try transferOwnership(to: member, by: asker.member?.id, note)
        case .kick(let members, let ban, let durationMs, let note):
            return try kick(members, ban: ban, durationMs: durationMs, note, by: asker, at: now)
        case .unban(let member, let note): return try unban(member, by: asker, note)
        case .addTracks(let tracks):
            return try addTracks(tracks, by: try asker.memberOnly, at: now, within: budget)
        case .removeTracks(let tracks): return try removeTracks(tracks, by: try asker.memberOnly.id)
        case .vote(let track): return try vote(for: track, by: try asker.memberOnly.id)
        case .unvote(let track): return try unvote(track, by: try asker.memberOnly.id)
        case .enqueue(let track, let index): return try enqueue(track, at: index, by: asker.member?.id)
        case .dequeue(let entry): return try dequeue(entry, by: asker.member?.id)
        case .move(let entry, let index): return try move(entry, to: index, by: asker.member?.id)
        case .play(let entry): return try play(entry, by: asker.member?.id, at: now)
        case .pause: return pause(by: asker.member?.id, at: now)
        case .resume: return resume(by: asker.member?.id, at: now)
        case .seek(let positionMs): return try seek(to: positionMs, by: asker.member?.id, at: now)
        case .skip: return finish(.skipped, by: asker.member?.id, at: now)
        case .finish(let entry):
            return onAir?.entry == entry ? finish(.ended, by: asker.member?.id, at: now) : []
        case .voteSkip(let entry):
            return voteSkip(entry, by: try asker.memberOnly.id, online: online, at: now)
        case .syncDeck(let deck): return try syncDeck(deck, by: asker.member?.id, at: now)
        case .countSkipVotes:
            guard case .server = actor else { throw .forbidden("only the server counts") }
            return countSkipVotes(online: online, at: now)
        case .replaceOwner(let owner):
            guard case .server = actor else { throw .forbidden("only the server replaces an owner") }
            return replaceOwner(owner, online: online)
        case .endMembership: throw .forbidden("only the server ends a session")
        }
    }

    /// What a command gives back beside its position; nil for a command without a result.
    ///
    /// `events` are those that ``decide(_:by:at:)`` returned for it. The room may be the one before or after them.
    package func result(
        of command: RoomCommand, by actor: Actor, causing events: [RoomEvent]
    ) -> CommandResult? {
        switch command {
        case .join:
            for case .memberJoined(let member, _, _, _) in events { return .member(member) }
            guard case .session(let session, _) = actor else { return nil }
            return memberOfSession[session].map(CommandResult.member)
        case .addTracks:
            for case .tracksAdded(let tracks, _) in events { return .tracks(tracks.map(\.id)) }
            return nil
        case .enqueue:
            for case .entryEnqueued(let entry, _, _, _, _) in events { return .entry(entry) }
            return nil
        case .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .removeTracks,
            .vote, .unvote, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish, .voteSkip, .syncDeck,
            .countSkipVotes, .replaceOwner, .endMembership:
            return nil
        }
    }

    /// Gives `events` their places in the log: the numbers after ``seq`` and one instant, never before ``lastEventAt``.
    package func recorded(_ events: [RoomEvent], at now: Timestamp) -> [RecordedEvent] {
        let at = max(now, lastEventAt)
        var next = nextSeq
        return events.map { event in
            defer { next &+= 1 }
            return RecordedEvent(seq: next, at: at, event: event)
        }
    }

    /// The number of the next event.
    var nextSeq: Int { seq &+ 1 }

    /// Who asks, once let in.
    struct Asker {
        /// The member; nil for the server, and for a session that is joining.
        var member: Member?

        /// The member; refuses who is none.
        var memberOnly: Member {
            get throws(RoomRefusal) {
                guard let member else { throw .notMember }
                return member
            }
        }

        /// Whether it has at least the rights of `role`.
        func hasRights(of role: Role) -> Bool {
            switch (member?.role ?? .owner, role) {
            case (.owner, _), (.dj, .dj), (.dj, .guest), (.guest, .guest): true
            case (.dj, .owner), (.guest, .owner), (.guest, .dj): false
            }
        }
    }

    /// Refuses the banned, a closed room, who is no member, and the wrong role, in this order.
    private func admit(_ actor: Actor, for command: RoomCommand, at now: Timestamp) throws(RoomRefusal) -> Asker {
        var asker = Asker()
        var isOpen = isOpen
        // Only a room that was made and is closed is neither open nor new.
        if case .closeRoom(forget: true, _) = command, seq > 0 { isOpen = true }
        switch actor {
        case .server:
            guard isOpen else { throw .roomClosed }
        case .session(let session, _):
            if let refusal = refusal(of: session, at: now) { throw refusal }
            guard isOpen else { throw .roomClosed }
            asker.member = memberOfSession[session].flatMap { members[$0] }
            if case .join = command { return asker }
            guard asker.member != nil else { throw .notMember }
        }
        let role = roleNeeded(for: command)
        guard asker.hasRights(of: role) else {
            throw .forbidden(refusalText(of: command, for: role))
        }
        return asker
    }

    /// The least role whose rights a command needs.
    private func roleNeeded(for command: RoomCommand) -> Role {
        switch command {
        case .addTracks where settings.guestsMayAdd && !settings.queueLocked: .guest
        case .updateRoom, .closeRoom, .setRole, .transferOwnership: .owner
        case .kick, .unban, .addTracks, .removeTracks, .enqueue, .dequeue, .move, .play, .pause, .resume, .seek, .skip,
            .finish, .syncDeck:
            .dj
        case .join, .leave, .rename, .vote, .unvote, .voteSkip, .countSkipVotes, .replaceOwner, .endMembership: .guest
        }
    }

    /// What is said to who has not the rights of `role`.
    private func refusalText(of command: RoomCommand, for role: Role) -> String {
        if case .addTracks = command, settings.queueLocked {
            return "the queue is locked: only the owner or a DJ may add tracks"
        }
        return role == .owner ? "only the owner may do this" : "only the owner or a DJ may do this"
    }
}

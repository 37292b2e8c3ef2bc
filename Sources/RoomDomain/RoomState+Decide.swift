import GeoSearch

/// Decides the events that a command causes, or refuses it.
extension RoomState {
    /// Returns the events that `command` causes, without applying them; empty if the requested state already holds.
    ///
    /// The checks come in this order: a banned session, a closed room, no membership, the role, the command's values,
    /// the existence of what it names, and then the room's state. The server acts with the owner's rights and without a
    /// membership: commands that only a member can give (joining, leaving, renaming oneself, adding and removing
    /// tracks, setting waveforms, voting) are refused to it as `notMember`.
    ///
    /// - Parameters:
    ///   - command: The request; none of its values has been checked.
    ///   - actor: The sender of the command.
    ///   - now: The server's clock; if it is behind ``lastEventAt``, that counts instead.
    ///   - online: The members who are online: their votes to skip count, against their number.
    ///   - lastSeen: The time when each offline member was last online; a member in neither has not been online since
    ///     it joined. Nil if it is not known who is online: then no guest is removed from a full room for a newcomer.
    ///   - budget: The most bytes a pool may hold.
    ///   - cell: The size in metres of the cells to which locations are rounded; 0: no rounding.
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
        // The votes to skip may suffice without the member who goes.
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
        case .setWaveform(let track, let waveform):
            return try setWaveform(of: track, to: waveform.name, by: try asker.memberOnly, at: now)
        case .setDuration(let track, let durationMs):
            return try setDuration(of: track, to: durationMs, by: try asker.memberOnly.id)
        case .setMissing(let tracks): return try setMissing(tracks, by: try asker.memberOnly.id)
        case .vote(let track): return try vote(for: track, by: try asker.memberOnly.id)
        case .unvote(let track): return try unvote(track, by: try asker.memberOnly.id)
        case .enqueue(let track, let index): return try enqueue(track, at: index, by: asker.member?.id)
        case .dequeue(let entry): return try dequeue(entry, by: asker.member?.id)
        case .move(let entry, let index): return try move(entry, to: index, by: asker.member?.id)
        case .play(let entry): return try play(entry, by: asker.member?.id, at: now)
        case .pause(let entry): return isOnAir(entry) ? pause(by: asker.member?.id, at: now) : []
        case .resume(let entry): return isOnAir(entry) ? resume(by: asker.member?.id, at: now) : []
        case .seek(let positionMs, let entry):
            return try seek(to: positionMs, entry, by: asker.member?.id, at: now)
        case .skip(let entry): return isOnAir(entry) ? finish(.skipped, by: asker.member?.id, at: now) : []
        case .finish(let entry, let isMissing):
            guard isOnAir(entry) else { return [] }
            return finish(isMissing ? .skipped : .ended, isMissing: isMissing, by: asker.member?.id, at: now)
        case .voteSkip(let entry):
            return voteSkip(entry, by: try asker.memberOnly.id, online: online, at: now)
        case .unvoteSkip(let entry): return unvoteSkip(entry, by: try asker.memberOnly.id)
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

    /// The result of a command, in addition to its position; nil for a command without a result.
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
        case .setWaveform(_, let waveform): return .waveform(waveform.name)
        case .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .removeTracks,
            .setDuration, .setMissing, .vote, .unvote, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish,
            .voteSkip, .unvoteSkip, .syncDeck, .countSkipVotes, .replaceOwner, .endMembership:
            return nil
        }
    }

    /// Gives `events` their numbers, which follow ``seq``, and one time, never before ``lastEventAt``.
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

    /// The sender of a command, after it has been admitted.
    struct Asker {
        /// The member; nil for the server, and for a session that is joining.
        var member: Member?

        /// The member; refuses a sender without a membership.
        var memberOnly: Member {
            get throws(RoomRefusal) {
                guard let member else { throw .notMember }
                return member
            }
        }

        /// Whether the sender has at least the rights of `role`.
        func hasRights(of role: Role) -> Bool {
            switch (member?.role ?? .owner, role) {
            case (.owner, _), (.dj, .dj), (.dj, .guest), (.guest, .guest): true
            case (.dj, .owner), (.guest, .owner), (.guest, .dj): false
            }
        }
    }

    /// Refuses a banned session, a closed room, a sender who is not a member, and an insufficient role, in this order.
    private func admit(_ actor: Actor, for command: RoomCommand, at now: Timestamp) throws(RoomRefusal) -> Asker {
        var asker = Asker()
        var isOpen = isOpen
        // A room that is neither open nor new has been made and closed.
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

    /// The lowest role that may give a command.
    private func roleNeeded(for command: RoomCommand) -> Role {
        switch command {
        case .addTracks where settings.guestsMayAdd && !settings.queueLocked: .guest
        case .updateRoom, .closeRoom, .setRole, .transferOwnership: .owner
        case .kick, .unban, .addTracks, .removeTracks, .setDuration, .setMissing, .enqueue, .dequeue, .move, .play,
            .pause, .resume, .seek, .skip, .finish, .syncDeck:
            .dj
        case .join, .leave, .rename, .setWaveform, .vote, .unvote, .voteSkip, .unvoteSkip, .countSkipVotes,
            .replaceOwner, .endMembership:
            .guest
        }
    }

    /// The refusal's text for a sender without the rights of `role`.
    private func refusalText(of command: RoomCommand, for role: Role) -> String {
        if case .addTracks = command, settings.queueLocked {
            return "the queue is locked: only the owner or a DJ may add tracks"
        }
        return role == .owner ? "only the owner may do this" : "only the owner or a DJ may do this"
    }
}

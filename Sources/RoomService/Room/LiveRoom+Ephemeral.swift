import NIOCore
package import RoomDomain
package import RoomWire

extension LiveRoom {
    // MARK: Presence

    /// Updates whether members are online.
    ///
    /// A member is online if it is connected here or elsewhere, or was a moment ago.
    func reviewPresence(of members: some Sequence<MemberID>) {
        var here: [MemberID: Bool] = [:]
        for member in members {
            here[member] = confirmed.members[member].map { isPresent($0) } ?? false
        }
        guard !here.isEmpty else { return }
        let elsewhere = dependencies.presence.set(here, in: id)
        var (hasChanged, isFewer) = (false, false)
        for (member, isHere) in here {
            let isOnline = isHere || elsewhere.contains(member) && confirmed.members[member] != nil
            if isOnline || confirmed.members[member] == nil { lastSeen[member] = nil }
            guard presence.set(member, isOnline: isOnline) else { continue }
            hasChanged = true
            if !isOnline, confirmed.members[member] != nil { lastSeen[member] = dependencies.clock.now }
            if !isOnline { isFewer = true }
        }
        dependencies.presence.setCount(presence.online, of: id)
        tellPresence()
        guard hasChanged else { return }
        // Votes are not counted when a member arrives: after a start the others come back one by one.
        if isFewer { countSkipVotes() }
        reviewOwner()
    }

    private func isPresent(_ member: Member) -> Bool {
        audience.isConnected(member.session) || grace.contains(member.id)
    }

    /// Lets a member that has lost its last connection here count as online for a while.
    func beginGrace(of member: MemberID) {
        let time = dependencies.settings.presenceGrace
        guard time > .zero else { return }
        grace.begin(member, until: loop.now + time)
        awaitEndOfGrace()
    }

    private func awaitEndOfGrace() {
        guard !graceIsScheduled, let end = grace.nextEnd else { return }
        graceIsScheduled = true
        loop.scheduleTask(in: max(end - loop.now, .zero)) { self.assumeIsolated { $0.endGrace() } }
    }

    private func endGrace() {
        graceIsScheduled = false
        reviewPresence(of: grace.takeEnded(at: loop.now))
        awaitEndOfGrace()
    }

    /// Skips the current track if the members who are online now are few enough for the votes that it has.
    private func countSkipVotes() {
        guard confirmed.isVotedOut(online: presence.members) else { return }
        // A member at a server from which nothing is heard may still be connected.
        guard dependencies.presence.seesEverybody else { return countSkipVotesLater() }
        // If this fails, the next vote or the next change of presence counts again.
        submit(CommandRequest(actor: .server, key: nil, command: .countSkipVotes) { _ in })
    }

    private func countSkipVotesLater() {
        guard !skipCountIsScheduled else { return }
        skipCountIsScheduled = true
        loop.scheduleTask(in: dependencies.settings.presenceBeat) { [weak self] () -> Void in
            self?.assumeIsolated { room in
                room.skipCountIsScheduled = false
                // A room without followers has nobody to skip for.
                if room.isFollowed { room.countSkipVotes() }
            }
        }
    }

    /// Schedules the message that tells all followers of changes in presence.
    private func tellPresence() {
        guard !presenceIsScheduled, let due = presence.frameDue else { return }
        guard !audience.isEmpty else { return presence.nobodyFollows() }
        presenceIsScheduled = true
        let delay = due - loop.now
        if delay > .zero {
            loop.scheduleTask(in: delay) { self.assumeIsolated { $0.sendPresence() } }
        } else {
            // It is sent at the end of the loop's turn, with all other changes of that turn.
            loop.execute { self.assumeIsolated { $0.sendPresence() } }
        }
    }

    private func sendPresence() {
        presenceIsScheduled = false
        guard !audience.isEmpty else { return presence.nobodyFollows() }
        guard let frame = presence.takeFrame(at: loop.now) else { return tellPresence() }
        dependencies.metrics.presenceFrameMade()
        let change = frame.isCountOnly ? nil : (on: frame.on, off: frame.off)
        show(ServerMessage.presence(room: id, online: frame.online, change: change), as: .presence)
    }

    private func show(_ message: [UInt8], as kind: EphemeralMessage.Kind) {
        let message = EphemeralMessage(room: id, kind: kind, message: message)
        for feed in audience.feeds { feed.tell(.message(message)) }
    }

    // MARK: Reactions

    /// Shows a member's reaction to everybody who follows; `reply` is called once, on the room's loop.
    package func react(_ emoji: String, by session: SessionID, _ reply: @escaping @Sendable (EphemeralOutcome) -> Void)
    {
        asMember(session, .reaction, reply) { room, member in
            if let wait = room.reactionLimit.take(member, at: room.loop.now) {
                // Rounded up, so that a client that waits this long is allowed.
                return .rateLimited(retryAfterMs: Int(wait.nanoseconds / 1_000_000) + 1)
            }
            room.show(ServerMessage.reaction(room: room.id, from: member, emoji: emoji), as: .reaction)
            room.dependencies.bus?.tell(.reaction(room.id, from: member, emoji: emoji))
            return .done
        }
    }

    /// Shows a reaction of a member at another server to everybody who follows here.
    func heardReaction(_ emoji: String, from member: MemberID) {
        reactionLimit.count(member, at: loop.now)
        show(ServerMessage.reaction(room: id, from: member, emoji: emoji), as: .reaction)
    }

    // MARK: Signals

    /// Sends a signal to all connections of a member that follow the room, on any server; `reply` is called once, on
    /// the room's loop.
    package func signal(
        _ data: RelayedJSON, to recipient: MemberID, by session: SessionID,
        _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        asMember(session, .signal, reply) { room, member in
            room.signal(data, from: member, of: session, to: recipient)
        }
    }

    private func signal(
        _ data: RelayedJSON, from member: MemberID, of session: SessionID, to recipient: MemberID
    ) -> EphemeralOutcome {
        let servers = dependencies.presence.servers(of: recipient, in: id)
        guard let other = confirmed.members[recipient]?.session, audience.isConnected(other) || !servers.isEmpty else {
            return .failed(.refused(.notFound("this member is not connected")))
        }
        if let wait = dependencies.signalShares.charge(data.text.count, to: session, for: other, at: loop.now) {
            dependencies.metrics.signalRefused(.tooMany)
            return .rateLimited(retryAfterMs: wait)
        }
        guard !audience.isConnected(other) || bring(data, from: member, to: recipient) else {
            dependencies.metrics.signalRefused(.waiting)
            return .rateLimited(retryAfterMs: Self.retryAfterBacklogMs)
        }
        for server in servers {
            dependencies.bus?.tell(.signal(id, from: member, to: recipient, data), to: server)
        }
        return .done
    }

    /// The time after which to retry a signal to a member who does not take those that wait.
    private static let retryAfterBacklogMs = 1_000

    /// Sends a signal that another server relays to a member's connections here.
    func heardSignal(_ data: RelayedJSON, from member: MemberID, to recipient: MemberID) {
        if !bring(data, from: member, to: recipient) { dependencies.metrics.signalNotArrived() }
    }

    /// Returns whether the member has a connection here that takes the signal without exceeding the limit on waiting
    /// ones.
    private func bring(_ data: RelayedJSON, from member: MemberID, to recipient: MemberID) -> Bool {
        guard let session = confirmed.members[recipient]?.session, audience.isConnected(session) else { return false }
        let message = ServerMessage.signal(room: id, from: member, data: data)
        guard let charge = dependencies.signalBacklog.charge(message.count, to: session) else { return false }
        let signal = RelayedSignal(room: id, session: session, message: message, charge: charge)
        for feed in audience.feeds { feed.tell(.signal(signal)) }
        return true
    }

    // MARK: Members

    /// Runs an action of a member, or refuses it; nothing of it is logged.
    ///
    /// If the session is no member, or the recipient is not found, this room may lack the newest events. The action is
    /// then tried once more when the room has them.
    func asMember(
        _ session: SessionID, _ kind: EphemeralKind, _ reply: @escaping @Sendable (EphemeralOutcome) -> Void,
        _ act: @escaping @Sendable (isolated LiveRoom, MemberID) -> EphemeralOutcome
    ) {
        lastUse = loop.now
        let outcome = attempt(session, act)
        guard mayBeMistaken(outcome) else { return answer(kind, outcome, reply) }
        whenRead {
            self.assumeIsolated { $0.answer(kind, $0.attempt(session, act), reply) }
        }
    }

    private func attempt(
        _ session: SessionID, _ act: @escaping @Sendable (isolated LiveRoom, MemberID) -> EphemeralOutcome
    ) -> EphemeralOutcome {
        guard !isForgotten else { return .failed(.noSuchRoom) }
        if let refusal = refusal(of: session) { return .failed(.refused(refusal)) }
        guard confirmed.isOpen else { return .failed(.refused(.roomClosed)) }
        guard let member = confirmed.memberOfSession[session] else { return .failed(.refused(.notMember)) }
        return act(self, member)
    }

    private func mayBeMistaken(_ outcome: EphemeralOutcome) -> Bool {
        switch outcome {
        case .failed(.refused):
            dependencies.settings.logIsShared || writer.condition != .current || writer.isWriting
        case .done, .rateLimited, .failed(.noSuchRoom), .failed(.unavailable), .failed(.busy),
            .failed(.internalFault):
            false
        }
    }

    private func answer(
        _ kind: EphemeralKind, _ outcome: EphemeralOutcome, _ reply: @Sendable (EphemeralOutcome) -> Void
    ) {
        dependencies.metrics.answered(kind, outcome.kind)
        reply(outcome)
    }
}

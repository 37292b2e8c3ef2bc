import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomLog
import RoomWire

extension LiveRoom {
    /// Decides a command, and answers it when the log has confirmed the answer.
    ///
    /// Refusals and commands that change nothing are confirmed as well: the next append checks the room's version for
    /// them. An answer therefore never rests on a state that another node has already changed, or that was never
    /// written.
    ///
    /// A long command waits for its turn, and all later ones wait behind it.
    package func submit(_ request: CommandRequest) {
        lastUse = loop.now
        guard !queuedCommands.isEmpty || request.command.itemCount > Self.itemsAtOnce else { return consider(request) }
        guard queuedCommands.count < Self.queueLimit else { return request.reply(.failed(.unavailable)) }
        queuedCommands.append(request)
        guard queuedCommands.count == 1 else { return }
        turns.assumeIsolated { $0.add { self.assumeIsolated { $0.takeTurn() } } }
    }

    /// Commands with at most this many tracks or entries are decided as soon as they arrive.
    private static let itemsAtOnce = 50
    /// The most commands that wait for a room's turn.
    private static let queueLimit = 1_024

    /// Decides the next command in line; returns whether there is another.
    private func takeTurn() -> Bool {
        // Several short commands make one turn.
        var items = 0
        while items < Self.itemsAtOnce, let request = queuedCommands.popFirst() {
            items += 1 + request.command.itemCount
            consider(request)
        }
        return !queuedCommands.isEmpty
    }

    /// Decides a command whose turn has come, or lets it wait until the log is read.
    func consider(_ request: CommandRequest) {
        switch condition {
        case .current:
            decide(request)
        case .stale:
            wait(request)
            reload()
        case .reloading:
            wait(request)
        case .forgotten:
            request.reply(.failed(.noSuchRoom))
        }
    }

    private func wait(_ request: CommandRequest) {
        guard waiting.count < dependencies.settings.waitingCommandsPerRoom else {
            return request.reply(.failed(.unavailable))
        }
        waiting.append(request)
    }

    private func decide(_ request: CommandRequest) {
        guard gathering.weight + handedOverWeight < dependencies.settings.gatheringBytes else {
            return request.reply(.failed(.unavailable))
        }
        guard let key = request.key, case .session(let session, _) = request.actor else {
            decide(request, name: nil)
            return
        }
        let name = IdempotencyWindow.Name(session: session.uuid, key: key)
        let fingerprint = CommandJSON.fingerprint(
            request.command, cell: dependencies.settings.locationPrecisionMeters)
        if let first = keys.command(name) {
            // The first outcome is durable already, so the answer is given at once.
            request.reply(Self.outcome(of: first, fingerprint: fingerprint))
        } else if let first = pendingKeys[name] {
            pend(request, answer: Self.outcome(of: first, fingerprint: fingerprint))
        } else {
            decide(request, name: (name, fingerprint))
        }
    }

    /// The count of keyed commands with those that are gathered or handed over.
    private var projectedKeyed: Int { nextVersion.keyed + gathering.keys.count }

    private static func outcome(of first: CommandKey, fingerprint: Int64) -> CommandOutcome {
        guard [fingerprint, CommandKey.forgotten].contains(first.fingerprint) else { return .keyReused }
        return .acknowledged(
            seq: first.seq, keyed: first.ordinal, result: first.result.flatMap { try? ResultJSON.decode($0) })
    }

    private func decide(_ request: CommandRequest, name: (IdempotencyWindow.Name, fingerprint: Int64)?) {
        let now = dependencies.clock.now
        var request = request
        do {
            try lookAtShares(of: request)
        } catch {
            return request.reply(.failed(.refused(error)))
        }
        let events: [RoomEvent]
        do {
            events = try projected.decide(
                request.command, by: request.actor, at: now, online: online(for: request.command),
                lastSeen: dependencies.presence.knowsWhoIsOffline ? lastSeen : nil,
                within: dependencies.settings.poolBudget, cell: dependencies.settings.locationPrecisionMeters)
        } catch {
            pend(request, answer: .failed(.refused(error)))
            return
        }
        if case .join = request.command, !events.isEmpty, let count = request.countNewcomer {
            if let wait = count() {
                let refusal = RoomRefusal.rateLimited(
                    "too many have joined this room from this address", retryAfterMs: Int64(wait))
                return request.reply(.failed(.refused(refusal)))
            }
            // It is counted, even if the command has to be decided again.
            request.countNewcomer = nil
        }
        let result = projected.result(of: request.command, by: request.actor, causing: events)
        let recorded = projected.recorded(events, at: now)
        let charged: CommandRequest
        do {
            charged = try charge(request, for: recorded)
        } catch {
            // The answer does not depend on the log.
            return request.reply(.failed(.refused(error)))
        }
        gathering.add(recorded, to: projected)
        let taken = projected.waveforms(takenBy: events)
        for event in recorded { projected.evolve(event) }
        if !events.isEmpty {
            gathering.add(projected.attachmentChanges(given: request.command.waveform, taken: taken))
        }
        if let (name, fingerprint) = name {
            let key = CommandKey(
                ordinal: projectedKeyed + 1, session: name.session, key: name.key,
                fingerprint: fingerprint, seq: projected.seq, result: result.map(ResultJSON.encode))
            gathering.keys.append(key)
            pendingKeys[name] = key
        }
        pend(charged, answer: .acknowledged(seq: projected.seq, keyed: projectedKeyed, result: result))
    }

    /// Refuses a long command before any work is done for it, if the session may write no more.
    private func lookAtShares(of request: CommandRequest) throws(RoomRefusal) {
        guard request.command.itemCount > Self.itemsAtOnce, request.charged == 0,
            case .session(let session, _) = request.actor
        else { return }
        try dependencies.shares.look(session, in: id, from: request.network, at: loop.now)
    }

    /// Charges a session for the events of its command; a command without events, and the server's own commands, cost
    /// nothing.
    private func charge(
        _ request: CommandRequest, for recorded: [RecordedEvent]
    ) throws(RoomRefusal) -> CommandRequest {
        guard !recorded.isEmpty, case .session(let session, _) = request.actor else { return request }
        var charged = request
        // A command that is decided again after another server was faster is charged only for what exceeds the earlier
        // charge.
        let cost = max(0, LogShares.cost(of: recorded) - request.charged)
        guard cost > 0 else { return request }
        try dependencies.shares.charge(cost, to: session, in: id, from: request.network, at: loop.now)
        charged.charged += cost
        return charged
    }

    /// The members that count as online for a command.
    private func online(for command: RoomCommand) -> Set<MemberID> {
        // A member that has just lost its connection cannot become the owner.
        if case .replaceOwner = command { return presence.members.filter { !grace.contains($0) } }
        return presence.members
    }

    private func pend(_ request: CommandRequest, answer: CommandOutcome) {
        gathering.add(PendingAppend.Decided(request: request, answer: answer))
        scheduleFlush()
    }
}

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

    /// Gives the machine a command whose turn has come.
    private func consider(_ request: CommandRequest) {
        let number = nextNumber()
        requests[number] = request
        run(writer.submit(number))
    }

    /// Decides a command against all that was decided before.
    func decision(of number: RoomWriter.RequestID) -> RoomWriter.Decision {
        guard let request = requests[number], !writer.isFull else { return .answered(.failed(.unavailable)) }
        guard let key = request.key, case .session(let session, _) = request.actor else {
            return decision(of: request, as: number, key: nil)
        }
        let name = IdempotencyWindow.Name(session: session.uuid, key: key)
        let fingerprint = CommandJSON.fingerprint(
            request.command, cell: dependencies.settings.locationPrecisionMeters)
        return writer.earlier(name, fingerprint: fingerprint)
            ?? decision(of: request, as: number, key: (name, fingerprint))
    }

    private func decision(
        of request: CommandRequest, as number: RoomWriter.RequestID,
        key: (name: IdempotencyWindow.Name, fingerprint: Int64)?
    ) -> RoomWriter.Decision {
        let now = dependencies.clock.now
        do {
            try lookAtShares(of: request)
        } catch {
            return .answered(.failed(.refused(error)))
        }
        let events: [RoomEvent]
        do {
            events = try writer.projected.decide(
                request.command, by: request.actor, at: now, online: online(for: request.command),
                lastSeen: dependencies.presence.knowsWhoIsOffline ? lastSeen : nil,
                within: dependencies.settings.poolBudget, cell: dependencies.settings.locationPrecisionMeters)
        } catch {
            return .settled(.failed(.refused(error)))
        }
        if case .join = request.command, !events.isEmpty, let count = request.countNewcomer {
            if let wait = count() {
                let refusal = RoomRefusal.rateLimited(
                    "too many have joined this room from this address", retryAfterMs: Int64(wait))
                return .answered(.failed(.refused(refusal)))
            }
            // It is counted, even if the command has to be decided again.
            requests[number]?.countNewcomer = nil
        }
        let result = writer.projected.result(of: request.command, by: request.actor, causing: events)
        let recorded = writer.projected.recorded(events, at: now)
        do {
            requests[number]?.charged += try charge(request, for: recorded)
        } catch {
            // The answer does not depend on the log.
            return .answered(.failed(.refused(error)))
        }
        return .changed(
            Projection.Change(events: recorded, result: result, waveform: request.command.waveform, key: key))
    }

    /// Refuses a long command before any work is done for it, if the session may write no more.
    private func lookAtShares(of request: CommandRequest) throws(RoomRefusal) {
        guard request.command.itemCount > Self.itemsAtOnce, request.charged == 0,
            case .session(let session, _) = request.actor
        else { return }
        try dependencies.shares.look(session, in: id, from: request.network, at: loop.now)
    }

    /// Charges a session for the events of its command, and returns the charge; a command without events, and the
    /// server's own commands, cost nothing.
    private func charge(_ request: CommandRequest, for recorded: [RecordedEvent]) throws(RoomRefusal) -> Int {
        guard !recorded.isEmpty, case .session(let session, _) = request.actor else { return 0 }
        // A command that is decided again after another server was faster is charged only for what exceeds the earlier
        // charge.
        let cost = max(0, LogShares.cost(of: recorded) - request.charged)
        guard cost > 0 else { return 0 }
        try dependencies.shares.charge(cost, to: session, in: id, from: request.network, at: loop.now)
        return cost
    }

    /// The members that count as online for a command.
    private func online(for command: RoomCommand) -> Set<MemberID> {
        // A member that has just lost its connection cannot become the owner.
        if case .replaceOwner = command { return presence.members.filter { !grace.contains($0) } }
        return presence.members
    }
}

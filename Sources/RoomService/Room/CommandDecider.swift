import NIOCore
import RoomDomain
import RoomWire

/// Decides the commands of one room against all that was decided before, within what sessions may write.
struct CommandDecider {
    /// What the room's server knows when it decides a command.
    struct Sight {
        /// The members that count as online for this command.
        var online: Set<MemberID>
        /// The times when offline members were last online; nil if a member who seems offline may be online elsewhere.
        var lastSeen: [MemberID: Timestamp]?
        /// The time that events get.
        var time: Timestamp
        /// The time by which shares are counted.
        var now: NIODeadline
    }

    private let room: RoomID
    private let shares: LogShares
    private let budget: PoolBudget
    private let cell: Double

    /// Decides for a room, within the settings' limits and with the shares of the process.
    init(of room: RoomID, settings: RoomHostSettings, shares: LogShares) {
        self.room = room
        self.shares = shares
        budget = settings.poolBudget
        cell = settings.locationPrecisionMeters
    }

    /// Decides a command.
    ///
    /// The request keeps what must not be counted again, should the command have to be decided again: the charge, and the
    /// new member.
    func decide(
        _ request: inout CommandRequest, in writer: borrowing RoomWriter, _ sight: Sight
    ) -> RoomWriter.Decision {
        request.place?.begin()
        let decision =
            request.place?.failure.map { .answered(.failed($0)) } ?? decideInOrder(&request, in: writer, sight)
        // The next command may be decided before this one is answered.
        switch decision {
        case .answered(let outcome), .settled(let outcome): request.place?.note(outcome)
        case .changed: break
        }
        return decision
    }

    private func decideInOrder(
        _ request: inout CommandRequest, in writer: borrowing RoomWriter, _ sight: Sight
    ) -> RoomWriter.Decision {
        guard !writer.isFull else { return .answered(.failed(.unavailable)) }
        guard let key = request.key, case .session(let session, _) = request.actor else {
            return decide(&request, in: writer, sight, key: nil)
        }
        let name = IdempotencyWindow.Name(session: session.uuid, key: key)
        let fingerprint = CommandJSON.fingerprint(request.command, cell: cell)
        return writer.earlier(name, fingerprint: fingerprint)
            ?? decide(&request, in: writer, sight, key: (name, fingerprint))
    }

    private func decide(
        _ request: inout CommandRequest, in writer: borrowing RoomWriter, _ sight: Sight,
        key: (name: IdempotencyWindow.Name, fingerprint: Int64)?
    ) -> RoomWriter.Decision {
        do {
            try lookAtShares(of: request, at: sight.now)
        } catch {
            return .answered(.failed(.refused(error)))
        }
        let events: [RoomEvent]
        do {
            events = try writer.projected.decide(
                request.command, by: request.actor, at: sight.time, online: sight.online, lastSeen: sight.lastSeen,
                within: budget, cell: cell)
        } catch {
            return .settled(.failed(.refused(error)))
        }
        if case .join = request.command, !events.isEmpty, let count = request.countNewcomer {
            if let wait = count() {
                let refusal = RoomRefusal.rateLimited(
                    "too many have joined this room from this address", retryAfterMs: Int64(wait))
                return .answered(.failed(.refused(refusal)))
            }
            request.countNewcomer = nil
        }
        let result = writer.projected.result(of: request.command, by: request.actor, causing: events)
        let recorded = writer.projected.recorded(events, at: sight.time)
        do {
            request.charged += try charge(request, for: recorded, at: sight.now)
        } catch {
            // The answer does not depend on the log.
            return .answered(.failed(.refused(error)))
        }
        return .changed(
            Projection.Change(events: recorded, result: result, waveform: request.command.waveform, key: key))
    }

    /// Refuses a long command before any work is done for it, if the session may write no more.
    private func lookAtShares(of request: CommandRequest, at now: NIODeadline) throws(RoomRefusal) {
        guard request.isLong, request.charged == 0, case .session(let session, _) = request.actor else { return }
        try shares.look(session, in: room, from: request.network, at: now)
    }

    /// Charges a session for the events of its command, and returns the charge; a command without events, and the
    /// server's own commands, cost nothing.
    private func charge(
        _ request: CommandRequest, for recorded: [RecordedEvent], at now: NIODeadline
    ) throws(RoomRefusal) -> Int {
        guard !recorded.isEmpty, case .session(let session, _) = request.actor else { return 0 }
        // A command that is decided again after another server was faster is charged only for what exceeds the earlier
        // charge.
        let cost = max(0, LogShares.cost(of: recorded) - request.charged)
        guard cost > 0 else { return 0 }
        try shares.charge(cost, to: session, in: room, from: request.network, at: now)
        return cost
    }
}

import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomWire

extension LiveRoom {
    /// Decides a command and answers it when the log has confirmed the answer.
    ///
    /// Refusals and commands that change nothing are confirmed too: they ride with the next append as a check of the
    /// room's version, so that an answer never rests on something that another node has already changed, or that was
    /// never written.
    package func submit(_ request: CommandRequest) {
        lastUse = loop.now
        switch condition {
        case .current:
            decide(request)
        case .stale:
            wait(request)
            reload()
        case .reloading:
            wait(request)
        case .forgotten:
            request.reply(.noSuchRoom)
        }
    }

    private func wait(_ request: CommandRequest) {
        guard waiting.count < surroundings.settings.waitingCommandsPerRoom else { return request.reply(.unavailable) }
        waiting.append(request)
    }

    private func decide(_ request: CommandRequest) {
        guard gathering.weight < surroundings.settings.gatheringBytes else { return request.reply(.unavailable) }
        guard let key = request.key, case .session(let session, _) = request.actor else {
            decide(request, name: nil)
            return
        }
        let name = KeyMemory.Name(session: session.uuid, key: key)
        let fingerprint = CommandJSON.fingerprint(request.command)
        if let first = keys.command(name) {
            // Durable already: nothing to wait for.
            request.reply(Self.outcome(of: first, fingerprint: fingerprint))
        } else if let first = inFlight?.command(name) ?? gathering.command(name) {
            pend(request, answer: Self.outcome(of: first, fingerprint: fingerprint))
        } else {
            decide(request, name: (name, fingerprint))
        }
    }

    private static func outcome(of first: CommandKey, fingerprint: Int64) -> CommandOutcome {
        guard [fingerprint, CommandKey.forgotten].contains(first.fingerprint) else { return .keyReused }
        return .acknowledged(seq: first.seq, result: first.result.flatMap { try? ResultJSON.decode($0) })
    }

    private func decide(_ request: CommandRequest, name: (KeyMemory.Name, fingerprint: Int64)?) {
        let now = surroundings.clock.now
        let events: [RoomEvent]
        do {
            events = try projected.decide(request.command, by: request.actor, at: now, online: presence.members)
        } catch {
            pend(request, answer: .refused(error))
            return
        }
        let result = projected.result(of: request.command, by: request.actor, causing: events)
        let recorded = projected.recorded(events, at: now)
        for event in recorded { projected.evolve(event) }
        gathering.events += recorded
        gathering.weight += recorded.weight
        if let (name, fingerprint) = name {
            let pendingKeys = (inFlight?.keys.count ?? 0) + gathering.keys.count
            let key = CommandKey(
                ordinal: version.keyed + pendingKeys + 1, session: name.session, key: name.key,
                fingerprint: fingerprint, seq: projected.seq, result: result.map(ResultJSON.encode))
            gathering.keys.append(key)
            gathering.keyed[name] = key
        }
        pend(request, answer: .acknowledged(seq: projected.seq, result: result))
    }

    private func pend(_ request: CommandRequest, answer: CommandOutcome) {
        gathering.decided.append(PendingAppend.Decided(request: request, answer: answer))
        scheduleFlush()
    }

    // MARK: Appending

    /// Flushes at the end of this turn of the loop, so that what arrived together is written together.
    func scheduleFlush() {
        guard inFlight == nil, !flushIsScheduled else { return }
        flushIsScheduled = true
        loop.execute { self.assumeIsolated { $0.flush() } }
    }

    private func flush() {
        flushIsScheduled = false
        guard inFlight == nil, !gathering.isEmpty, condition == .current else { return }
        // Another server was faster, and the append would be in vain.
        guard heard <= confirmed.seq else { return decideAgain(PendingAppend()) }
        var pending = gathering
        gathering = PendingAppend()
        pending.verifications = verifications
        verifications = []
        inFlight = pending
        let append = streamAppend(pending)
        let loop = loop
        surroundings.groupCommit.submit(
            GroupCommit.Submission(append: append) { outcome in
                loop.execute { self.assumeIsolated { $0.flushed(outcome) } }
            })
    }

    private func streamAppend(_ pending: PendingAppend) -> StreamAppend {
        var append = StreamAppend(
            stream: id.uuid, expected: version, events: pending.events.map { EventJSON.stored($0, in: id) },
            keys: pending.keys.map { $0.sealed(in: id) }, epoch: epoch)
        // Nothing gathers yet, so `projected` is what the room is once this is durable.
        if pending.events.contains(where: \.event.concernsDirectory) {
            append.directory = DirectoryEntry(of: projected)
        }
        var touched: Set<SessionID> = []
        for recorded in pending.events {
            switch recorded.event.membershipChange {
            case .began(let session): touched.insert(session)
            case .ended(let member): if let member = confirmed.members[member] { touched.insert(member.session) }
            case nil: break
            }
        }
        for case .roomClosed(let forget, _, _) in pending.events.map(\.event) {
            // Who is in a room that is closed is a member of nothing that could be left.
            touched.formUnion(projected.memberOfSession.keys)
            if forget { append.forgetAt = projected.lastEventAt.milliseconds }
        }
        for session in touched {
            if projected.isOpen, projected.memberOfSession[session] != nil {
                append.joined.append(session.uuid)
            } else {
                append.left.append(session.uuid)
            }
        }
        return append
    }

    private func flushed(_ outcome: Result<AppendOutcome, StorageFault>) {
        guard let pending = inFlight else { return }
        inFlight = nil
        switch outcome {
        case .success(.appended):
            conflictsInARow = 0
            version.keyed += pending.keys.count
            for key in pending.keys { keys.remember(key) }
            fold(pending.events)
            if !pending.events.isEmpty { surroundings.link?.tell(id, movedTo: version.seq) }
            for decided in pending.decided { decided.request.reply(decided.answer) }
            for done in pending.verifications { done() }
            verifyRest()
        case .success(.conflict):
            conflictsInARow += 1
            verifications = pending.verifications + verifications
            decideAgain(pending)
        case .failure(let fault):
            verifications = pending.verifications + verifications
            abandon(pending, because: fault)
        }
    }

    /// Somebody else wrote first: read what, then decide everything anew, in the order in which it came.
    private func decideAgain(_ pending: PendingAppend) {
        let requests = pending.decided.map(\.request) + gathering.decided.map(\.request)
        gathering = PendingAppend()
        projected = confirmed
        condition = .stale
        if conflictsInARow <= surroundings.settings.conflictsInARow {
            waiting = requests + waiting
        } else {
            conflictsInARow = 0
            for request in requests { request.reply(.unavailable) }
        }
        reload()
    }

    private func abandon(_ pending: PendingAppend, because fault: StorageFault) {
        let requests = pending.decided.map(\.request) + gathering.decided.map(\.request)
        gathering = PendingAppend()
        projected = confirmed
        // It may have been written, and nobody else would tell.
        if fault.outcomeIsUnknown { surroundings.link?.tell(id, movedTo: version.seq + pending.events.count) }
        // What was written, if the answer was lost, is in the log: it is read before anything else is decided.
        condition = .stale
        let outcome = if case .rejected = fault { CommandOutcome.internalFault } else { CommandOutcome.unavailable }
        for request in requests { request.reply(outcome) }
        giveUpVerifying()
    }
}

import EventStorage
import NIOCore
import RoomDomain

/// How what was decided becomes durable and is shown.
extension LiveRoom {
    /// Hands over what gathers at the end of this turn of the loop, so that what arrived together is written together,
    /// or at once where that is much already: its append may begin while the rest is decided.
    func scheduleFlush() {
        if gathering.decided.count >= AppendQueue.commandsTogether, heard <= version.seq { return handOver() }
        guard !flushIsScheduled else { return }
        flushIsScheduled = true
        loop.execute { self.assumeIsolated { $0.flush() } }
    }

    private func flush() {
        flushIsScheduled = false
        guard !gathering.isEmpty, condition == .current else { return }
        if heard > version.seq, handedOver.isEmpty {
            // Another server was faster, and the append would be in vain.
            decideAgain()
        } else {
            handOver()
        }
    }

    private func handOver() {
        var pending = gathering
        gathering = PendingAppend()
        pending.verifications = verifications
        verifications = []
        let append = pending.append(to: projected, expecting: nextVersion, in: epoch)
        nextVersion = append.resulting
        handedOverWeight += pending.weight
        let commands = pending.decided.count
        handedOver.append(pending)
        dependencies.groupCommit.submit(append, commands: commands, to: currentQueue())
    }

    private func currentQueue() -> AppendQueue {
        if let appendQueue { return appendQueue }
        let loop = loop
        // It holds the room for as long as the room holds it: until nothing is handed over.
        let queue = AppendQueue { queue, report in
            loop.execute { self.assumeIsolated { $0.written(report, of: queue) } }
        }
        self.appendQueue = queue
        busySince = loop.now
        return queue
    }

    private func written(_ report: AppendQueue.Report, of queue: AppendQueue) {
        guard self.appendQueue === queue else { return }
        switch report {
        case .durable(let parts):
            letOthersIn(behind: queue)
            appended(parts)
        case .overtaken:
            conflictsInARow += 1
            decideAgain()
        case .failed(let fault, let underWay):
            abandon(because: fault, underWay: underWay)
        }
    }

    /// Lets the queue rest now and then where there are other servers: one that has lost to this room's appends would
    /// lose for as long as they follow each other without a gap.
    private func letOthersIn(behind queue: AppendQueue) {
        let now = loop.now
        guard now - busySince > Self.busyTime, dependencies.presence.hasPeers else { return }
        busySince = now
        queue.rest()
    }

    /// For how long appends follow each other without a rest, where there are other servers.
    private static let busyTime = TimeAmount.milliseconds(30)

    /// Shows what is durable, the first `parts` of what was handed over.
    private func appended(_ parts: Int) {
        conflictsInARow = 0
        let durable = Array(handedOver.prefix(parts))
        handedOver.removeFirst(durable.count)
        if handedOver.isEmpty { appendQueue = nil }
        for key in durable.flatMap(\.keys) {
            version.keyed += 1
            keys.remember(key)
            pendingKeys[IdempotencyWindow.Name(session: key.session, key: key.key)] = nil
        }
        handedOverWeight -= durable.reduce(0) { $0 + $1.weight }
        let events = durable.count == 1 ? durable[0].events : durable.flatMap(\.events)
        fold(events)
        if !events.isEmpty { dependencies.bus?.tell(id, movedTo: version.seq) }
        for decided in durable.flatMap(\.decided) { decided.request.reply(decided.answer) }
        for done in durable.flatMap(\.verifications) { done() }
        verifyRest()
    }

    /// Somebody else wrote first: read what, then decide everything anew, in the order in which it came.
    private func decideAgain() {
        let requests = dropUndurable()
        if conflictsInARow <= dependencies.settings.conflictsInARow {
            waiting = requests + waiting
        } else {
            conflictsInARow = 0
            for request in requests { request.reply(.failed(.unavailable)) }
        }
        reload()
    }

    private func abandon(because fault: StorageFault, underWay: Int) {
        // It may have been written, and nobody else would tell.
        if fault.outcomeIsUnknown {
            let events = handedOver.prefix(underWay).reduce(0) { $0 + $1.events.count }
            dependencies.bus?.tell(id, movedTo: version.seq + events)
        }
        // What was written, if the answer was lost, is in the log: it is read before anything else is decided.
        let requests = dropUndurable()
        let failure = if case .rejected = fault { RoomFailure.internalFault } else { RoomFailure.unavailable }
        for request in requests { request.reply(.failed(failure)) }
        giveUpVerifying()
    }

    /// Throws away all that is decided and not durable, and returns what asked for it: the log is read before anything
    /// else is decided.
    private func dropUndurable() -> [CommandRequest] {
        let pending = Array(handedOver) + [gathering]
        handedOver.removeAll()
        gathering = PendingAppend()
        handedOverWeight = 0
        pendingKeys = [:]
        appendQueue = nil
        condition = .stale
        verifications = pending.flatMap(\.verifications) + verifications
        return pending.flatMap { $0.decided.map(\.request) }
    }
}

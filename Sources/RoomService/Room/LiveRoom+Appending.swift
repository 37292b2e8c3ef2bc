import EventStorage
import NIOCore
import RoomDomain

/// The way from a decision to durable events that are shown.
extension LiveRoom {
    /// Hands over the gathered append at the end of this turn of the loop, so that requests that arrived together are
    /// written together.
    ///
    /// A large append is handed over at once, so that it begins while the rest is decided.
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
            // Another server was faster, so the append would fail.
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
        // The queue keeps the room alive while the room keeps the queue, which is until nothing is handed over.
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

    /// Pauses the queue now and then if there are other servers.
    ///
    /// A server that has lost the race against this room's appends would lose again for as long as these follow each
    /// other without a gap.
    private func letOthersIn(behind queue: AppendQueue) {
        let now = loop.now
        guard now - busySince > Self.busyTime, dependencies.presence.hasPeers else { return }
        busySince = now
        queue.rest()
    }

    /// The time for which appends follow each other without a pause, if there are other servers.
    private static let busyTime = TimeAmount.milliseconds(30)

    /// Shows the events that have become durable: the first `parts` of those handed over.
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

    /// Another writer appended first: reads its events, then decides everything again, in order.
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
        // The events may have been written, and then nobody else would announce them.
        if fault.outcomeIsUnknown {
            let events = handedOver.prefix(underWay).reduce(0) { $0 + $1.events.count }
            dependencies.bus?.tell(id, movedTo: version.seq + events)
        }
        // If only the answer was lost, the events are in the log, which is read before anything else is decided.
        let requests = dropUndurable()
        let failure = if case .rejected = fault { RoomFailure.internalFault } else { RoomFailure.unavailable }
        for request in requests { request.reply(.failed(failure)) }
        giveUpVerifying()
    }

    /// Drops everything that is decided and not durable, and returns its requests; the log must be read before anything
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

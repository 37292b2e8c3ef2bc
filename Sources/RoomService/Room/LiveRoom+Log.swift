import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomLog
import RoomWire

extension LiveRoom {
    // MARK: Durable events

    /// Adds durable events to the room, and shows them to all followers.
    ///
    /// If they forget the room or clear its location, the data that this removes is no longer shown to anybody.
    func fold(_ durable: [RecordedEvent]) {
        let redaction = Redaction(by: durable)
        let forget = redaction.isForgotten
        let events = redaction.shown(durable)
        var touched: Set<MemberID> = []
        for event in events {
            confirmed.evolve(event)
            switch event.event.membershipChange {
            case .began(let session): if let member = confirmed.memberOfSession[session] { touched.insert(member) }
            case .ended(let member):
                grace.cease(member)
                touched.insert(member)
            case nil: break
            }
        }
        version.seq = confirmed.seq
        if !events.isEmpty { encodedState = nil }
        recent.append(events)
        if !redaction.isEmpty { recent.redact(redaction) }
        if forget { recent = RecentEvents() }
        publish(events)
        // After the events, so that everybody whom presence names is a member by then.
        reviewPresence(of: touched)
        reviewDeck()
        reviewOwner()
        saveSnapshotIfDue()
    }

    private func publish(_ events: [RecordedEvent]) {
        guard !audience.isEmpty, !events.isEmpty else { return }
        for part in events.parts(of: Self.eventsPerDelta).map(Array.init) {
            guard let first = part.first, let last = part.last else { continue }
            let update = PublishedEvents(
                room: id, from: first.seq, seq: last.seq, message: ServerMessage.delta(room: id, events: part))
            for feed in audience.feeds { feed.roomMoved(update) }
        }
        var banned: Set<SessionID> = []
        for case .memberBanned(_, _, let session, _, _, _) in events.map(\.event) { banned.insert(session) }
        for (session, feeds) in audience.remove(banned) {
            for feed in feeds { feed.sessionBanned(session, from: id) }
        }
    }

    // MARK: Reading

    /// The most events in one `delta`.
    static let eventsPerDelta = 200

    /// Reads the events of the log after `confirmed`, unless a read is under way.
    func reload() {
        guard condition == .current || condition == .stale, !isWriting else { return }
        condition = .reloading
        // The events that other servers announced are durable, and are among those that are read.
        heard = 0
        verifying = verifications
        verifications = []
        let loop = loop
        dependencies.batchedReads.read(id.uuid, after: version) { result in
            loop.execute { self.assumeIsolated { $0.reloaded(result) } }
        }
    }

    /// Records that another server has appended events up to `seq`.
    ///
    /// During an append or a read nothing else is done, since their results show whether the room is still behind.
    func hear(_ seq: Int) {
        heard = max(heard, seq)
        if heard > version.seq { appendQueue?.overtake() }
        catchUpWithHeard()
    }

    /// Reads the events that other servers have appended, if the room has followers; otherwise they are read when the
    /// room is used.
    private func catchUpWithHeard() {
        guard heard > confirmed.seq, condition == .current || condition == .stale, !isWriting
        else { return }
        if isFollowed { reload() } else { condition = .stale }
    }

    private func reloaded(_ result: Result<LoadedStream?, StorageFault>) {
        switch result {
        case .success(let loaded?) where loaded.head.epoch == epoch:
            do throws(LogFault) {
                try catchUp(with: loaded)
            } catch {
                dependencies.logger.error(
                    "A room's log cannot be read", metadata: ["room": "\(id)", "fault": "\(error)"])
                giveUpReading(as: .stale, .internalFault)
            }
        case .success(.some): loadAnew()
        case .success(nil): forget()
        case .failure(let fault):
            dependencies.logger.debug("A room could not be read", metadata: ["room": "\(id)", "fault": "\(fault)"])
            giveUpReading(as: .stale, .unavailable)
        }
    }

    private func catchUp(with loaded: LoadedStream) throws(LogFault) {
        let events = try loaded.events.recorded(after: version.seq, through: loaded.head.version.seq)
        for key in loaded.keys { keys.remember(key) }
        version.keyed = loaded.head.version.keyed
        // Consequences of showing the events wait until commands are decided against them.
        fold(events)
        becomeCurrent()
    }

    /// Continues after a read: decides the commands that waited, and answers the requests for the read.
    func becomeCurrent() {
        projected = confirmed
        nextVersion = version
        condition = .current
        let requests = waiting
        waiting = []
        for request in requests { consider(request) }
        let callbacks = verifying
        verifying = []
        for callback in callbacks { callback() }
        verifyRest()
    }

    /// Answers the requests that waited for a failed read.
    func giveUpReading(as condition: Condition, _ failure: RoomFailure) {
        self.condition = condition
        let requests = waiting
        waiting = []
        for request in requests { request.reply(.failed(failure)) }
        giveUpVerifying()
    }

    // MARK: Verifying

    /// Calls `done`, on the room's loop, when the room is known to be at its log's head, or when the log is out of
    /// reach, so that the room shows its own state.
    ///
    /// Events that were durable at the time of this call are in `confirmed` when `done` is called. Requests that arrive
    /// during a read or an append share the next one.
    package func verify(_ done: @escaping @Sendable () -> Void) {
        lastUse = loop.now
        switch condition {
        case .current where !dependencies.settings.logIsShared, .forgotten:
            done()
        case .current, .stale, .reloading:
            verifications.append(done)
            reload()
        }
    }

    /// Ensures that a read or an append is under way that answers the waiting verifications, if there are any, and that
    /// newly announced events are read.
    func verifyRest() {
        if !gathering.isEmpty {
            scheduleFlush()
        } else if !verifications.isEmpty {
            reload()
        } else {
            catchUpWithHeard()
        }
    }

    /// Answers all waiting verifications although the log's head is unknown.
    func giveUpVerifying() {
        let callbacks = verifying + verifications
        verifying = []
        verifications = []
        for callback in callbacks { callback() }
    }

    /// Reads the log, whatever is known of it, once the work under way has ended.
    func readAgain() {
        // A room without a log reads nothing, and nothing waits for it.
        guard condition != .forgotten else { return }
        verifications.append {}
        reload()
    }

    /// Reads the log if its head differs from this room's position, or if an earlier read failed.
    func compare(with head: StreamHead) {
        if condition == .stale || head.epoch != epoch || head.version != version { reload() }
    }

    // MARK: Snapshots

    private func saveSnapshotIfDue() {
        guard confirmed.seq - snapshotSeq >= eventsPerSnapshot else { return }
        saveSnapshot()
    }

    /// The number of events between two snapshots; more in a large room, so that each event costs at most a KiB of
    /// them.
    private var eventsPerSnapshot: Int {
        max(dependencies.settings.eventsPerSnapshot, confirmed.estimatedStateBytes / 1_024)
    }

    /// Stores a snapshot of the confirmed state, so that loading need not replay everything.
    ///
    /// A failure makes later loading slower, and has no other effect.
    func saveSnapshot() {
        guard !isSavingSnapshot, !confirmed.isForgotten, confirmed.seq > snapshotSeq else { return }
        isSavingSnapshot = true
        snapshotSeq = confirmed.seq
        let (state, epoch, id, loop) = (confirmed, epoch, id, loop)
        let (store, metrics, logger) = (dependencies.store, dependencies.metrics, dependencies.logger)
        let (span, heavyWork) = (eventsPerSnapshot, dependencies.heavyWork)
        let isLong = state.estimatedStateBytes > dependencies.settings.longStateBytes
        let isStarted = dependencies.jobs.start {
            do {
                let snapshot =
                    isLong
                    ? try await heavyWork.run(.encoding) { StoredSnapshot(of: state) } : StoredSnapshot(of: state)
                try await store.save(snapshot, of: id.uuid, in: epoch, oneIn: span)
                metrics.snapshotEnded(.saved)
            } catch {
                metrics.snapshotEnded(.failed)
                logger.debug("A snapshot could not be saved", metadata: ["room": "\(id)", "fault": "\(error)"])
            }
            loop.execute { self.assumeIsolated { $0.isSavingSnapshot = false } }
        }
        if !isStarted { isSavingSnapshot = false }
    }
}

import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomLog
import RoomWire

extension LiveRoom {
    // MARK: Durable events

    /// Shows durable events to all followers.
    ///
    /// If they forget the room or clear its location, the data that this removes is no longer shown to anybody.
    func show(_ events: [RecordedEvent], _ redaction: Redaction) {
        var touched: Set<MemberID> = []
        for event in events {
            switch event.event.membershipChange {
            case .began(let session): if let member = confirmed.memberOfSession[session] { touched.insert(member) }
            case .ended(let member):
                grace.cease(member)
                touched.insert(member)
            case nil: break
            }
        }
        if !events.isEmpty { encodedState = nil }
        recent.append(events)
        if !redaction.isEmpty { recent.redact(redaction) }
        if redaction.isForgotten { recent = RecentEvents() }
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
            for feed in audience.feeds { feed.tell(.events(update)) }
        }
        var banned: Set<SessionID> = []
        for case .memberBanned(_, _, let session, _, _, _) in events.map(\.event) { banned.insert(session) }
        for (session, feeds) in audience.remove(banned) {
            for feed in feeds { feed.tell(.banned(session, from: id)) }
        }
    }

    /// The most events in one `delta`.
    static let eventsPerDelta = 200

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

import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomWire

extension LiveRoom {
    // MARK: Durable events

    /// Takes in events that are durable and shows them to everybody who follows.
    func fold(_ events: [RecordedEvent]) {
        guard let first = events.first, let last = events.last else { return }
        for event in events {
            audience.willFold(event, into: confirmed)
            confirmed.evolve(event)
        }
        version.seq = confirmed.seq
        recent += events
        if recent.count > 2 * Self.recentEvents { recent.removeFirst(recent.count - Self.recentEvents) }
        surroundings.listeners.set(audience.online, of: id)
        publish(events, from: first.seq, through: last.seq)
        saveSnapshotIfDue()
    }

    private func publish(_ events: [RecordedEvent], from: Int, through seq: Int) {
        guard isFollowed else { return }
        for start in stride(from: 0, to: events.count, by: Self.eventsPerDelta) {
            let part = Array(events[start..<min(start + Self.eventsPerDelta, events.count)])
            guard let first = part.first, let last = part.last else { continue }
            let update = PublishedEvents(
                room: id, from: first.seq, seq: last.seq, message: ServerMessage.delta(room: id, events: part))
            for feed in audience.feeds { feed.roomMoved(update) }
        }
        for case .memberBanned(_, _, let session) in events.map(\.event) {
            for feed in audience.remove(session: session) { feed.sessionBanned(session, from: id) }
        }
        surroundings.listeners.set(audience.online, of: id)
    }

    // MARK: Reading

    /// How many events are kept for resuming without a read.
    static let recentEvents = 1_000
    /// How many events go into one `delta`.
    static let eventsPerDelta = 200

    /// Reads what the log has beyond `confirmed`, unless that is under way.
    func reload() {
        guard condition != .reloading, inFlight == nil, gathering.isEmpty else { return }
        condition = .reloading
        let (id, version, loop, store) = (id, version, loop, surroundings.store)
        surroundings.jobs.start {
            let result: Result<LoadedStream?, StorageFault>
            do throws(StorageFault) {
                result = .success(
                    try await store.load(id.uuid, reducerVersion: StoredStateJSON.reducerVersion, after: version))
            } catch {
                result = .failure(error)
            }
            loop.execute { self.assumeIsolated { $0.reloaded(result) } }
        }
    }

    private func reloaded(_ result: Result<LoadedStream?, StorageFault>) {
        let requests = waiting
        waiting = []
        switch result {
        case .success(let loaded?) where loaded.head.epoch == epoch:
            do {
                let events = try loaded.events.map { try EventJSON.recorded($0) }
                condition = .current
                lastVerified = .now()
                for key in loaded.keys { keys.remember(key) }
                version = StreamVersion(seq: version.seq, keyed: loaded.head.version.keyed)
                fold(events)
                projected = confirmed
                for request in requests { submit(request) }
            } catch {
                surroundings.logger.error(
                    "A room's log cannot be read", metadata: ["room": "\(id)", "fault": "\(error)"])
                condition = .stale
                for request in requests { request.reply(.internalFault) }
            }
        case .success:
            // Gone, or restored from a backup: whoever follows must begin anew.
            condition = .stale
            for feed in audience.feeds { feed.roomForgotten(id) }
            audience = RoomAudience()
            surroundings.listeners.set(0, of: id)
            for request in requests { request.reply(.noSuchRoom) }
        case .failure(let fault):
            surroundings.logger.debug("A room could not be read", metadata: ["room": "\(id)", "fault": "\(fault)"])
            condition = .stale
            for request in requests { request.reply(.unavailable) }
        }
        verified()
    }

    // MARK: Verifying

    /// Calls `done`, on the room's loop, when the room is known to be at its log's head, or when the log is out of
    /// reach: then the room shows what it has.
    package func verify(_ done: @escaping @Sendable () -> Void) {
        lastUse = .now()
        let isFresh = !surroundings.settings.logIsShared || lastVerified + Self.freshness > .now()
        guard condition != .current || !isFresh else { return done() }
        verifications.append(done)
        // An append on its way verifies the version as well, and then nothing is read here.
        reload()
    }

    /// For how long a room that was just verified needs no other check.
    private static let freshness = TimeAmount.milliseconds(20)

    func verified() {
        guard !verifications.isEmpty else { return }
        let callbacks = verifications
        verifications = []
        for callback in callbacks { callback() }
    }

    /// Reads the log if it stands elsewhere than this room, or if an earlier read failed.
    func compare(with head: StreamHead) {
        if condition == .stale || head.epoch != epoch || head.version != version { reload() }
    }

    // MARK: Snapshots

    private func saveSnapshotIfDue() {
        guard confirmed.seq - snapshotSeq >= surroundings.settings.eventsPerSnapshot else { return }
        saveSnapshot()
    }

    /// Keeps the confirmed state in the store, so that loading need not replay everything. A failure costs time later,
    /// nothing else.
    func saveSnapshot() {
        guard !isSavingSnapshot, confirmed.seq > snapshotSeq else { return }
        isSavingSnapshot = true
        snapshotSeq = confirmed.seq
        let (state, id, loop) = (confirmed, id, loop)
        let (store, logger) = (surroundings.store, surroundings.logger)
        surroundings.jobs.start {
            let snapshot = StoredSnapshot(
                seq: state.seq, reducerVersion: StoredStateJSON.reducerVersion, state: StoredStateJSON.encode(state))
            do {
                try await store.save(snapshot, of: id.uuid)
            } catch {
                logger.debug("A snapshot could not be saved", metadata: ["room": "\(id)", "fault": "\(error)"])
            }
            loop.execute { self.assumeIsolated { $0.isSavingSnapshot = false } }
        }
    }
}

package import EventStorage
import FoundationEssentials
import Logging
package import RoomDomain
import Synchronization

/// Creates, authenticates, renames and ends sessions.
///
/// Authenticated sessions are remembered for some minutes, so that requests need no read. They are also remembered
/// while the event log is out of reach, so that rooms in memory can still be viewed.
package final class SessionRegistry: Sendable {
    private struct Known {
        var record: SessionRecord
        var asOf: Timestamp
    }

    private struct State {
        var known: [[UInt8]: Known] = [:]
        var hashOfSession: [SessionID: [UInt8]] = [:]
        /// The sessions that this process has ended, with the times of their ends.
        var ended: [SessionID: Timestamp] = [:]
        /// The time of the last removal of old ended sessions, in milliseconds.
        var endedSwept: Int64 = 0
        /// The time of the last removal of unused sessions, in milliseconds.
        var knownSwept: Int64 = 0

        /// Forgets sessions that were read longer ago than `age`, in milliseconds.
        mutating func forgetKnown(olderThan age: Int64, at now: Timestamp) {
            known = known.filter { now.milliseconds - $0.value.asOf.milliseconds < age }
            hashOfSession = hashOfSession.filter { known[$0.value] != nil }
        }
    }

    /// The shortest time between two extensions of a session; it is extended at most ten times in the length of its
    /// life without use.
    private static let extensionStep: Int64 = 3_600_000
    /// The time for which an ended session is remembered: longer than any request takes that began before its end.
    private static let endedMemory: Int64 = 60_000
    /// The number of sessions that are remembered.
    private static let remembered = 100_000
    /// The time for which an unused session is remembered.
    private static let unusedMemory: Int64 = 120_000

    private let store: any EventStore
    private let health: LogHealth
    private let clock: ServerClock
    private let randomness: ServerRandomness
    private let lifetimeMs: Int64
    /// The time for which a session that was read is used without reading it again; zero if another process may end it.
    private let belief: Int64
    /// If too many sessions are remembered, those read longer ago than this are forgotten first.
    private static let recently: Int64 = 5_000
    private let state = Mutex(State())

    init(
        store: any EventStore, clock: ServerClock, randomness: ServerRandomness, lifetimeMs: Int64, logIsShared: Bool,
        health: LogHealth
    ) {
        self.store = store
        self.health = health
        self.clock = clock
        self.randomness = randomness
        self.lifetimeMs = lifetimeMs
        belief = logIsShared ? 0 : Self.recently
    }

    /// Creates a session; the name must have passed the rule for names.
    package func create(name: String, tokenHash: [UInt8]) async throws(StorageFault) -> Session {
        let now = clock.now
        let id = UUID.makeV7(at: now, random: (randomness.next(), randomness.next()))
        let record = SessionRecord(
            id: id, tokenHash: tokenHash, name: name, createdAt: now.milliseconds,
            expiresAt: now.milliseconds + lifetimeMs)
        do throws(StorageFault) {
            try await store.insert(record)
            health.wrote()
        } catch {
            health.failed(error)
            throw error
        }
        remember(record, asOf: now)
        return Session(record)
    }

    /// Returns the session whose token has this hash; nil if there is none or it has ended.
    ///
    /// Using a session extends it.
    package func authenticate(tokenHash: [UInt8]) async throws(StorageFault) -> Session? {
        let now = clock.now
        let known = state.withLock { $0.known[tokenHash] }
        if let known, now.milliseconds - known.asOf.milliseconds < belief {
            return await use(known.record, at: now)
        }
        do {
            guard let record = try await store.session(tokenHash: tokenHash) else {
                forget(tokenHash)
                return nil
            }
            remember(record, asOf: now)
            return await use(record, at: now)
        } catch {
            guard let known else { throw error }
            return await use(known.record, at: now)
        }
    }

    /// Returns the session of a person known to another identity provider, by the hash that stands for the person.
    ///
    /// It is created if there is none, with a name that must have passed the rule for names. A session that was unused
    /// for too long starts again. Nil if its owner has ended it, until its row is gone.
    package func session(of subjectHash: [UInt8], name: String) async throws(StorageFault) -> Session? {
        if let session = try await authenticate(tokenHash: subjectHash) { return session }
        if let record = try await store.session(tokenHash: subjectHash) {
            guard !record.hasEnded else { return nil }
            try await store.extendSession(record.id, to: clock.now.milliseconds + lifetimeMs)
            forget(subjectHash)
            // Reads again, because housekeeping may have deleted the row before.
            if let session = try await authenticate(tokenHash: subjectHash) { return session }
        }
        do {
            return try await create(name: name, tokenHash: subjectHash)
        } catch {
            // Another request has created it in the meantime, here or at another server.
            guard let session = try await authenticate(tokenHash: subjectHash) else { throw error }
            return session
        }
    }

    /// Returns the session whose token has this hash, if that is known without asking the store and the session need
    /// not be extended; nil if ``authenticate(tokenHash:)`` has to be called.
    package func remembered(tokenHash: [UInt8]) -> Session? {
        let now = clock.now
        guard let known = state.withLock({ $0.known[tokenHash] }),
            now.milliseconds - known.asOf.milliseconds < belief,
            !known.record.hasEnded, known.record.expiresAt > now.milliseconds,
            !isDueForExtension(known.record, at: now)
        else { return nil }
        return Session(known.record)
    }

    private func isDueForExtension(_ record: SessionRecord, at now: Timestamp) -> Bool {
        now.milliseconds + lifetimeMs - record.expiresAt >= min(Self.extensionStep, lifetimeMs / 10)
    }

    private func use(_ record: SessionRecord, at now: Timestamp) async -> Session? {
        guard !record.hasEnded, record.expiresAt > now.milliseconds else { return nil }
        var record = record
        if isDueForExtension(record, at: now) {
            let expiresAt = now.milliseconds + lifetimeMs
            // This is not worth failing a request for: the next use tries again.
            if (try? await store.extendSession(record.id, to: expiresAt)) != nil {
                record.expiresAt = expiresAt
                remember(record, asOf: now)
                var session = Session(record)
                session.wasExtended = true
                return session
            }
        }
        return Session(record)
    }

    /// Changes a session's name, which must have passed the rule for names.
    ///
    /// Nil if there is no such session.
    package func rename(_ session: Session, to name: String) async throws(StorageFault) -> Session? {
        guard try await store.renameSession(session.id.uuid, to: name) else { return nil }
        state.withLock { state in
            if let hash = state.hashOfSession[session.id] { state.known[hash]?.record.name = name }
        }
        var session = session
        session.name = name
        return session
    }

    /// Extends a session that is in use; after a failure the next use tries again.
    package func extend(_ session: SessionID) async {
        try? await store.extendSession(session.uuid, to: clock.now.milliseconds + lifetimeMs)
    }

    /// Invalidates a session's token; the caller ends its memberships.
    func end(_ session: SessionID) async throws(StorageFault) {
        try await store.endSession(session.uuid, at: clock.now.milliseconds)
        noteEnd(of: session)
    }

    /// Records that a session was ended, here or by another server.
    func noteEnd(of session: SessionID) {
        let now = clock.now
        forget(session)
        state.withLock { state in
            if now.milliseconds - state.endedSwept >= Self.endedMemory {
                state.ended = state.ended.filter { now.milliseconds - $0.value.milliseconds < Self.endedMemory }
                state.endedSwept = now.milliseconds
            }
            state.ended[session] = now
        }
    }

    /// Whether this process has just ended a session; this is known before anybody is told of the end.
    package func hasEnded(_ session: SessionID) -> Bool {
        state.withLock { $0.ended[session] != nil }
    }

    /// Deletes the remains of a session.
    func delete(_ session: SessionID) async throws(StorageFault) {
        try await store.deleteSession(session.uuid)
        forget(session)
    }

    /// Forgets sessions that were unused for some minutes; must not be called while the log is out of reach.
    func forgetUnused() {
        let now = clock.now
        state.withLock { state in
            guard now.milliseconds - state.knownSwept >= Self.unusedMemory / 2 else { return }
            state.knownSwept = now.milliseconds
            state.forgetKnown(olderThan: Self.unusedMemory, at: now)
        }
    }

    private func remember(_ record: SessionRecord, asOf now: Timestamp) {
        state.withLock { state in
            if state.known.count >= Self.remembered { state.forgetKnown(olderThan: Self.recently, at: now) }
            state.known[record.tokenHash] = Known(record: record, asOf: now)
            state.hashOfSession[SessionID(record.id)] = record.tokenHash
        }
    }

    private func forget(_ session: SessionID) {
        state.withLock { state in
            if let hash = state.hashOfSession.removeValue(forKey: session) { state.known[hash] = nil }
        }
    }

    private func forget(_ tokenHash: [UInt8]) {
        state.withLock { state in
            if let known = state.known.removeValue(forKey: tokenHash) {
                state.hashOfSession[SessionID(known.record.id)] = nil
            }
        }
    }
}

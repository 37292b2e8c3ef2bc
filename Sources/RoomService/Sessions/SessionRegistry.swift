package import EventStorage
import FoundationEssentials
import Logging
package import RoomDomain
import Synchronization

/// Sessions: made, recognised by the hash of their token, renamed, ended.
///
/// Recognised sessions are remembered for some minutes, so that requests need no read, and for as long as the event log
/// is out of reach, so that rooms in memory can still be looked at.
package final class SessionRegistry: Sendable {
    private struct Known {
        var record: SessionRecord
        var asOf: Timestamp
    }

    private struct State {
        var known: [[UInt8]: Known] = [:]
        var hashOfSession: [SessionID: [UInt8]] = [:]
        /// Sessions that this process has ended, each since when.
        var ended: [SessionID: Timestamp] = [:]
        /// When those that ended long ago were last forgotten, in milliseconds.
        var endedSwept: Int64 = 0
        /// When those that nobody uses were last forgotten, in milliseconds.
        var knownSwept: Int64 = 0

        /// Forgets what was read longer ago than `age`, in milliseconds.
        mutating func forgetKnown(olderThan age: Int64, at now: Timestamp) {
            known = known.filter { now.milliseconds - $0.value.asOf.milliseconds < age }
            hashOfSession = hashOfSession.filter { known[$0.value] != nil }
        }
    }

    /// A session's expiry is moved at most this often, and at most ten times in its life without use.
    private static let extensionStep: Int64 = 3_600_000
    /// For how long it is remembered that a session has ended: longer than anything takes that began before.
    private static let endedMemory: Int64 = 60_000
    /// How many sessions are remembered.
    private static let remembered = 100_000
    /// For how long a session is remembered that nobody uses.
    private static let unusedMemory: Int64 = 120_000

    private let store: any EventStore
    private let health: LogHealth
    private let clock: ServerClock
    private let randomness: ServerRandomness
    private let lifetimeMs: Int64
    /// For how long what was read of a session is believed: not at all where another process may end it.
    private let belief: Int64
    /// Where too many sessions are remembered, those read longer ago than this are forgotten first.
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

    /// Makes a session; the name must have passed the rule for names.
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

    /// The session whose token has this hash, nil where there is none or it is over.
    ///
    /// Using it moves its end.
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

    /// The session of somebody whom another identity provider knows, by the hash that stands for them.
    ///
    /// Made where there is none, with a name that must have passed the rule for names. One that was not used for too
    /// long begins anew. Nil where its owner has ended it, until its row is gone.
    package func session(of subjectHash: [UInt8], name: String) async throws(StorageFault) -> Session? {
        if let session = try await authenticate(tokenHash: subjectHash) { return session }
        if let record = try await store.session(tokenHash: subjectHash) {
            guard !record.hasEnded else { return nil }
            try await store.extendSession(record.id, to: clock.now.milliseconds + lifetimeMs)
            forget(subjectHash)
            // Read again: housekeeping may have deleted the row before.
            if let session = try await authenticate(tokenHash: subjectHash) { return session }
        }
        do {
            return try await create(name: name, tokenHash: subjectHash)
        } catch {
            // Another request has made it meanwhile, here or at another server.
            guard let session = try await authenticate(tokenHash: subjectHash) else { throw error }
            return session
        }
    }

    /// The session whose token has this hash, where that is known without asking the store, and the session's end need
    /// not be moved; nil where ``authenticate(tokenHash:)`` has to be asked.
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
            // Not worth failing a request for: the next use tries again.
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

    /// Changes a session's name; the name must have passed the rule for names.
    ///
    /// Nil where there is no such session.
    package func rename(_ session: Session, to name: String) async throws(StorageFault) -> Session? {
        guard try await store.renameSession(session.id.uuid, to: name) else { return nil }
        state.withLock { state in
            if let hash = state.hashOfSession[session.id] { state.known[hash]?.record.name = name }
        }
        var session = session
        session.name = name
        return session
    }

    /// Moves the end of a session that is in use; what fails is tried again by the next use.
    package func extend(_ session: SessionID) async {
        try? await store.extendSession(session.uuid, to: clock.now.milliseconds + lifetimeMs)
    }

    /// Kills a session's token; its memberships are ended by who calls this.
    func end(_ session: SessionID) async throws(StorageFault) {
        try await store.endSession(session.uuid, at: clock.now.milliseconds)
        noteEnd(of: session)
    }

    /// Takes in that a session was ended, here or by another server.
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

    /// Whether this process has just ended a session: known before anybody is told of it.
    package func hasEnded(_ session: SessionID) -> Bool {
        state.withLock { $0.ended[session] != nil }
    }

    /// Deletes what is left of a session.
    func delete(_ session: SessionID) async throws(StorageFault) {
        try await store.deleteSession(session.uuid)
        forget(session)
    }

    /// Forgets sessions that nobody has used for some minutes; not to be called while the log is out of reach.
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

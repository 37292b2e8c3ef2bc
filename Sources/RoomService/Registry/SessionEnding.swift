import EventStorage
import Logging
package import RoomDomain
import RoomWire
import Synchronization

/// Ends sessions: their tokens, their connections to this server, and their memberships; may be used on any thread.
package final class SessionEnding: Sendable {
    /// A struct around the closure: a `Mutex` of the bare closure would add one more wrapper to it on every access.
    private struct Listener: Sendable {
        var tell: @Sendable (SessionID) -> Void
    }

    private let registry: RoomRegistry
    private let sessions: SessionRegistry
    /// Receives the ended sessions.
    private let listener = Mutex(Listener { _ in })

    init(registry: RoomRegistry, sessions: SessionRegistry) {
        self.registry = registry
        self.sessions = sessions
    }

    /// Calls `body`, on any thread, with every session that this process finds to have ended.
    package func whenEnded(_ body: @escaping @Sendable (SessionID) -> Void) {
        listener.withLock { $0.tell = body }
    }

    /// Ends a session's connections to this server.
    func tellEnd(of session: SessionID) {
        let tell = listener.withLock { $0.tell }
        tell(session)
    }

    /// Ends a session's connections and memberships; false if some memberships are left, which housekeeping tries
    /// again.
    @discardableResult
    func finish(_ session: SessionID, because reason: LeaveReason) async -> Bool {
        tellEnd(of: session)
        let store = registry.dependencies.store
        do {
            for stream in try await store.memberships(of: session.uuid) {
                let outcome = await registry.command(
                    .endMembership(session: session, reason: reason), to: RoomID(stream), by: .server, key: nil)
                switch outcome {
                case .acknowledged, .keyReused, .failed(.refused), .failed(.noSuchRoom): continue
                case .failed(.unavailable), .failed(.outcomeUnknown), .failed(.busy), .failed(.internalFault):
                    return false
                }
            }
            return try await store.memberships(of: session.uuid).isEmpty
        } catch {
            registry.dependencies.logger.debug("Memberships could not be ended", metadata: ["fault": "\(error)"])
            return false
        }
    }

    /// Returns those of `sessions` that another process may have ended; none while that is unknown, or if no other
    /// process writes the log.
    package func endedElsewhere(_ sessions: [SessionID]) async -> [SessionID] {
        guard registry.dependencies.settings.logIsShared, !sessions.isEmpty else { return [] }
        let ended = (try? await registry.dependencies.store.endedSessions(among: sessions.map(\.uuid))) ?? []
        return ended.map { SessionID($0) }
    }

    /// Ends a session: its token is invalid when this returns, and its memberships end afterwards.
    package func end(_ session: SessionID) async throws(RoomFailure) {
        do {
            try await sessions.end(session)
        } catch {
            throw RoomFailure(error)
        }
        registry.dependencies.bus?.tell(.sessionEnded(session))
        await finish(session, because: .sessionEnded)
    }
}

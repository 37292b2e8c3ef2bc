import EventStorage
import NIOCore
import RoomDomain

/// What a server does by itself from time to time: reads what it may have missed, takes idle rooms out of memory, ends
/// the memberships of sessions that are over.
struct Housekeeping: Sendable {
    private let registry: RoomRegistry
    private let sessions: SessionRegistry
    private let ending: SessionEnding
    private let store: any EventStore
    private let presence: PresenceRegistry
    private let settings: RoomHostSettings
    private let clock: ServerClock

    init(registry: RoomRegistry, sessions: SessionRegistry, ending: SessionEnding) {
        self.registry = registry
        self.sessions = sessions
        self.ending = ending
        store = registry.dependencies.store
        presence = registry.dependencies.presence
        settings = registry.dependencies.settings
        clock = registry.dependencies.clock
    }

    /// Does a round each ``RoomHostSettings/comparisonInterval``, until the task is cancelled.
    func run() async {
        var rounds = 0
        while !Task.isCancelled {
            await clock.sleep(for: settings.comparisonInterval)
            rounds += 1
            await registry.readStale()
            // While hints of other servers arrive, comparing with the log is only for those that are lost.
            if !presence.hearsOthers || rounds % settings.intervalsBetweenComparisons == 0 {
                await registry.compareFollowedRooms()
            }
            await registry.evictIdle()
            if rounds % 10 == 0 { await removeFinishedSessions() }
        }
    }

    private func removeFinishedSessions() async {
        let now = clock.now.milliseconds
        guard let records = try? await store.sessionsToRemove(at: now, limit: Self.sessionsPerRound) else { return }
        sessions.forgetUnused()
        for record in records where !Task.isCancelled {
            let session = SessionID(record.id)
            guard await ending.finish(session, because: record.hasEnded ? .sessionEnded : .expired),
                now - record.expiresAt > Self.mourningMs
            else { continue }
            try? await sessions.delete(session)
        }
    }

    /// How many sessions that are over are looked at in one round.
    private static let sessionsPerRound = 1_000
    /// For how long the row of a session that is over is kept: a command that was on its way when the session ended,
    /// here or on another server, may make it a member once more, and only a row is looked at again.
    private static let mourningMs: Int64 = 60_000
}

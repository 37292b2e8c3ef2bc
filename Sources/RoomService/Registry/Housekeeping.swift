import EventStorage
import Logging
import NIOCore
import RoomDomain

/// The regular tasks of a server: it reads events that it may have missed, removes idle rooms from memory, and ends the
/// memberships of sessions that have ended.
struct Housekeeping: Sendable {
    private let registry: RoomRegistry
    private let sessions: SessionRegistry
    private let ending: SessionEnding
    private let store: any EventStore
    private let presence: PresenceRegistry
    private let settings: RoomHostSettings
    private let clock: ServerClock
    private let logger: Logger

    init(registry: RoomRegistry, sessions: SessionRegistry, ending: SessionEnding) {
        self.registry = registry
        self.sessions = sessions
        self.ending = ending
        store = registry.dependencies.store
        presence = registry.dependencies.presence
        settings = registry.dependencies.settings
        clock = registry.dependencies.clock
        logger = registry.dependencies.logger
    }

    /// Runs a round in each ``RoomHostSettings/comparisonInterval``, until the task is cancelled.
    func run() async {
        var rounds = 0
        var watch = ClockWatch(clock, logger: logger)
        while !Task.isCancelled {
            await clock.sleep(for: settings.comparisonInterval)
            rounds += 1
            watch.look()
            await registry.readStale()
            // While other servers announce their events, the comparison with the log only finds lost announcements.
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
                now - record.expiresAt > Self.keptAfterExpiryMs
            else { continue }
            try? await sessions.delete(session)
        }
    }

    /// The number of ended sessions that one round handles.
    private static let sessionsPerRound = 1_000
    /// The time for which the row of an ended session is kept.
    ///
    /// A command that was on its way when the session ended, here or on another server, may make it a member again, and
    /// only sessions with a row are checked again.
    private static let keptAfterExpiryMs: Int64 = 60_000
}

package import CoreMetrics
package import EventStorage
import FoundationEssentials
package import Logging
package import NIOCore
package import RoomDomain
package import RoomWire
import Synchronization

/// All rooms of this process: found, made, looked at, commanded, followed.
///
/// Every room belongs to one event loop, chosen by its id. ``run()`` must be running for anything to be written.
package final class RoomHost: Sendable {
    package let sessions: SessionRegistry
    package let settings: RoomHostSettings
    package let clock: ServerClock
    let randomness: ServerRandomness
    let store: any EventStore
    let codes = LiveRoomCodes()
    let presence: PresenceDesk
    let shares: LogShares
    /// The rooms that have a place, where they are kept.
    package let nearby: NearbyRooms
    let metrics: RoomMetrics
    let logger: Logger
    /// The way to the other servers on the log; nil where there can be none.
    let link: NodeLink?
    let shelves: [RoomShelf]
    private let turns: [LoopTurns]
    private let groupCommit: GroupCommit
    let jobs = BackgroundJobs()
    /// Runs beside the event loops what grows with a room or a log.
    let heavyWork: HeavyWork
    /// Whether the log can be reached and written.
    let health: LogHealth
    private let sessionEnded = Mutex(SessionListener { _ in })

    /// Who is told of ended sessions.
    ///
    /// A struct around the closure: in a `Mutex` of the bare closure every access would leave it in one more wrapper.
    private struct SessionListener: Sendable {
        var tell: @Sendable (SessionID) -> Void
    }

    /// Makes the rooms of a process, which may live on any of `loops`: at least one.
    ///
    /// Where others serve rooms on the same log, `bus` leads to them and `node` is this process's name among them.
    /// What they record is made by `metrics`; ``RoomMetrics/help`` says what it means. Work that grows with a room or a
    /// log runs on `threads`.
    package init(
        store: any EventStore, settings: RoomHostSettings, loops: [any EventLoop], clock: ServerClock,
        randomness: ServerRandomness = .system, bus: (any NodeBus)? = nil, node: String = "node",
        threads: @escaping HeavyWork.Executors = { _ in nil },
        metrics factory: any MetricsFactory = NOOPMetricsHandler.instance, logger: Logger
    ) {
        self.store = store
        self.settings = settings
        self.clock = clock
        self.randomness = randomness
        self.logger = logger
        health = LogHealth(store: store, jobs: jobs, loop: loops[0])
        sessions = SessionRegistry(
            store: store, clock: clock, randomness: randomness, lifetimeMs: settings.sessionLifetimeMs,
            logIsShared: settings.logIsShared, health: health)
        metrics = RoomMetrics(factory: factory)
        heavyWork = HeavyWork(
            limits: settings.heavyWork, executors: threads, jobs: jobs, metrics: HeavyWorkMetrics(factory: factory))
        groupCommit = GroupCommit(
            store: store, health: health, loop: loops[0], metrics: metrics, logger: logger)
        let (jobs, metrics) = (jobs, metrics)
        link = bus.map {
            NodeLink(bus: $0, node: node, loop: loops[0], jobs: jobs, metrics: metrics, logger: logger)
        }
        presence = PresenceDesk(link: link, settings: settings, loop: loops[0], metrics: metrics)
        nearby = NearbyRooms(
            store: store, presence: presence, clock: clock, settings: settings, logger: logger)
        shares = LogShares(settings, metrics: metrics)
        let dependencies = Dependencies(
            store: store, groupCommit: groupCommit, groupRead: GroupRead(store: store, jobs: jobs), jobs: jobs,
            heavyWork: heavyWork, clock: clock, presence: presence, shares: shares,
            signalShares: SignalShares(perSecond: settings.maximumSignalsPerSecond),
            signalBacklog: SignalBacklog(maximum: settings.maximumWaitingSignalBytes), link: link,
            settings: settings, metrics: metrics, logger: logger)
        let codes = codes
        turns = loops.map { LoopTurns(of: $0) }
        shelves = turns.map { RoomShelf(turns: $0, dependencies: dependencies, codes: codes) }
    }

    /// Writes, reads and keeps house until ``shutDown()`` or cancellation; returns when all that was handed over has
    /// been written and all that was being read has been read.
    package func run() async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.jobs.run() }
                await withDiscardingTaskGroup { house in
                    house.addTask { await self.keepHouse() }
                    house.addTask { await self.keepErasing() }
                    if settings.keepsNearby { house.addTask { await self.nearby.run() } }
                    if let link {
                        house.addTask { await link.run { self.heard($0) } }
                        house.addTask { await self.keepPresence() }
                    }
                    await groupCommit.run(flushes: settings.flushesSideBySide)
                    house.cancelAll()
                    await link?.tellLast(.presenceEnded)
                }
                // Not cancelled: somebody waits for what each job reads.
                jobs.close()
            }
        } onCancel: {
            shutDown()
        }
    }

    /// Takes no more appends, finishes those handed over, and lets ``run()`` return.
    package func shutDown() {
        groupCommit.close()
    }

    /// Returns when the event log can be reached and the last write to it succeeded.
    ///
    /// Needs ``run()``. Answers within some 20 ms where it did so in the last two seconds.
    package func checkHealth() async throws(StorageFault) {
        try await health.check()
    }

    /// How many rooms are in memory.
    package func liveRooms() async -> Int {
        var count = 0
        for shelf in shelves { count += await shelf.liveRooms }
        return count
    }

    // MARK: Visiting rooms

    /// Calls `visit` on the room's event loop.
    ///
    /// Calls from one event loop about one room keep their order.
    package func visit(_ id: RoomID, _ visit: @escaping RoomShelf.Visit) {
        let shelf = shelf(of: id)
        if shelf.loop.inEventLoop {
            shelf.assumeIsolated { $0.visit(id, visit) }
        } else {
            shelf.loop.execute { shelf.assumeIsolated { $0.visit(id, visit) } }
        }
    }

    /// What one of the rooms' loops does in turns: the same for its rooms and for whoever else asks.
    package func turns(of loop: any EventLoop) -> LoopTurns {
        turns.first { $0.loop === loop } ?? LoopTurns(of: loop)
    }

    /// The shelf on which a room stands, where it is in memory.
    func shelf(of id: RoomID) -> RoomShelf {
        shelves[Int(UInt(bitPattern: id.uuid.hashValue) % UInt(shelves.count))]
    }

    /// The live room with this code, where there is one in this process.
    package func liveRoom(code: RoomCode) -> RoomID? {
        codes.room(code)
    }

    /// The room meant by an id or a code.
    package func resolve(_ reference: RoomReference) async throws(RoomFailure) -> RoomID {
        switch reference {
        case .id(let id):
            return id
        case .code(let code):
            if let id = codes.room(code) { return id }
            let found: UUID?
            do throws(StorageFault) {
                found = try await store.stream(code: code.description)
            } catch {
                throw RoomFailure(error)
            }
            guard let found else { throw .noSuchRoom }
            return RoomID(found)
        }
    }

    /// Calls `done`, on any thread, with the room meant by an id or a code.
    package func resolve(_ reference: RoomReference, _ done: @escaping @Sendable (Result<RoomID, RoomFailure>) -> Void)
    {
        let isStarted = jobs.start {
            do throws(RoomFailure) {
                done(.success(try await self.resolve(reference)))
            } catch {
                done(.failure(error))
            }
        }
        if !isStarted { done(.failure(.unavailable)) }
    }

    /// Runs `body` on the room's event loop, once the room is known to be at its log's head or the log to be out of
    /// reach, and returns what it gives.
    func withRoom<Value: Sendable>(
        _ id: RoomID, _ body: @escaping @Sendable (isolated LiveRoom) -> Value
    ) async throws(RoomFailure) -> Value {
        let result: Result<Value, RoomFailure> = await withCheckedContinuation { continuation in
            visitVerified(id) { result in
                continuation.resume(returning: result.map { room in room.assumeIsolated { body($0) } })
            }
        }
        return try result.get()
    }

    /// Calls `visit` on the room's event loop, once the room is known to be at its log's head or the log to be out of
    /// reach.
    func visitVerified(_ id: RoomID, _ visit: @escaping @Sendable (Result<LiveRoom, RoomFailure>) -> Void) {
        self.visit(id) { result in
            switch result {
            case .success(let room):
                room.assumeIsolated { isolated in
                    isolated.verify {
                        let isForgotten = room.assumeIsolated { $0.condition == .forgotten }
                        visit(isForgotten ? .failure(.noSuchRoom) : .success(room))
                    }
                }
            case .failure(let failure):
                visit(.failure(failure))
            }
        }
    }

    /// The same for a session that may look at the room.
    func withRoom<Value: Sendable>(
        _ id: RoomID, for session: SessionID, _ body: @escaping @Sendable (isolated LiveRoom) -> Value
    ) async throws(RoomFailure) -> Value {
        let result: Result<Value, RoomFailure> = try await withRoom(id) { room in
            room.refusal(of: session).map { .failure(.refused($0)) } ?? .success(body(room))
        }
        return try result.get()
    }

    /// Lets a room that is in memory read its log again, whatever is known of it.
    func readAgain(_ id: RoomID) {
        let shelf = shelf(of: id)
        shelf.loop.execute { shelf.assumeIsolated { $0.readAgain(id) } }
    }

    // MARK: Housekeeping

    /// Whether hints of other servers arrive, so that comparing with the log is only for those that are lost.
    private var hearsOthers: Bool { presence.hearsOthers }

    private func keepHouse() async {
        var rounds = 0
        while !Task.isCancelled {
            await clock.sleep(for: settings.comparisonInterval)
            rounds += 1
            for shelf in shelves { await shelf.readStale() }
            if !hearsOthers || rounds % settings.intervalsBetweenComparisons == 0 { await compareFollowedRooms() }
            for shelf in shelves { await shelf.evictIdle() }
            if rounds % 10 == 0 { await removeFinishedSessions() }
        }
    }

    /// Lets the rooms that somebody follows read what the log has beyond them.
    func compareFollowedRooms() async {
        var followed: [UUID] = []
        for shelf in shelves { followed += await shelf.followedRooms().map(\.uuid) }
        guard !followed.isEmpty, let heads = try? await store.heads(of: followed) else { return }
        for shelf in shelves { await shelf.compare(with: heads, of: followed) }
    }

    private func removeFinishedSessions() async {
        let now = clock.now.milliseconds
        guard let records = try? await store.sessionsToRemove(at: now, limit: Self.sessionsPerRound) else { return }
        sessions.forgetUnused()
        for record in records where !Task.isCancelled {
            let session = SessionID(record.id)
            guard await finish(session, because: record.hasEnded ? .sessionEnded : .expired),
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

    /// Calls `body`, on any thread, with every session that this process finds to be over.
    package func whenSessionEnds(_ body: @escaping @Sendable (SessionID) -> Void) {
        sessionEnded.withLock { $0.tell = body }
    }

    /// Ends a session's connections to this server.
    func tellEnd(of session: SessionID) {
        let tell = sessionEnded.withLock { $0.tell }
        tell(session)
    }

    /// Ends a session's connections and memberships; false where some are left, for housekeeping to try again.
    @discardableResult
    func finish(_ session: SessionID, because reason: LeaveReason) async -> Bool {
        tellEnd(of: session)
        do {
            for stream in try await store.memberships(of: session.uuid) {
                let outcome = await command(
                    .endMembership(session: session, reason: reason), to: RoomID(stream), by: .server, key: nil)
                switch outcome {
                case .acknowledged, .keyReused, .failed(.refused), .failed(.noSuchRoom): continue
                case .failed(.unavailable), .failed(.busy), .failed(.internalFault): return false
                }
            }
            return try await store.memberships(of: session.uuid).isEmpty
        } catch {
            logger.debug("A session could not be finished", metadata: ["fault": "\(error)"])
            return false
        }
    }
}

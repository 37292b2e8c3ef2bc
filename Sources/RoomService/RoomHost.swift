package import CoreMetrics
package import EventStorage
package import Logging
package import NIOCore
import RoomWire

/// The rooms of this process and all that serves them: made here, and run.
///
/// ``run()`` must be running for anything to be written. What one asks of rooms is with the parts.
package final class RoomHost: Sendable {
    /// The rooms themselves: found, commanded, looked at, followed.
    package let registry: RoomRegistry
    package let creation: RoomCreation
    package let history: RoomHistory
    package let listing: RoomListing
    /// The rooms that have a place, where they are kept.
    package let nearby: NearbyRooms
    package let sessions: SessionRegistry
    package let sessionEnding: SessionEnding
    package let settings: RoomHostSettings
    package let clock: ServerClock
    private let jobs = BackgroundJobs()
    private let health: LogHealth
    private let groupCommit: GroupCommit
    private let housekeeping: Housekeeping
    private let erasure: RoomErasure
    private let inbox: ClusterInbox
    /// The way to the other servers on the log; nil where there can be none.
    private let bus: ClusterBus?

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
        self.settings = settings
        self.clock = clock
        health = LogHealth(store: store, jobs: jobs, loop: loops[0])
        sessions = SessionRegistry(
            store: store, clock: clock, randomness: randomness, lifetimeMs: settings.sessionLifetimeMs,
            logIsShared: settings.logIsShared, health: health)
        let metrics = RoomMetrics(factory: factory)
        groupCommit = GroupCommit(
            store: store, health: health, loop: loops[0], metrics: metrics, logger: logger)
        let jobs = jobs
        self.bus = bus.map {
            ClusterBus(bus: $0, node: node, loop: loops[0], jobs: jobs, metrics: metrics, logger: logger)
        }
        let presence = PresenceRegistry(bus: self.bus, settings: settings, loop: loops[0], metrics: metrics)
        nearby = NearbyRooms(
            store: store, presence: presence, clock: clock, settings: settings, jobs: jobs, logger: logger)
        let dependencies = Dependencies(
            store: store, groupCommit: groupCommit, batchedReads: BatchedReads(store: store, jobs: jobs), jobs: jobs,
            heavyWork: HeavyWork(
                limits: settings.heavyWork, executors: threads, jobs: jobs, metrics: HeavyWorkMetrics(factory: factory)
            ),
            clock: clock, presence: presence, shares: LogShares(settings, metrics: metrics),
            signalShares: SignalShares(perSecond: settings.maximumSignalsPerSecond),
            signalBacklog: SignalBacklog(maximum: settings.maximumWaitingSignalBytes), bus: self.bus,
            settings: settings, metrics: metrics, logger: logger)
        registry = RoomRegistry(dependencies: dependencies, loops: loops)
        creation = RoomCreation(registry: registry, health: health, randomness: randomness)
        history = RoomHistory(registry: registry)
        listing = RoomListing(dependencies)
        sessionEnding = SessionEnding(registry: registry, sessions: sessions)
        housekeeping = Housekeeping(registry: registry, sessions: sessions, ending: sessionEnding)
        erasure = RoomErasure(registry: registry, randomness: randomness)
        inbox = ClusterInbox(registry: registry, sessions: sessions, ending: sessionEnding)
    }

    /// Writes, reads and runs housekeeping until ``shutDown()`` or cancellation; returns when all that was handed over has
    /// been written and all that was being read has been read.
    package func run() async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.jobs.run() }
                await withDiscardingTaskGroup { house in
                    house.addTask { await self.housekeeping.run() }
                    house.addTask { await self.erasure.run() }
                    if settings.keepsNearby { house.addTask { await self.nearby.run() } }
                    if let bus {
                        house.addTask { await bus.run { self.inbox.heard($0) } }
                        house.addTask { await self.inbox.keepPresence() }
                    }
                    await groupCommit.run(flushes: settings.flushesSideBySide)
                    house.cancelAll()
                    await bus?.tellLast(.presenceEnded)
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
}

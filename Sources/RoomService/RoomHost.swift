package import CoreMetrics
package import EventStorage
package import Logging
package import NIOCore
import RoomWire

/// The rooms of this process, with everything that serves them: created here, and run.
///
/// ``run()`` must be running for anything to be written. Requests about rooms go to the parts.
package final class RoomHost: Sendable {
    /// The rooms themselves: find, command, view and follow them.
    package let registry: RoomRegistry
    package let creation: RoomCreation
    package let history: RoomHistory
    package let waveforms: RoomWaveforms
    package let listing: RoomListing
    /// Lists a session's own rooms.
    package let sessionRooms: SessionRooms
    /// Answers questions about what is counted; nil if nothing is.
    package let statistics: StatisticsReader?
    /// The open public rooms that have a place, if they are kept in memory.
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
    /// Writes what is counted; nil if nothing is.
    private let statisticsWriter: StatisticsWriter?
    /// The bus to the other servers on the log; nil if there can be none.
    private let bus: ClusterBus?

    /// Makes the rooms of a process, which live on `loops`, of which there must be at least one.
    ///
    /// What happens is counted in `statistics`; nil: nothing is counted. If other servers serve rooms on the same log, `bus` connects them, and `node` is this process's name among them.
    /// `metrics` makes the metrics, which ``RoomMetrics/help`` explains. Work whose cost grows with a room or a log
    /// runs on `threads`.
    package init(
        store: any EventStore, statistics: (any StatisticsStore)? = nil, settings: RoomHostSettings,
        loops: [any EventLoop], clock: ServerClock,
        randomness: ServerRandomness = .system, bus: (any NodeBus)? = nil, node: String = "node",
        threads: @escaping HeavyWork.Executors = { _ in nil },
        metrics factory: any MetricsFactory = NOOPMetricsHandler.instance, logger: Logger
    ) {
        self.settings = settings
        self.clock = clock
        health = LogHealth(store: store, jobs: jobs, loop: loops[0], logger: logger)
        sessions = SessionRegistry(
            store: store, clock: clock, randomness: randomness, lifetimeMs: settings.sessionLifetimeMs,
            logIsShared: settings.logIsShared, health: health)
        let metrics = RoomMetrics(factory: factory)
        groupCommit = GroupCommit(
            store: store, health: health, loop: loops[0], metrics: metrics.log, logger: logger)
        let jobs = jobs
        self.bus = bus.map {
            ClusterBus(bus: $0, node: node, loop: loops[0], jobs: jobs, metrics: metrics.bus, logger: logger)
        }
        let presence = PresenceRegistry(bus: self.bus, settings: settings, loop: loops[0], metrics: metrics.bus)
        nearby = NearbyRooms(
            store: store, presence: presence, clock: clock, settings: settings, jobs: jobs, logger: logger)
        let countingMetrics = StatisticsMetrics(factory: factory)
        statisticsWriter = statistics.map {
            // Alone on its log, a server goes on with what it saw of a minute before it was started again.
            StatisticsWriter(
                statistics: $0, store: store, loop: loops[0], clock: clock,
                node: settings.logIsShared ? node : "server", settings: settings,
                metrics: countingMetrics, logger: logger)
        }
        let dependencies = Dependencies(
            store: store, groupCommit: groupCommit, batchedReads: BatchedReads(store: store, jobs: jobs), jobs: jobs,
            heavyWork: HeavyWork(
                limits: settings.heavyWork, executors: threads, jobs: jobs, metrics: HeavyWorkMetrics(factory: factory)
            ),
            clock: clock, randomness: randomness, presence: presence, shares: LogShares(settings, metrics: metrics.log),
            readShares: ReadShares(settings.shares, metrics: metrics.log),
            signals: SignalRelay(
                shares: SignalShares(perSecond: settings.shares.maximumSignalsPerSecond),
                backlog: SignalBacklog(maximum: settings.shares.maximumWaitingSignalBytes), registry: presence,
                metrics: metrics),
            bus: self.bus, counting: statisticsWriter?.rooms, observed: statisticsWriter?.observed,
            settings: settings, metrics: metrics, logger: logger)
        registry = RoomRegistry(dependencies: dependencies, loops: loops)
        let (registry, nearby) = (registry, nearby)
        self.statistics = statistics.map {
            StatisticsReader(
                registry: registry, nearby: nearby, statistics: $0, settings: settings.counting, loop: loops[0],
                logger: logger)
        }
        creation = RoomCreation(registry: registry, health: health, randomness: randomness)
        history = RoomHistory(registry: registry)
        waveforms = RoomWaveforms(registry: registry)
        listing = RoomListing(dependencies)
        sessionRooms = SessionRooms(registry)
        sessionEnding = SessionEnding(registry: registry, sessions: sessions)
        housekeeping = Housekeeping(registry: registry, sessions: sessions, ending: sessionEnding)
        erasure = RoomErasure(registry: registry, randomness: randomness)
        inbox = ClusterInbox(registry: registry, sessions: sessions, ending: sessionEnding)
    }

    /// Writes, reads and runs housekeeping until ``shutDown()`` or cancellation.
    ///
    /// Returns when everything that was submitted has been written, and all reads under way have ended.
    package func run() async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.jobs.run() }
                await withDiscardingTaskGroup { tasks in
                    tasks.addTask { await self.housekeeping.run() }
                    tasks.addTask { await self.erasure.run() }
                    if let statisticsWriter { tasks.addTask { await statisticsWriter.run() } }
                    if let statistics { tasks.addTask { await statistics.run() } }
                    if settings.nearby.isKept { tasks.addTask { await self.nearby.run() } }
                    if let bus {
                        tasks.addTask { await bus.run { self.inbox.heard($0) } }
                        tasks.addTask { await self.inbox.keepPresence() }
                    }
                    await groupCommit.run(flushes: settings.flushesSideBySide)
                    tasks.cancelAll()
                    await bus?.tellLast(.presenceEnded)
                }
                // Jobs are not cancelled, because something waits for each job's result.
                jobs.close()
            }
        } onCancel: {
            shutDown()
        }
    }

    /// Accepts no more appends, finishes those submitted, and lets ``run()`` return.
    package func shutDown() {
        groupCommit.close()
    }

    /// Returns when the event log can be reached and the last write to it succeeded.
    ///
    /// Needs ``run()``. Answers within about 20 ms if it succeeded in the last two seconds.
    package func checkHealth() async throws(StorageFault) {
        try await health.check()
    }
}

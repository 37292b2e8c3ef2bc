import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomService
import SimulatedTime
import Synchronization

/// One life of a server with its rooms: from its start to its crash or the world's end.
final class SimulatedNode: Sendable {
    let name: String
    let host: RoomHost
    let feed: SimulatedFeed
    let store: SimulatedEventStore
    let executor: SimulatedExecutor
    private let bus: SimulatedNodeBus?
    private let scheduler: Scheduler
    private let lanes: [Scheduler.Lane]
    private let log: SimulatedLog
    private let crashed = Atomic(false)

    /// Starts a server whose clock is ahead of the world's by `skew` milliseconds.
    init(
        _ name: String, log: SimulatedLog, network: SimulatedNetwork?, settings: RoomHostSettings, loops count: Int,
        skew: Double,
        mustResume: Bool, tell: @escaping @Sendable (SimulatedFeed.News) -> Void
    ) {
        self.name = name
        let (scheduler, dice) = (log.scheduler, log.dice)
        self.scheduler = scheduler
        self.log = log
        let executor = SimulatedExecutor(scheduler)
        let loops = (0..<count).map { _ in SimulatedEventLoop(scheduler) }
        self.executor = executor
        bus = network.map { SimulatedNodeBus($0, node: name, scheduler) }
        lanes = [executor.lane] + loops.map(\.lane) + (bus.map { [$0.lane] } ?? [])
        store = SimulatedEventStore(log, node: name, executor: executor)
        let clock = ServerClock(
            milliseconds: { Self.beginning + skew + Double(scheduler.now) / 1_000_000 },
            wait: { await executor.sleep(for: $0) })
        feed = SimulatedFeed(
            truth: log.truth, clock: clock, resumableEvents: settings.answers.resumableEvents, mustResume: mustResume,
            logIsShared: settings.logIsShared, tell: tell)
        host = RoomHost(
            store: store, statistics: store, settings: settings, loops: loops, clock: clock,
            randomness: ServerRandomness { dice.bits() }, bus: bus, node: name,
            logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() })
        let host = host
        run { await host.run() }
    }

    /// The time at which worlds begin, in milliseconds since the Unix epoch.
    static let beginning = 1_732_200_000_000.0

    var hasCrashed: Bool { crashed.load(ordering: .relaxed) }

    /// Runs a task on this server.
    func run(_ body: @escaping @Sendable () async -> Void) {
        let log = log
        log.tasks.add(1, ordering: .relaxed)
        _ = Task(executorPreference: executor) {
            await body()
            log.tasks.subtract(1, ordering: .relaxed)
        }
    }

    /// Subscribes a connection to a room.
    func follow(_ request: SubscriptionRequest, _ room: RoomID) {
        feed.add(request, to: room)
        host.registry.subscribe(request, to: room)
    }

    /// Unsubscribes a connection from a room.
    func unfollow(_ connection: ConnectionID, _ room: RoomID, because end: SubscriptionEnd) {
        let feed = feed
        host.registry.unsubscribe(connection, from: room, because: end)
        // After the room has learnt it.
        host.registry.visit(room) { _ in feed.gone(connection) }
    }

    /// Pauses the server, as a stopped process does, or resumes it.
    func pause(_ isPaused: Bool) {
        guard !hasCrashed else { return }
        for lane in lanes { scheduler.stop(lane, isPaused) }
    }

    /// Cuts the server off from the log and the other servers, or reconnects it.
    func cutOff(_ isCutOff: Bool) {
        store.isCutOff = isCutOff
        bus?.cutOff(isCutOff)
    }

    /// Stops the server for ever; see ``SimulatedEventStore/crash(writesOutlive:)``.
    func crash(writesOutlive: Bool) {
        crashed.store(true, ordering: .relaxed)
        store.crash(writesOutlive: writesOutlive)
        bus?.cutOff(true)
        for lane in lanes { scheduler.stop(lane, true) }
    }

    /// Completes everything that it has begun, after all checks.
    func end() {
        for lane in lanes { scheduler.stop(lane, false) }
        feed.end()
        host.shutDown()
    }
}

import EventStorage
import FoundationEssentials
import InMemoryLogging
import NIOCore
import PrometheusMetrics
import RandomTestSupport
import RoomDomain
import RoomTestSupport
import RoomWire
import SimulatedTime
import Synchronization

@testable import RoomService

/// What the parts of a room need that are tested without the room: times of the test's own, and a room of three members.
struct RoomParts {
    /// A time of the event loops, which the tests count from.
    static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    /// The owner, who is member 1; the guests 2 and 3 are ``Person/bob`` and ``Person/cyd``.
    static let ana = Person.guest(1)

    /// The events of a ban of the guest 2.
    static let bobIsBanned: [RoomEvent] = [
        .memberLeft(MemberLeft(member: 2, reason: .banned, by: 1)),
        .memberBanned(member: 2, by: 1, session: Person.bob.session),
    ]

    let id = RoomID(UUID())
    private let scheduler = Scheduler(seed: TestSeed.fixed(1))
    let clock = ManualClock()
    let store = MemoryEventStore()
    let dependencies: Dependencies

    init(settings change: (inout RoomHostSettings) -> Void = { _ in }) {
        var settings = RoomHostSettings()
        change(&settings)
        let (clock, store, loop, jobs) = (clock, store, SimulatedEventLoop(scheduler), BackgroundJobs())
        let logger = InMemoryLogHandler().logger
        let metrics = RoomMetrics(factory: PrometheusRegistry())
        let presence = PresenceRegistry(bus: nil, settings: settings, loop: loop, metrics: metrics.bus)
        dependencies = Dependencies(
            store: store,
            groupCommit: GroupCommit(
                store: store, health: LogHealth(store: store, jobs: jobs, loop: loop, logger: logger), loop: loop,
                metrics: metrics.log, logger: logger),
            batchedReads: BatchedReads(store: store, jobs: jobs), jobs: jobs,
            heavyWork: HeavyWork(
                limits: settings.heavyWork, executors: { _ in nil }, jobs: jobs,
                metrics: HeavyWorkMetrics(factory: PrometheusRegistry())),
            clock: ServerClock(milliseconds: { Double(clock.now) }), randomness: .system, presence: presence,
            shares: LogShares(settings, metrics: metrics.log),
            readShares: ReadShares(settings.shares, metrics: metrics.log),
            signals: SignalRelay(
                shares: SignalShares(perSecond: settings.shares.maximumSignalsPerSecond),
                backlog: SignalBacklog(maximum: settings.shares.maximumWaitingSignalBytes), registry: presence,
                metrics: metrics),
            bus: nil, settings: settings, metrics: metrics, logger: logger)
    }

    /// The first events of the room, and others.
    func events(and more: [RoomEvent] = []) -> [RecordedEvent] {
        let first: [RoomEvent] = [
            .roomCreated(
                RoomCreated(
                    id: id, code: .zero, name: "Kitchen", location: nil, visibility: .public, settings: RoomSettings())),
            .memberJoined(member: 1, name: "Ana", role: .owner, session: Self.ana.session),
            .memberJoined(member: 2, name: "Bob", role: .guest, session: Person.bob.session),
            .memberJoined(member: 3, name: "Cyd", role: .guest, session: Person.cyd.session),
        ]
        return (first + more).enumerated().map {
            RecordedEvent(seq: $0 + 1, at: Timestamp(milliseconds: 1), event: $1)
        }
    }

    /// The room after these events.
    func loaded(_ more: [RoomEvent] = [], epoch: String = "first") -> DecodedRoom {
        let events = events(and: more)
        var state = RoomState(id: id)
        for event in events { state.evolve(event) }
        return DecodedRoom(
            head: StreamHead(epoch: epoch, version: StreamVersion(seq: events.count, keyed: 0)), state: state,
            keys: IdempotencyWindow(), recent: RecentEvents(events), snapshotSeq: 0)
    }

    /// The same as the machine has it.
    func room(_ more: [RoomEvent] = [], epoch: String = "first") -> RoomWriter {
        RoomWriter(loaded(more, epoch: epoch), limits: RoomWriter.Limits(dependencies.settings, isCounting: false))
    }

    /// What follows the room.
    func following() -> RoomFollowing { RoomFollowing(of: id, dependencies) }

    /// A request to follow the room.
    func request(
        _ connection: Int, _ person: Person, _ wish: SubscriptionWish = .begin(id: nil, from: nil), feed: NewsFeed
    ) -> SubscriptionRequest {
        SubscriptionRequest(
            connection: ConnectionID(rawValue: connection), asker: person.asker, wish, feed: feed)
    }

    /// A command of a person.
    static func command(
        _ command: RoomCommand, by person: Person = ana, key: String? = nil,
        countNewcomer: (@Sendable () -> Int?)? = nil, place: CommandPlace? = nil
    ) -> CommandRequest {
        CommandRequest(
            actor: person.actor, key: key, command: command, countNewcomer: countNewcomer, place: place
        ) { _ in }
    }
}

/// A feed that keeps what it is told.
final class NewsFeed: RoomFeed {
    private let kept = Mutex<[RoomNews]>([])

    /// What it was told, in order.
    var news: [RoomNews] { kept.withLock { $0 } }

    func tell(_ news: RoomNews) { kept.withLock { $0.append(news) } }
}

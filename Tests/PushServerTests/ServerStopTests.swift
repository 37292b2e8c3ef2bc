import EventStorage
import InMemoryLogging
import Logging
import NIOCore
import NIOPosix
import PrometheusMetrics
import RandomTestSupport
import RoomService
import SimulatedTime
import Testing

@testable import PushServer

/// `ServerStop` without clients; the end-to-end tests have some.
@Suite struct ServerStopTests {
    private func listener() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
    }

    private func stop(_ requests: HTTPActivity, drainDelay: TimeAmount = .zero) -> ServerStop {
        var settings = RoomServerSettings(version: "1", node: "a")
        settings.drainDelay = drainDelay
        settings.times.closeTimeout = .milliseconds(20)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return ServerStop(settings: settings, feeds: [], requests: requests, logger: logger)
    }

    @Test func `a server that serves has not begun to stop, and one that has stopped accepts nobody`() async throws {
        let (listener, stop) = (try await listener(), stop(HTTPActivity()))
        #expect(!stop.hasBegun && !stop.isDraining)
        await stop.drain(listener)
        #expect(stop.hasBegun && stop.isDraining && !listener.isActive)
    }

    @Test func `load balancers are told before clients are sent away`() async throws {
        let (listener, stop) = (try await listener(), stop(HTTPActivity(), drainDelay: .hours(1)))
        let end = Task { await stop.drain(listener) }
        while !stop.hasBegun { await Task.yield() }
        #expect(!stop.isDraining && listener.isActive)
        // As when the delay is over.
        end.cancel()
        await end.value
        #expect(stop.isDraining && !listener.isActive)
    }

    /// A connection without a request, which a stop closes at once.
    private final class Idle: Deadlined {
        private let id: ConnectionID
        private unowned let loop: LoopContext
        var wheelTick: Int?

        init(on loop: LoopContext) {
            (self.loop, id) = (loop, loop.makeID())
            loop.deadlines.lookAfter(self, id, at: loop.now + .hours(1))
        }

        func deadlineReached(at now: NIODeadline) -> NIODeadline? { nil }
        func drain() { loop.deadlines.forget(id) }
    }

    @Test(arguments: [(0, 0), (1, 20), (10, 200), (999, 19_980), (1_000, 20_000), (2_000, 20_000)])
    func `a stop takes twenty milliseconds for each connection, and no longer than was set`(
        connections: Int, milliseconds: Int
    ) async throws {
        let (listener, log, registry) = (try await listener(), InMemoryLogHandler(), PrometheusRegistry())
        let logger = Logger(label: "test") { _ in log }
        var settings = RoomServerSettings(version: "1", node: "a")
        settings.drainWindow = .seconds(20)
        let metrics = ServerMetrics(registry: registry, version: "1", node: "a")
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { [settings] time in
            let loop = time.makeLoop()
            let rooms = RoomHost(
                store: MemoryEventStore(), settings: RoomHostSettings(), loops: [loop],
                clock: ServerClock(milliseconds: { 0 }), logger: logger)
            let feed = HubFeed(loop: loop)
            try await loop.submit {
                let context = LoopContext(
                    eventLoop: loop, index: 0, of: 1, rooms: rooms, settings: settings,
                    admission: Admission(settings, registry: registry), probe: metrics.probe(loop, index: 0))
                feed.attach(ConnectionHub(loop: context, feed: feed))
                for _ in 0..<connections { _ = Idle(on: context) }
            }.get()
            let stop = ServerStop(settings: settings, feeds: [feed], requests: HTTPActivity(), logger: logger)
            await stop.drain(listener)
            #expect(log.entries.compactMap { $0.metadata["windowMs"] } == ["\(milliseconds)"])
        }
    }

    /// In real time, since the stop sleeps by the machine's clock: some milliseconds.
    @Test func `a request that does not end is waited for, for a time, and connections are closed`() async throws {
        let requests = HTTPActivity()
        let (listener, connection, stop) = (try await listener(), try await listener(), stop(requests))
        requests.opened(connection, nil)
        requests.began()
        await stop.drain(listener)
        try await connection.closeFuture.get()
        #expect(requests.openConnections == 0)
    }
}

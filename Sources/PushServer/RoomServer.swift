import Glibc
package import Logging
package import NIOCore
import NIOPosix
package import PrometheusMetrics
package import RoomService
import ServiceLifecycle
import Synchronization
import TLSTransport

/// The server's network side: one port for HTTP and WebSocket, with TLS below both.
package final class RoomServer: Service, Sendable {
    private let settings: RoomServerSettings
    private let rooms: RoomHost
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onReady: @Sendable (SocketAddress) -> Void
    private let feeds: [HubFeed]
    private let phase = Mutex(Phase.serving)
    private let connections = BackgroundJobs()
    private let requests = HTTPActivity()
    private let addresses: AddressLimit
    private let admission: Admission
    private let authenticator: Authenticator
    private let metrics: ServerMetrics

    /// Makes a server whose `/metrics` shows `registry`.
    ///
    /// `onReady` is called once, with the address on which the server listens, when clients can connect.
    package init(
        settings: RoomServerSettings, rooms: RoomHost, group: any EventLoopGroup,
        registry: PrometheusRegistry, logger: Logger,
        onReady: @escaping @Sendable (SocketAddress) -> Void
    ) {
        self.settings = settings
        self.rooms = rooms
        self.group = group
        self.logger = logger
        self.onReady = onReady
        addresses = AddressLimit(
            maximum: settings.maximumConnectionsPerAddress, proxies: settings.trustedProxies)
        admission = Admission(settings, registry: registry)
        authenticator = Authenticator(rooms: rooms, tokens: settings.tokens, logger: logger)
        metrics = ServerMetrics(registry: registry, version: settings.version, node: settings.node)
        feeds = group.makeIterator().map { HubFeed(loop: $0) }
    }

    /// Listens and serves until asked to stop; then disconnects every client and returns.
    package func run() async throws {
        Heap.prepare()
        for (index, feed) in feeds.enumerated() {
            try await feed.loop.submit { self.attachHub(to: feed, index: index) }.get()
        }
        rooms.sessionEnding.whenEnded { session in
            for feed in self.feeds { feed.onLoop { $0.sessionEnded(session) } }
        }
        let api = HTTPAPI(
            rooms: rooms, settings: settings, feeds: feeds, addresses: addresses, admission: admission,
            authenticator: authenticator, isStopping: { self.isStopping }, metrics: { await self.exposition() },
            logger: logger)
        let connections = connections
        let http = HTTPConnections(
            responder: api.responder(), settings: settings, admission: admission, activity: requests,
            start: { connections.start($0) }, logger: logger)
        let setup = ConnectionSetup(
            settings: settings, addresses: addresses, admission: admission,
            checks: ServerOpeningChecks(
                authenticator: authenticator, rooms: rooms.registry, admission: admission, jobs: connections,
                draining: { self.isDraining }),
            http: http, plainRequests: PlainRequestGate(settings),
            resources: try settings.tls.map { _ in try TLSEventLoopGroupResources(group) })
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { listener in
                listener.eventLoop.makeCompletedFuture {
                    let feed = self.feeds.first { $0.loop === listener.eventLoop }
                    let gate = NewcomerGate(self.addresses) { feed?.onLoop { $0.loop.tally.connectionsRefused += 1 } }
                    try AcceptPause.add(to: listener, before: [gate])
                }
            }
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Bytes that the peer does not take stay in this process, where they are bounded and deltas can be dropped,
            // instead of filling megabytes of the system's buffers.
            .childChannelOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsentInSystem
            )
            // SwiftNIO keeps the last buffer of each channel: a small one, unless the peer sends much.
            .childChannelOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 1_024, maximum: 16_384)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let hub = self.feeds.first(where: { $0.loop === channel.eventLoop })?.attached else {
                        throw ChannelError.inappropriateOperationForState
                    }
                    try setup.prepare(channel, hub)
                }
            }
            .bind(host: settings.host, port: settings.port).get()
        let metricsListener = try await listenForMetrics()
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await self.connections.run() }
            tasks.addTask { await self.runHousekeeping() }
            for feed in feeds { tasks.addTask { await Self.turnWheel(of: feed) } }
            if let address = listener.localAddress { onReady(address) }
            // Sleeps until the stop; cancellation ends it as well.
            await Self.untilGracefulShutdown()
            await drain(listener)
            try? await metricsListener?.close()
            connections.close()
            tasks.cancelAll()
        }
    }

    /// The progress of a stop.
    private enum Phase {
        /// No signal has arrived.
        case serving
        /// Load balancers are told; everything is still served.
        case leavingRotation
        /// Clients are disconnected, and no new ones are accepted.
        case draining
    }

    /// The most bytes that the system holds for one connection and has not sent.
    private static let unsentInSystem: ChannelOptions.Types.SocketOption.Value = 131_072

    private var isStopping: Bool { phase.withLock { $0 } != .serving }
    private var isDraining: Bool { phase.withLock { $0 } == .draining }

    /// Returns the text that `/metrics` answers.
    private func exposition() async -> [UInt8] {
        var tallies: [ConnectionTally] = []
        for feed in feeds {
            let tally = try? await feed.loop.submit { feed.attached?.currentTally() }.get()
            if let tally { tallies.append(tally) }
        }
        return metrics.exposition(
            of: tallies, httpConnections: requests.openConnections, liveRooms: await rooms.registry.liveRooms(),
            waitingBytes: admission.waiting.count, nearby: rooms.nearby.standing)
    }

    private func listenForMetrics() async throws -> (any Channel)? {
        guard let address = settings.metricsAddress else { return nil }
        let channel = try await MetricsListener(jobs: connections) { await self.exposition() }.bind(address, on: group)
        logger.info("Serving metrics", metadata: ["address": "\(channel.localAddress?.description ?? address.text)"])
        return channel
    }

    private func attachHub(to feed: HubFeed, index: Int) {
        let loop = LoopContext(
            eventLoop: feed.loop, index: index, of: feeds.count, rooms: rooms, settings: settings,
            admission: admission, probe: metrics.probe(feed.loop, index: index))
        feed.attach(ConnectionHub(loop: loop, feed: feed))
    }

    private func runHousekeeping() async {
        var nextExtension = NIODeadline.now() + extensionInterval
        var nextTrim = NIODeadline.now() + Self.trimInterval
        // The most bytes that have waited since memory was last returned to the system.
        var mostWaiting = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.housekeepingInterval)
            mostWaiting = max(mostWaiting, admission.waiting.count)
            if nextTrim < .now() || mostWaiting - admission.waiting.count > Self.trimmedDrop {
                Heap.giveBack()
                mostWaiting = admission.waiting.count
                nextTrim = .now() + Self.trimInterval
            }
            let extendsSessions = nextExtension < .now()
            if extendsSessions { nextExtension = .now() + extensionInterval }
            for feed in feeds { await checkSessions(of: feed, extending: extendsSessions) }
        }
    }

    /// Does what is due on a loop's connections, until the task is cancelled.
    private static func turnWheel(of feed: HubFeed) async {
        let task = feed.loop.scheduleRepeatedTask(initialDelay: TimerWheel.interval, delay: TimerWheel.interval) { _ in
            feed.onLoop { $0.loop.deadlines.turnWheel() }
        }
        defer { task.cancel() }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }

    /// The time after which free memory is returned to the system.
    private static let trimInterval = TimeAmount.minutes(1)
    /// Memory is returned earlier if the bytes that wait for peers have fallen by this much.
    private static let trimmedDrop = 32 << 20
    /// How often the sessions of open sockets are checked.
    private static let housekeepingInterval = Duration.milliseconds(2_500)
    /// How often the ends of sessions with open sockets are extended, since an open socket counts as use.
    private var extensionInterval: TimeAmount {
        min(.hours(1), .milliseconds(rooms.settings.sessionLifetimeMs / 10))
    }

    /// Closes the sockets of sessions that were ended through another server on the same log, and extends the others if
    /// asked to.
    private func checkSessions(of feed: HubFeed, extending: Bool) async {
        guard let connected = try? await feed.loop.submit({ feed.attached?.sessions ?? [] }).get() else { return }
        for session in await rooms.sessionEnding.endedElsewhere(connected) { feed.onLoop { $0.sessionEnded(session) } }
        if extending { for session in connected { await rooms.sessions.extend(session) } }
    }

    // MARK: Stopping

    private static func untilGracefulShutdown() async {
        let (stops, continuation) = AsyncStream.makeStream(of: Void.self)
        await withGracefulShutdownHandler {
            for await _ in stops {}
        } onGracefulShutdown: {
            continuation.finish()
        }
    }

    /// Accepts no more connections, tells every client when to reconnect, and waits until they are gone.
    private func drain(_ listener: any Channel) async {
        if settings.drainDelay > .zero {
            phase.withLock { $0 = .leavingRotation }
            try? await Task.sleep(for: .nanoseconds(settings.drainDelay.nanoseconds))
        }
        phase.withLock { $0 = .draining }
        try? await listener.close()
        var count = 0
        for feed in feeds { count += await self.connections(of: feed) }
        // The window is no longer than it takes to keep reconnects at fifty a second.
        let window = min(settings.drainWindow, .milliseconds(Int64(20 * count)))
        logger.info("Stopping", metadata: ["connections": "\(count)", "windowMs": "\(window.nanoseconds / 1_000_000)"])
        for feed in feeds { feed.onLoop { $0.drain(over: window) } }
        let end = NIODeadline.now() + window + settings.closeTimeout + settings.closeTimeout
        while end > .now(), await anyConnections() || requests.areUnderWay {
            try? await Task.sleep(for: .milliseconds(10))
        }
        requests.closeAll()
    }

    private func connections(of feed: HubFeed) async -> Int {
        (try? await feed.loop.submit { feed.attached?.loop.deadlines.openChannels ?? 0 }.get()) ?? 0
    }

    private func anyConnections() async -> Bool {
        for feed in feeds where await connections(of: feed) > 0 { return true }
        return false
    }
}

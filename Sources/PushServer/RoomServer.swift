import Glibc
package import Logging
package import NIOCore
import NIOPosix
package import PrometheusMetrics
package import RoomService
import ServiceLifecycle
import TLSTransport

/// The server's network side: one port for HTTP and WebSocket, with TLS below both.
package final class RoomServer: Service, Sendable {
    private let settings: RoomServerSettings
    private let rooms: RoomHost
    private let group: any EventLoopGroup
    private let logger: Logger
    private let onReady: @Sendable (SocketAddress) -> Void
    private let feeds: [HubFeed]
    private let stop: ServerStop
    private let connections = BackgroundJobs()
    private let requests: HTTPActivity
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
            maximum: settings.rates.maximumConnectionsPerAddress, proxies: settings.trustedProxies)
        admission = Admission(settings, registry: registry)
        authenticator = Authenticator(rooms: rooms, tokens: settings.tokens, logger: logger)
        metrics = ServerMetrics(
            registry: registry, version: settings.version, node: settings.node, hasCertificate: settings.tls != nil)
        feeds = group.makeIterator().map { HubFeed(loop: $0) }
        requests = HTTPActivity()
        stop = ServerStop(settings: settings, feeds: feeds, requests: requests, logger: logger)
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
        let foreignOrigins = ForeignOriginLog(logger: logger)
        let api = HTTPAPI(
            rooms: rooms, settings: settings, feeds: feeds, addresses: addresses, admission: admission,
            authenticator: authenticator, foreignOrigins: foreignOrigins, isStopping: { self.stop.hasBegun },
            metrics: { await self.exposition() }, logger: logger)
        let connections = connections
        let http = HTTPConnections(
            responder: api.responder(), settings: settings, admission: admission, activity: requests,
            start: { connections.start($0) }, logger: logger)
        let setup = ConnectionSetup(
            settings: settings, addresses: addresses, admission: admission,
            checks: ServerOpeningChecks(
                authenticator: authenticator, rooms: rooms.registry, admission: admission, jobs: connections,
                draining: { self.isDraining }),
            foreignOrigins: foreignOrigins, http: http, plainRequests: PlainRequestGate(settings),
            resources: try settings.tls.map { _ in try TLSEventLoopGroupResources(group) })
        // Whoever looks after a server that is full can.
        let ceiling = ConnectionCeiling(
            of: ProcessReading(), besides: settings.metricsAddress == nil ? 0 : MetricsListener.maximumConnections,
            logger: logger)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: ConnectionCeiling.acceptedTogether)
            .serverChannelInitializer { listener in
                listener.eventLoop.makeCompletedFuture {
                    let feed = self.feeds.first { $0.loop === listener.eventLoop }
                    let gate = NewcomerGate(self.addresses) { count in
                        feed?.onLoop { $0.loop.tally.connectionsRefused += count }
                    }
                    try AcceptPause.add(to: listener, below: ceiling, before: [gate])
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
            .bind(firstOf: settings.host, port: settings.port)
        let metricsListener = try await listenForMetrics()
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { await self.connections.run() }
            tasks.addTask { await SocketHousekeeping(self.feeds, self.rooms, waiting: self.admission.waiting).run() }
            if let address = listener.localAddress { onReady(address) }
            await stop.wasAskedFor()
            await stop.drain(listener)
            try? await metricsListener?.close()
            connections.close()
            tasks.cancelAll()
        }
    }

    /// The most bytes that the system holds for one connection and has not sent.
    private static let unsentInSystem: ChannelOptions.Types.SocketOption.Value = 131_072

    private var isDraining: Bool { stop.isDraining }

    /// Returns the text that `/metrics` answers.
    private func exposition() async -> [UInt8] {
        var tallies: [ConnectionTally] = []
        for feed in feeds {
            let tally = try? await feed.loop.submit { feed.attached?.currentTally() }.get()
            if let tally { tallies.append(tally) }
        }
        return metrics.exposition(
            of: tallies, httpConnections: requests.openConnections, liveRooms: await rooms.registry.liveRooms(),
            waitingBytes: admission.waiting.count, nearby: rooms.nearby.standing, certificate: settings.tls)
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
}

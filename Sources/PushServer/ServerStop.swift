import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// The stop of a server: waits until it is asked for, and then lets the clients go.
final class ServerStop: Sendable {
    /// The progress of a stop.
    private enum Phase {
        /// No signal has arrived.
        case serving
        /// Load balancers are told; everything is still served.
        case leavingRotation
        /// Clients are disconnected, and no new ones are accepted.
        case draining
    }

    /// The most time between two looks at the connections that are left.
    private static let lookInterval = Duration.milliseconds(10)

    private let settings: RoomServerSettings
    private let feeds: [HubFeed]
    private let requests: HTTPActivity
    private let logger: Logger
    private let phase = Mutex(Phase.serving)

    init(settings: RoomServerSettings, feeds: [HubFeed], requests: HTTPActivity, logger: Logger) {
        self.settings = settings
        self.feeds = feeds
        self.requests = requests
        self.logger = logger
    }

    /// Whether load balancers are to send no more clients.
    var hasBegun: Bool { phase.withLock { $0 } != .serving }

    /// Whether clients are being disconnected, and no new ones are accepted.
    var isDraining: Bool { phase.withLock { $0 } == .draining }

    /// Returns when a graceful shutdown is asked for, or the task is cancelled.
    func wasAskedFor() async {
        let (stops, continuation) = AsyncStream.makeStream(of: Void.self)
        await withGracefulShutdownHandler {
            for await _ in stops {}
        } onGracefulShutdown: {
            continuation.finish()
        }
    }

    /// Accepts no more connections, tells every client when to reconnect, and waits until they are gone.
    func drain(_ listener: any Channel) async {
        if settings.drainDelay > .zero {
            phase.withLock { $0 = .leavingRotation }
            try? await Task.sleep(for: .nanoseconds(settings.drainDelay.nanoseconds))
        }
        phase.withLock { $0 = .draining }
        try? await listener.close()
        var count = 0
        for feed in feeds { count += await connections(of: feed) }
        // The window is no longer than it takes to keep reconnects at fifty a second.
        let window = min(settings.drainWindow, .milliseconds(Int64(20 * count)))
        logger.info("Stopping", metadata: ["connections": "\(count)", "windowMs": "\(window.nanoseconds / 1_000_000)"])
        for feed in feeds { feed.onLoop { $0.drain(over: window) } }
        let end = NIODeadline.now() + window + settings.times.closeTimeout + settings.times.closeTimeout
        while end > .now(), await anyConnections() || requests.areUnderWay {
            try? await Task.sleep(for: Self.lookInterval)
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

import Logging
import NIOCore
import NIOPosix
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

import NIOCore
import NIOPosix
import RoomClient
import TLSTransport

/// Makes connections to servers.
struct Dialer: Sendable {
    let times: Times
    private let group: MultiThreadedEventLoopGroup
    private let tls: TLSContext
    private let resources: TLSEventLoopGroupResources

    /// Makes a dialer; blocks while it reads the certificates.
    init(trust: NIOTransport.Trust, times: Times) throws(TransportFault) {
        self.times = times
        group = MultiThreadedEventLoopGroup.singleton
        let verification: ServerVerification =
            switch trust {
            case .system: .system
            case .systemAnd(let file): .systemAnd(path: file)
            case .authority(let file): .certificateAuthority(path: file)
            case .insecure: .noneForTests
            }
        do throws(TLSFault) {
            tls = try TLSContext(clientVerifying: verification)
            resources = try TLSEventLoopGroupResources(group)
        } catch {
            throw TransportFault("\(error)", isLasting: true, cause: error)
        }
    }

    /// Connects, and returns what `begin` makes of the connection.
    ///
    /// `begin` runs on the channel's event loop once the channel is active, adds handlers behind that of TLS, and sees
    /// to it that the promise is completed in time or when the channel ends. If the promise fails, whoever fails it, all
    /// channels of the attempt are closed.
    func connect<Value: Sendable>(
        to server: ServerAddress, within time: TimeAmount,
        _ begin: @escaping @Sendable (any Channel, EventLoopPromise<Value>) throws -> Void
    ) async throws(TransportFault) -> Value {
        let loop = group.next()
        let attempt = NIOLoopBoundBox.makeBoxSendingValue(Attempt(), eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(times.connect)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try attempt.value.begin(channel) }
            }
        do {
            return try await wait(on: loop, for: server, within: time) { promise in
                promise.futureResult.whenFailure { _ in attempt.value.abandon() }
                bootstrap.connect(host: server.host, port: server.port).flatMapThrowing { channel in
                    guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
                    try addTLS(to: channel, for: server)
                    try begin(channel, promise)
                }.whenFailure { promise.fail($0) }
            }
        } catch {
            throw TransportFault(error, at: server)
        }
    }

    /// Waits for a promise that `begin` is given; the end of the time or of the calling task fails it.
    func wait<Value: Sendable>(
        on loop: any EventLoop, for server: ServerAddress, within time: TimeAmount,
        _ begin: (EventLoopPromise<Value>) -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let promise = loop.makePromise(of: Value.self)
        let timer = loop.scheduleTask(in: time) {
            promise.fail(TransportFault("\(server.authority) does not answer"))
        }
        promise.futureResult.whenComplete { _ in timer.cancel() }
        begin(promise)
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    private func addTLS(to channel: any Channel, for server: ServerAddress) throws {
        guard server.isSecure else { return }
        let handler = TLSHandler(
            tls, resources: resources.resources(on: channel.eventLoop), serverName: server.host,
            closeTimeout: times.closeTLS)
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}

/// The channels of one attempt to connect, one for each address that was tried; confined to their event loop.
private struct Attempt {
    private var channels: [any Channel] = []
    private var isAbandoned = false

    /// Takes in a channel that is about to connect.
    mutating func begin(_ channel: any Channel) throws {
        if isAbandoned { throw CancellationError() }
        channels.append(channel)
    }

    /// Closes all channels, and lets no others begin.
    mutating func abandon() {
        isAbandoned = true
        for channel in channels { channel.close(promise: nil) }
        channels = []
    }
}

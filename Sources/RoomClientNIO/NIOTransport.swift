import NIOCore
import NIOHTTP1
import NIOPosix
public import RoomClient
import Synchronization
import TLSTransport
import WebSocketCodec

/// How a client reaches its server where there is no `URLSession` with WebSockets: on Linux, and everywhere else.
///
/// Connections use TLS 1.2 or newer and the project's own WebSocket layer, on the threads that all of SwiftNIO shares.
public final class NIOTransport: ClientTransport {
    /// How the transport makes sure that it talks to the right server.
    public enum Trust: Sendable, Hashable {
        /// By the system's certificate authorities, and the host's name.
        case system
        /// By the certificate authorities in this PEM file, and the host's name.
        case authority(file: String)
        /// By nothing: anybody in between can read and change everything. For development.
        case insecure
    }

    /// The longest message and the longest answer: 16 MiB, ten times a snapshot of the largest room.
    static let mostBytes = 16 * 1024 * 1024
    /// The time to connect, with name resolution and without TLS.
    private static let connectTimeout = TimeAmount.seconds(10)
    /// The time for a request with its answer, and for an opening handshake, each with TLS.
    private static let answerTimeout = TimeAmount.seconds(30)

    private let group: MultiThreadedEventLoopGroup
    private let tls: TLSContext
    private let resources: TLSEventLoopGroupResources

    /// A transport. It blocks while it reads the certificates.
    ///
    /// - Throws: ``RoomClient/TransportFault`` if the certificates cannot be used.
    public init(trust: Trust = .system) throws(TransportFault) {
        group = MultiThreadedEventLoopGroup.singleton
        let verification: ServerVerification =
            switch trust {
            case .system: .system
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

    /// Sends one request on a connection of its own.
    public func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        try await exchange(with: request.server) { channel, promise in
            try channel.pipeline.syncOperations.addHandlers(
                HTTPRequestEncoder(), ByteToMessageHandler(HTTPResponseDecoder()),
                RequestHandler(request, answer: promise))
        }
    }

    /// Opens a WebSocket.
    public func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let fields = request.fields.sorted { $0.key < $1.key }.compactMap { HeaderField($0.key, $0.value) }
        let handshake = ClientHandshake(
            host: request.server.authority, target: request.target, subprotocols: [OpeningHandler.subprotocol],
            extensions: DeflateParameters.offers(.contextTakeover), fields: fields, nonce: nonce)
        guard let handshake, fields.count == request.fields.count else {
            throw TransportFault("\"\(request.target)\" cannot stand in a request", isLasting: true)
        }
        let socket: NIOSocket = try await exchange(with: request.server) { channel, promise in
            try channel.pipeline.syncOperations.addHandler(OpeningHandler(handshake, opened: promise))
        }
        return socket
    }

    /// Connects, and waits for what handlers make of the connection.
    private func exchange<Value: Sendable>(
        with server: ServerAddress,
        _ addHandlers: @escaping @Sendable (any Channel, EventLoopPromise<Value>) throws -> Void
    ) async throws(TransportFault) -> Value {
        let attempt = Attempt()
        let (tls, resources) = (server.isSecure ? tls : nil, resources)
        let promise = group.any().makePromise(of: Value.self)
        let bootstrap = ClientBootstrap(group: group)
            .connectTimeout(Self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                attempt.began(channel)
                return channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            TLSHandler(
                                tls, resources: resources.resources(on: channel.eventLoop), serverName: server.host))
                    }
                    try addHandlers(channel, promise)
                }
            }
        bootstrap.connect(host: server.host, port: server.port).whenComplete { result in
            switch result {
            case .failure(let error): promise.fail(error)
            case .success(let channel):
                let timer = channel.eventLoop.scheduleTask(in: Self.answerTimeout) {
                    promise.fail(TransportFault("\(server.authority) does not answer"))
                    channel.close(promise: nil)
                }
                promise.futureResult.whenComplete { _ in timer.cancel() }
            }
        }
        do {
            return try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                promise.fail(TransportFault("the attempt was cancelled"))
                attempt.cancel()
            }
        } catch {
            attempt.cancel()
            throw Self.fault(error, server)
        }
    }

    /// A fault in words for the person in front of the device.
    private static func fault(_ error: any Error, _ server: ServerAddress) -> TransportFault {
        switch error {
        case let fault as TransportFault: fault
        case let fault as TLSFault:
            switch fault {
            case .certificateRejected, .fingerprintMismatch, .invalidHostName:
                TransportFault("\(server.authority): \(fault)", isLasting: true, cause: fault)
            case .file, .invalidCertificate, .invalidPrivateKey, .keyMismatch, .notDevelopmentCertificate, .setup,
                .handshake, .closedDuringHandshake, .truncated, .record, .unreadReplies:
                TransportFault("\(server.authority): \(fault)", cause: fault)
            }
        case let error as NIOConnectionError:
            if error.connectionErrors.isEmpty, error.dnsAError != nil || error.dnsAAAAError != nil {
                TransportFault("there is no host \(server.host)", cause: error)
            } else {
                TransportFault(
                    "\(server.authority) cannot be reached"
                        + (error.connectionErrors.last.map { ": \(Self.reason($0.error))" } ?? ""), cause: error)
            }
        case is ChannelError: TransportFault("\(server.authority) closed the connection", cause: error)
        case let error as IOError: TransportFault("\(server.authority): \(Self.reason(error))", cause: error)
        default: TransportFault("\(server.authority): \(error)", cause: error)
        }
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? IOError else { return "\(error)" }
        return switch error.errnoCode {
        case ECONNREFUSED: "nothing listens there"
        case ETIMEDOUT: "no answer"
        case EHOSTUNREACH, ENETUNREACH: "there is no way to it"
        default: "\(error)"
        }
    }
}

/// One attempt's channel, which goes with the task that wants it.
private final class Attempt: Sendable {
    private struct State {
        var channel: (any Channel)?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func began(_ channel: any Channel) {
        let isCancelled = state.withLock { state in
            state.channel = channel
            return state.isCancelled
        }
        if isCancelled { channel.close(promise: nil) }
    }

    func cancel() {
        let channel = state.withLock { state in
            state.isCancelled = true
            return state.channel
        }
        channel?.close(promise: nil)
    }
}

import NIOCore
import NIOHTTP1
import NIOPosix
import RoomService
import Synchronization
import SystemCalls

/// A separate listener for `/metrics`, over plain HTTP and without a session, on an address that only monitoring can
/// reach.
///
/// It answers `GET /metrics` and HEAD; everything else is 404 (405 with another method). Each connection carries one
/// request and lasts at most ten seconds; at most 64 are open at once, and further ones are closed.
final class MetricsListener: Sendable {
    /// The route that it serves.
    static let route = Routes.metrics
    /// The longest time that a connection may last.
    static let connectionTime = TimeAmount.seconds(10)
    /// The most connections that may be open at once.
    static let maximumConnections = 64
    /// The longest head of a request, in bytes.
    static let maximumHeadLength = 16_384

    private let jobs: BackgroundJobs
    private let exposition: @Sendable () async -> [UInt8]
    private let open = Atomic(0)

    /// Makes a listener that answers with the result of `exposition`; `jobs` runs while it listens.
    init(jobs: BackgroundJobs, exposition: @escaping @Sendable () async -> [UInt8]) {
        self.jobs = jobs
        self.exposition = exposition
    }

    /// Starts to listen.
    ///
    /// - Throws: ``ListeningFault`` if the address is not available.
    func bind(_ address: RoomServerSettings.MetricsAddress, on group: any EventLoopGroup) async throws -> any Channel {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelInitializer { listener in
                listener.eventLoop.makeCompletedFuture { try AcceptPause.add(to: listener) }
            }
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.prepare(channel) }
            }
        do {
            return try await bootstrap.bind(firstOf: address.host, port: address.port)
        } catch let error as IOError {
            throw ListeningFault(address: address.text, reason: error.reason)
        } catch let fault as HostLookup.Fault {
            throw ListeningFault(address: address.text, reason: fault.message)
        }
    }

    private func prepare(_ channel: any Channel) throws {
        guard open.wrappingAdd(1, ordering: .relaxed).newValue <= Self.maximumConnections else {
            open.wrappingSubtract(1, ordering: .relaxed)
            throw ChannelError.ioOnClosedChannel
        }
        let end = channel.eventLoop.scheduleTask(in: Self.connectionTime) { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in
            self.open.wrappingSubtract(1, ordering: .relaxed)
            end.cancel()
        }
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: Self.limits)
        try channel.pipeline.syncOperations.addHandler(MetricsHandler(jobs: jobs, exposition: exposition))
    }

    private static var limits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = maximumHeadLength
        limits.maxHeaderListSize = maximumHeadLength
        return limits
    }
}

/// An address on which the server cannot listen.
package struct ListeningFault: Error {
    /// The address as it was given.
    package var address: String
    /// The system's reason.
    package var reason: String
}

/// Answers the first request of a connection and ends it.
private final class MetricsHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let jobs: BackgroundJobs
    private let exposition: @Sendable () async -> [UInt8]
    private var isAnswered = false

    init(jobs: BackgroundJobs, exposition: @escaping @Sendable () async -> [UInt8]) {
        self.jobs = jobs
        self.exposition = exposition
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data), !isAnswered else { return }
        isAnswered = true
        let path = head.uri.prefix { $0 != "?" }
        guard MetricsListener.route.matches(path) else { return answer(.notFound, head, context: context) }
        guard head.method == .GET || head.method == .HEAD else {
            return answer(.methodNotAllowed, head, context: context)
        }
        let (loop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
        jobs.start { [exposition] in
            let bytes = await exposition()
            loop.execute {
                let (handler, context) = bound.value
                handler.answer(.ok, head, bytes, context: context)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The reader of requests has answered input that is no HTTP.
        context.close(promise: nil)
    }

    private func answer(
        _ status: HTTPResponseStatus, _ request: HTTPRequestHead, _ body: [UInt8] = [], context: ChannelHandlerContext
    ) {
        guard context.channel.isActive else { return }
        var fields: HTTPHeaders = ["content-length": "\(body.count)", "connection": "close"]
        if status == .ok { fields.add(name: "content-type", value: "text/plain; version=0.0.4; charset=utf-8") }
        if status == .methodNotAllowed { fields.add(name: "allow", value: MetricsListener.route.allow) }
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !body.isEmpty, request.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}

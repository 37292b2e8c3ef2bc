import HTTPTransport
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import RoomWire
import TLSTransport
import WebSocketCodec

/// Adds the HTTP server to connections, above an ``HTTPConnectionHandler``.
struct HTTPConnections: Sendable {
    let responder: RouterResponder<APIContext>
    let settings: RoomServerSettings
    let admission: Admission
    let activity: HTTPActivity
    /// Runs work in the background.
    let start: @Sendable (@escaping @Sendable () async -> Void) -> Void
    let logger: Logger

    /// Serves HTTP on a channel of the loop; `takeOver` is called with the head of a WebSocket handshake.
    func serve(
        on channel: any Channel, _ loop: LoopContext, behind tls: TLSHandler?, _ ticket: AddressLimit.Ticket?,
        takeOver: @escaping (any Channel, RequestHead) -> Void
    ) throws {
        let admission = admission
        let memory = NIOLoopBoundBox<HTTPConnectionHandler?>(nil, eventLoop: channel.eventLoop)
        let http = HTTP1Channel(
            responder: respond(keepingIn: memory),
            configuration: HTTP1Channel.Configuration(
                // The library's timeout is not used: it would stop during a request, and count from when an answer was
                // passed on.
                idleTimeout: nil,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: settings.sizes.maximumHeadLength,
                    maxHeaderListSize: settings.sizes.maximumHeadLength,
                    maxHeaderFieldCount: HeadParser.defaultMaximumFieldCount)))
        // This completes at once, since it is called on the channel's loop.
        let prepared = http.setup(channel: channel, logger: logger)
        let id = loop.makeID()
        let socket = StreamSocket(channel)
        let account = admission.account(of: channel.remoteAddress, forwardedFor: [])
        let activity = activity
        let limits = limits
        memory.value = try HTTPConnectionHandler.add(
            to: channel,
            HTTPConnectionHandler.Dependencies(
                limits: limits, fields: SecurityFields(isSecure: settings.tls != nil).fields,
                problem: { Self.problem($0) },
                schedule: { loop.deadlines.schedule(id, at: $0) },
                forget: {
                    loop.deadlines.forgetHTTP(id)
                    account.set(0)
                },
                takeOver: { channel, handshake in
                    activity.left(channel)
                    takeOver(channel, handshake)
                },
                requestBegan: { activity.began() }, requestEnded: { activity.ended() },
                setWaiting: { account.set($0) },
                unsentBytes: { channel in
                    let here = tls?.unsentByteCount ?? (try? channel.syncOptions?.getOption(.bufferedWritableBytes))
                    return socket?.unacknowledgedByteCount.map { $0 + (here ?? 0) }
                }))
        if let handler = memory.value { loop.deadlines.lookAfterHTTP(handler, id, at: .now() + limits.idle) }
        activity.opened(channel, ticket)
        channel.closeFuture.assumeIsolated().whenComplete { _ in memory.value = nil }
        let logger = logger
        start {
            guard let value = try? await prepared.get() else { return }
            await http.handle(value: value, logger: logger)
        }
    }

    private var limits: HTTPExchange.Limits {
        HTTPExchange.Limits(
            idle: settings.times.httpIdleTimeout, head: settings.times.handshakeTimeout,
            bodyGrace: settings.times.bodyGrace,
            stall: settings.times.stallLimit, linger: settings.times.closeTimeout,
            unwantedBody: settings.sizes.maximumMessageLength)
    }

    private static func problem(_ violation: HTTPViolation) -> [UInt8] {
        HTTPBody.problem(
            status: violation.status, code: .badRequest, title: violation.title, detail: violation.detail)
    }

    private func respond(
        keepingIn connection: NIOLoopBoundBox<HTTPConnectionHandler?>
    ) -> HTTPChannelHandler.Responder {
        let (responder, admission, logger) = (responder, admission, logger)
        return { request, writer, channel in
            if request.headers[.expect]?.lowercased() == "100-continue" {
                try await writer.writeInformationalHead(HTTPResponse(status: .continue))
            }
            let memory = admission.memory(of: channel.remoteAddress, forwardedFor: request.forwardedFor)
            let context = APIContext(source: APIRequestSource(channel: channel, logger: logger, memory: memory))
            let response = try await responder.respond(to: request, context: context)
            if memory.isCharged { channel.eventLoop.execute { connection.value?.keep(memory) } }
            try await writer.write(response: response.head, body: response.body)
        }
    }
}

import HTTPTransport
import Logging
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import TLSTransport
import WebSocketCodec

/// Reads the first request of a connection: it answers the opening handshake of a WebSocket, and passes everything else
/// unchanged to the HTTP server.
///
/// A handshake that follows other requests is handed to another handler of this type. That one stands before the HTTP
/// server's handlers and reads nothing, so they get no more input for the rest of the connection.
final class FirstRequestHandler: ChannelInboundHandler, RemovableChannelHandler, Deadlined {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The parts of the server that the handler needs.
    struct Dependencies {
        var loop: LoopContext
        var hub: any SocketOwner
        /// The TLS handler that sends; nil if there is no TLS.
        var tls: TLSHandler?
        /// The connection's place among those of its address; nil if they are not counted.
        var ticket: AddressLimit.Ticket?
        /// The connection's place among those that have made no request.
        var newcomer: AddressLimit.Ticket?
        /// Counts an opening handshake, by its `X-Forwarded-For` if it comes through a proxy.
        var countHandshake: ([String]) throws(CommandFailure) -> Void
        /// Counts a handshake that comes through a proxy, by the proxy's `X-Forwarded-For`.
        var admitForwarded: ([String]) -> AddressLimit.Ticket?
        /// Makes the account of bytes that wait on the connection, by the proxy's `X-Forwarded-For`.
        var account: ([String]) -> WaitingBytes.Account
        var authenticator: Authenticator
        var origins: OriginRule
        /// Runs work in the background.
        var start: @Sendable (@escaping @Sendable () async -> Void) -> Void
        /// Adds the HTTP server's handlers behind this one.
        var serveHTTP: (any Channel) throws -> Void
        var isDraining: () -> Bool
    }

    /// The subprotocol of the sockets.
    static let subprotocol = "backline.v1.json"

    let id: ConnectionID
    var wheelTick: Int?
    private var dependencies: Dependencies
    /// The connection's place in the count of its address.
    private var ticket: AddressLimit.Ticket?
    /// The account of bytes that wait on the connection.
    private var account: WaitingBytes.Account?
    private let deadline: NIODeadline
    private var parser: HeadParser
    /// Input that has arrived and was not passed on.
    private var arrived = ByteBuffer()
    private var isDeciding = false
    /// The position with which the socket resumes its room; nil if it gets a snapshot.
    private var position: Position?
    /// Whether the request is HEAD: its answer has no body (RFC 9110 §9.3.2).
    private var isHead = false
    /// Whether the connection has become a socket.
    private var isOpened = false
    private var context: ChannelHandlerContext?

    init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
        ticket = dependencies.ticket
        let settings = dependencies.loop.settings
        id = dependencies.loop.makeID()
        // A connection that is opened while the server stops is closed at once.
        deadline = .now() + (dependencies.isDraining() ? .zero : settings.times.handshakeTimeout)
        parser = HeadParser(maximumHeadLength: settings.sizes.maximumHeadLength)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        dependencies.loop.deadlines.lookAfter(self, id, at: deadline)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        context = nil
        if !isOpened { dependencies.loop.deadlines.forget(id) }
    }

    func deadlineReached(at now: NIODeadline) -> NIODeadline? {
        guard deadline <= now else { return deadline }
        context?.close(promise: nil)
        return nil
    }

    /// Closes the connection when the server stops, unless a request is being decided.
    func drain() {
        if !isDeciding { context?.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrived.writeImmutableBuffer(unwrapInboundIn(data))
        guard !isDeciding else {
            // A client may send nothing before it is answered; input that arrives nevertheless is bounded.
            if arrived.readableBytes > dependencies.loop.settings.sizes.maximumMessageLength {
                context.close(promise: nil)
            }
            return
        }
        var rest = arrived
        do throws(HandshakeViolation) {
            guard let head = try parser.parseRequest(&rest) else { return }
            isHead = head.method == "HEAD"
            dependencies.newcomer = nil
            if dependencies.ticket?.isOverLimit == true { return refuseExcess(context) }
            if head.asksForWebSocket {
                arrived = rest
                try open(head, context)
            } else {
                handOver(context)
            }
        } catch {
            refuse(error, context)
        }
    }

    /// Answers a handshake whose head the HTTP server has read.
    func open(_ head: RequestHead) {
        guard let context else { return }
        isHead = head.method == "HEAD"
        do throws(HandshakeViolation) {
            try open(head, context)
        } catch {
            refuse(error, context)
        }
    }

    private func handOver(_ context: ChannelHandlerContext) {
        do {
            try dependencies.serveHTTP(context.channel)
            let bytes = arrived
            arrived = ByteBuffer()
            context.fireChannelRead(wrapInboundOut(bytes))
            context.fireChannelReadComplete()
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        } catch {
            context.close(promise: nil)
        }
    }

    // MARK: Opening a socket

    private func open(_ head: RequestHead, _ context: ChannelHandlerContext) throws(HandshakeViolation) {
        // RFC 9112 §3.2: this holds even if no socket is opened.
        guard !head.isHTTP11 || head.fields.onlyValue(of: "Host").map({ RequestRule.isHost($0) }) == true else {
            throw .badHost
        }
        guard let place = SocketPlace(path: head.path) else {
            return refuse(CommandFailure(.notFound, "there is no socket here"), context)
        }
        let handshake = try ServerHandshake(head, subprotocols: [Self.subprotocol])
        let fields = head.fields
        let forwardedFor = fields.values(of: TrustedProxies.field)
        do throws(CommandFailure) {
            try dependencies.countHandshake(forwardedFor)
        } catch {
            return refuse(error, context)
        }
        if let forwarded = dependencies.admitForwarded(forwardedFor) { ticket = forwarded }
        account = dependencies.account(forwardedFor)
        guard ticket?.isOverLimit != true else { return refuseExcess(context) }
        guard !dependencies.isDraining() else { return refuse(CommandFailure(ErrorCode.unavailable), context) }
        guard dependencies.origins.permits(origins: fields.values(of: "Origin"), host: fields.onlyValue(of: "Host"))
        else { return refuse(CommandFailure(.forbidden, "pages of this origin may not open sockets"), context) }
        do throws(CommandFailure) {
            if case .room = place { position = try Position(query: head.query) }
        } catch {
            return refuse(error, context)
        }
        isDeciding = true
        let authenticator = dependencies.authenticator
        let authorization = fields.values(of: "Authorization").first
        let cookies = fields.values(of: "Cookie")
        if let session = authenticator.rememberedSession(authorization: authorization, cookies: cookies) {
            return admit(session, to: place, handshake, context)
        }
        let done = resume(handshake, context) { session in self.admit(session, to: place, handshake, context) }
        dependencies.start {
            do throws(CommandFailure) {
                done(.success(try await authenticator.session(authorization: authorization, cookies: cookies)))
            } catch {
                done(.failure(error))
            }
        }
    }

    /// Makes the callback that takes a result from any thread to the connection's loop: `next` gets a value, and a
    /// failure is answered.
    private func resume<Success: Sendable>(
        _ handshake: ServerHandshake, _ context: ChannelHandlerContext, _ next: @escaping (Success) -> Void
    ) -> @Sendable (Result<Success, CommandFailure>) -> Void {
        let take = { (result: Result<Success, CommandFailure>) in
            switch result {
            case .success(let value): next(value)
            case .failure(let failure): self.decided(.failure(failure), handshake, context)
            }
        }
        let bound = NIOLoopBound(take, eventLoop: context.eventLoop)
        return { result in bound.eventLoop.runSoon { bound.value(result) } }
    }

    /// Finds the room that the socket is opened for, if any, and checks whether the session may see it.
    private func admit(
        _ session: Session, to place: SocketPlace, _ handshake: ServerHandshake, _ context: ChannelHandlerContext
    ) {
        switch place {
        case .open: decided(.success((session, nil)), handshake, context)
        case .room(nil): decided(.failure(CommandFailure(.notFound)), handshake, context)
        case .room(let reference?): find(reference, for: session, handshake, context)
        }
    }

    private func find(
        _ reference: RoomReference, for session: Session, _ handshake: ServerHandshake,
        _ context: ChannelHandlerContext
    ) {
        let lookup = dependencies.loop.lookup
        let seeker = RoomSeeker(session: session.id, address: account?.network)
        do throws(CommandFailure) {
            if let room = try lookup.known(reference, by: seeker) {
                return admit(session, to: room, handshake, context)
            }
        } catch {
            return decided(.failure(error), handshake, context)
        }
        let done = resume(handshake, context) { (room: RoomID) in self.admit(session, to: room, handshake, context) }
        lookup.find(reference, for: seeker, done)
    }

    private func admit(
        _ session: Session, to room: RoomID, _ handshake: ServerHandshake, _ context: ChannelHandlerContext
    ) {
        let done = resume(handshake, context) { (_: Void) in
            self.decided(.success((session, room)), handshake, context)
        }
        dependencies.loop.rooms.registry.admit(session.id, to: room) { result in
            done(result.mapError { CommandFailure($0) })
        }
    }

    private func decided(
        _ result: Result<(Session, RoomID?), CommandFailure>, _ handshake: ServerHandshake,
        _ context: ChannelHandlerContext
    ) {
        guard context.channel.isActive else { return }
        // A socket that opened now would not be told that the server stops.
        guard !dependencies.isDraining() else { return refuse(CommandFailure(ErrorCode.unavailable), context) }
        switch result {
        case .success(let (session, room)):
            let place: OpenCount<SessionID>.Ticket?
            do throws(CommandFailure) {
                place = try dependencies.loop.admission.socket(of: session.id)
            } catch {
                return refuse(error, context)
            }
            var response = ByteBuffer()
            let (compression, extensions) = SocketCompression.negotiate(
                handshake.extensionOffers, isAllowed: dependencies.loop.settings.compresses)
            handshake.writeResponse(into: &response, extensions: extensions)
            dependencies.loop.tally.handshakeAnswered(status: 101)
            do {
                // The socket takes over the number, and with it the entry among the deadlines.
                isOpened = true
                let connection = WebSocketConnection(
                    id, response: response, loop: dependencies.loop, hub: dependencies.hub, session: session,
                    ownRoom: room, position: position, compression: compression, tls: dependencies.tls, ticket: ticket,
                    place: place,
                    account: account ?? dependencies.account([]))
                try context.pipeline.syncOperations.addHandler(connection, position: .after(self))
                if arrived.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(arrived)) }
                arrived = ByteBuffer()
                context.pipeline.syncOperations.removeHandler(self, promise: nil)
            } catch {
                isOpened = false
                context.close(promise: nil)
            }
        case .failure(let failure):
            refuse(failure, context)
        }
    }

    // MARK: Refusing

    private func refuseExcess(_ context: ChannelHandlerContext) {
        dependencies.loop.tally.connectionsRefused += 1
        refuse(CommandFailure(.rateLimited, "too many connections from this address"), context)
    }

    private func refuse(_ violation: HandshakeViolation, _ context: ChannelHandlerContext) {
        let code: ErrorCode = violation.status == 405 ? .methodNotAllowed : .badRequest
        respond(
            status: violation.status,
            HTTPBody.problem(
                status: violation.status, code: code, title: violation.title, detail: violation.detail),
            violation.responseFields, context)
    }

    private func refuse(_ failure: CommandFailure, _ context: ChannelHandlerContext) {
        respond(
            status: failure.code.httpStatus,
            HTTPBody.problem(code: failure.code, detail: failure.detail, retryAfterMs: failure.retryAfterMs),
            failure.fields.compactMap { HeaderField($0.name, $0.value) }, context)
    }

    private func respond(status: Int, _ body: [UInt8], _ extra: [HeaderField], _ context: ChannelHandlerContext) {
        isDeciding = true
        dependencies.loop.tally.handshakeAnswered(status: status)
        var fields = HeaderFields()
        let standard = [
            HeaderField("Content-Type", "application/problem+json"), HeaderField("Content-Length", "\(body.count)"),
            HeaderField("Connection", "close"),
        ]
        let security = SecurityFields(isSecure: dependencies.loop.settings.tls != nil).headerFields
        for field in standard.compactMap({ $0 }) + security + extra { fields.append(field) }
        var response = ByteBuffer()
        ResponseHead(status: status, fields: fields).write(into: &response)
        if !isHead { response.writeBytes(body) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(response)).whenComplete { _ in channel.close(promise: nil) }
    }
}

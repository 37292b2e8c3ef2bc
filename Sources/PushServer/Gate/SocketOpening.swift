import NIOCore
import RoomDomain
import RoomService
import RoomWire
import TLSTransport
import WebSocketCodec

/// The opening of one connection on its channel: carries out the steps of a ``SocketGate``.
///
/// It stands on a new connection until the first head has arrived, and reads that head itself. Unless the head is an
/// opening handshake, it passes all bytes unchanged to the HTTP server. A handshake that follows other requests arrives
/// with its head read (``take(_:from:behind:_:_:)``); the handler then stands before those of the HTTP server and reads
/// nothing more for them.
///
/// Confined to the channel's loop.
final class SocketOpening: ChannelInboundHandler, RemovableChannelHandler, Deadlined {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The parts of the server that the handler needs.
    struct Dependencies {
        var loop: LoopContext
        var rules: SocketGate.Rules
        var checks: any OpeningChecks
        var sockets: any SocketMaker
        var foreignOrigins: ForeignOriginLog
    }

    /// The reading of a connection's first head.
    private struct FirstRequest: ~Copyable {
        var parser: HeadParser
        /// Adds the HTTP server's handlers behind this one.
        let serveHTTP: (any Channel, PeerLimits) throws -> Void
    }

    let id: ConnectionID
    var wheelTick: Int?
    private let dependencies: Dependencies
    private var gate: SocketGate
    private var limits: PeerLimits
    /// Nil once the head has been read.
    private var first: FirstRequest?
    private let deadline: NIODeadline
    /// Input that has arrived and was not passed on.
    private var arrived = ByteBuffer()
    /// The connection's place among the sockets of its session.
    private var place: OpenCount<SessionID>.Ticket?
    /// Whether the connection has become a socket.
    private var isOpened = false
    private var context: ChannelHandlerContext?

    private init(_ limits: PeerLimits, _ dependencies: Dependencies, reading first: consuming FirstRequest?) {
        self.dependencies = dependencies
        self.limits = limits
        self.first = first
        gate = SocketGate(dependencies.rules)
        id = dependencies.loop.makeID()
        // A connection that is opened while the server stops is closed at once.
        deadline =
            dependencies.loop.now
            + (dependencies.checks.isDraining ? .zero : dependencies.loop.settings.times.handshakeTimeout)
    }

    /// Makes the handler of a new connection; `serveHTTP` adds the HTTP server's handlers behind it.
    convenience init(
        _ limits: PeerLimits, _ dependencies: Dependencies,
        serveHTTP: @escaping (any Channel, PeerLimits) throws -> Void
    ) {
        let parser = HeadParser(maximumHeadLength: dependencies.loop.settings.sizes.maximumHeadLength)
        self.init(limits, dependencies, reading: FirstRequest(parser: parser, serveHTTP: serveHTTP))
    }

    /// Takes a connection from the HTTP server, with the head of an opening handshake.
    static func take(
        _ head: RequestHead, from channel: any Channel, behind tls: TLSHandler?, _ limits: PeerLimits,
        _ dependencies: Dependencies
    ) {
        let opening = SocketOpening(limits, dependencies, reading: nil)
        do {
            try channel.pipeline.syncOperations.addHandler(opening, position: tls.map { .after($0) } ?? .first)
            opening.headCame(head)
        } catch {
            channel.close(promise: nil)
        }
    }

    // MARK: Channel

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
        gate.ended()
        // A socket has taken over the number, and with it the entry among the deadlines.
        if !isOpened { dependencies.loop.deadlines.forget(id) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func deadlineReached(at now: NIODeadline) -> NIODeadline? {
        guard deadline <= now else { return deadline }
        perform(gate.deadlineReached())
        return nil
    }

    func drain() {
        perform(gate.drain())
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        arrived.writeImmutableBuffer(unwrapInboundIn(data))
        guard gate.isReading else { return perform(gate.bytesCame(waiting: arrived.readableBytes)) }
        var rest = arrived
        do throws(HandshakeViolation) {
            guard let head = try first?.parser.parseRequest(&rest) else { return }
            headCame(head, rest)
        } catch {
            perform(gate.violated(error))
        }
    }

    /// Decides about a head, behind which `rest` has arrived.
    private func headCame(_ head: RequestHead, _ rest: ByteBuffer = ByteBuffer()) {
        limits.requestCame()
        let step = gate.headCame(head, isOverLimit: limits.isOverLimit)
        if step != .serveHTTP {
            arrived = rest
            first = nil
        }
        perform(step)
    }

    // MARK: Steps

    private func perform(_ step: SocketGate.Step) {
        guard let context else { return }
        switch step {
        case .nothing: break
        case .serveHTTP: serveHTTP(context)
        case .count(let forwardedFor): count(forwardedFor)
        case .authenticate(let authorization, let cookies):
            dependencies.checks.authenticate(
                authorization: authorization, cookies: cookies, answer(context) { $0.authenticated($1) })
        case .find(let reference, let session):
            dependencies.checks.find(
                reference, for: RoomSeeker(session: session, address: limits.network),
                answer(context) { $0.found($1) })
        case .ask(let room, let session):
            dependencies.checks.ask(room, for: session, answer(context) { $0.asked($1) })
        case .reserve(let session): reserve(for: session)
        case .open(let opening): open(opening, context)
        case .refuse(let refusal, let isHead): refuse(refusal, isHead: isHead, context)
        case .close: context.close(promise: nil)
        }
    }

    /// Makes the callback that takes an answer from any thread to the gate, on the connection's loop.
    private func answer<Answer: Sendable>(
        _ context: ChannelHandlerContext, _ input: @escaping (inout SocketGate, Answer) -> SocketGate.Step
    ) -> @Sendable (Answer) -> Void {
        let take = { (answer: Answer) in self.tell { input(&$0, answer) } }
        let bound = NIOLoopBound(take, eventLoop: context.eventLoop)
        return { answer in bound.eventLoop.runSoon { bound.value(answer) } }
    }

    /// Gives the gate the answer to a step.
    private func tell(_ input: (inout SocketGate) -> SocketGate.Step) {
        guard let context, context.channel.isActive else { return }
        // A socket that opened now would not be told that the server stops.
        if dependencies.checks.isDraining { perform(gate.drain()) }
        perform(input(&gate))
    }

    private func count(_ forwardedFor: [String]) {
        do throws(HandshakeRefusal) {
            try limits.count(forwardedFor: forwardedFor)
            tell { $0.counted(nil) }
        } catch {
            tell { $0.counted(error) }
        }
    }

    private func reserve(for session: SessionID) {
        do throws(CommandFailure) {
            place = try dependencies.checks.reserve(for: session)
            tell { $0.reserved(.success(())) }
        } catch {
            tell { $0.reserved(.failure(error)) }
        }
    }

    private func serveHTTP(_ context: ChannelHandlerContext) {
        guard let serve = first?.serveHTTP else { return context.close(promise: nil) }
        do {
            try serve(context.channel, limits)
            passOn(context)
        } catch {
            context.close(promise: nil)
        }
    }

    private func open(_ opening: SocketGate.Opening, _ context: ChannelHandlerContext) {
        dependencies.loop.tally.handshakeAnswered(status: 101)
        isOpened = true
        do {
            let socket = dependencies.sockets.makeSocket(id, opening, limits, place)
            try context.pipeline.syncOperations.addHandler(socket, position: .after(self))
            passOn(context)
        } catch {
            isOpened = false
            context.close(promise: nil)
        }
    }

    /// Gives the input that has arrived to the next handler, which takes the place of this one.
    private func passOn(_ context: ChannelHandlerContext) {
        let bytes = arrived
        arrived = ByteBuffer()
        if bytes.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(bytes))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    private func refuse(_ refusal: HandshakeRefusal, isHead: Bool, _ context: ChannelHandlerContext) {
        let loop = dependencies.loop
        if refusal == .tooManyConnections { loop.tally.connectionsRefused += 1 }
        if case .foreignOrigin(let foreign) = refusal { dependencies.foreignOrigins.note(foreign) }
        loop.tally.handshakeAnswered(status: refusal.status)
        let bytes = refusal.bytes(isHead: isHead, isSecure: loop.settings.tls != nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(bytes)).whenComplete { _ in channel.close(promise: nil) }
    }
}

package import NIOCore
package import NIOHTTP1
package import WebSocketCodec

/// The server's side of one HTTP/1 connection, between SwiftNIO's reader and writer of messages and the HTTP server.
///
/// It passes on one request at a time (``HTTPExchange``) and reads nothing more before the answer has been sent. It
/// holds the answer and gives the transport one slice of it at a time. It refuses requests that ``RequestRule`` does
/// not allow, sends no body in answer to HEAD, and ends the connection of a peer that sends or takes too little. It
/// takes WebSocket handshakes out of the stream, since proxies send them on connections that they have used before.
///
/// The server's timer keeps its deadlines. Confined to the channel's loop.
package final class HTTPConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPServerRequestPart
    package typealias OutboundIn = HTTPServerResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    /// The parts of the server that the handler needs.
    package struct Dependencies {
        /// The limits on a peer's time and bytes.
        package var limits: HTTPExchange.Limits
        /// Fields that are added to every answer that lacks them.
        package var fields: [(name: String, value: String)]
        /// The body of the answer to a violation, JSON (RFC 9457).
        package var problem: (HTTPViolation) -> [UInt8]
        /// Asks for a call of ``HTTPConnectionHandler/deadlineReached(at:)`` at this time, or earlier.
        package var schedule: (NIODeadline) -> Void
        /// Ends the calls for this connection: it is closed, or no longer HTTP.
        package var forget: () -> Void
        /// Takes over the connection with the head of a WebSocket handshake.
        package var takeOver: (any Channel, RequestHead) -> Void
        /// Reports that a request was passed on, and that its answer has been sent; once each.
        package var requestBegan: () -> Void
        package var requestEnded: () -> Void
        /// Reports the number of bytes of the connection's own memory that wait for the peer.
        package var setWaiting: (Int) -> Void
        /// Returns the bytes that wait for the peer in the process and in the system; nil if that is not known.
        package var unsentBytes: (any Channel) -> Int?

        package init(
            limits: HTTPExchange.Limits, fields: [(name: String, value: String)] = [],
            problem: @escaping (HTTPViolation) -> [UInt8], schedule: @escaping (NIODeadline) -> Void = { _ in },
            forget: @escaping () -> Void = {}, takeOver: @escaping (any Channel, RequestHead) -> Void,
            requestBegan: @escaping () -> Void = {}, requestEnded: @escaping () -> Void = {},
            setWaiting: @escaping (Int) -> Void = { _ in }, unsentBytes: @escaping (any Channel) -> Int? = { _ in nil }
        ) {
            self.limits = limits
            self.fields = fields
            self.problem = problem
            self.schedule = schedule
            self.forget = forget
            self.takeOver = takeOver
            self.requestBegan = requestBegan
            self.requestEnded = requestEnded
            self.setWaiting = setWaiting
            self.unsentBytes = unsentBytes
        }
    }

    /// Input that was read before its turn.
    enum Ahead {
        case part(HTTPServerRequestPart)
        case failure(HTTPViolation)
    }

    /// The timer's own record for this connection.
    package var wheelTick: Int?
    let dependencies: Dependencies
    var exchange = HTTPExchange(at: .now())
    var context: ChannelHandlerContext?
    var gate: HTTPInputGate?
    /// The bytes of the request's body that its head announced and that have not arrived; 0 if that is not known.
    var knownBody = 0
    var queue = AnswerQueue()
    /// The bytes that the transport was given and has not sent; nil if there are none.
    var inTransport: Int?
    /// Whether ``pump()`` is under way.
    var isPumping = false
    /// Whether the answer has no body because the request is HEAD.
    var isHead = false
    /// Whether everything that the HTTP server writes is dropped until the end of the answer.
    var isAnswerDropped = false
    /// Objects that are kept alive until the answer has been sent.
    var kept: [AnyObject] = []
    /// The bytes given to the transport since the connection began, and how many of them the peer had taken at the last
    /// measurement.
    var given = 0
    var takenSeen = 0

    private var ahead: [Ahead] = []
    /// The head of a WebSocket handshake, until the end of the request has arrived.
    private var handshake: RequestHead?
    private var isReadingPutOff = false
    /// Whether ``goOn()`` is under way.
    private var isGoingOn = false
    /// Whether the transport was asked to read and no bytes have arrived yet.
    private var isReading = false
    private var isRequestCounted = false

    init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
    }

    /// Adds a handler behind SwiftNIO's reader of requests, and the gate before that reader.
    @discardableResult
    package static func add(to channel: any Channel, _ dependencies: Dependencies) throws -> HTTPConnectionHandler {
        let pipeline = channel.pipeline.syncOperations
        let reader = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let handler = HTTPConnectionHandler(dependencies)
        try pipeline.addHandler(handler, position: .after(reader))
        try pipeline.addHandler(HTTPInputGate(handler), position: .before(reader))
        return handler
    }

    /// Keeps an object alive until the answer to the request in progress has been sent, or the connection ends.
    package func keep(_ object: some AnyObject) {
        if context != nil { kept.append(object) }
    }

    // MARK: Channel

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        guard context != nil else { return }
        context = nil
        if !exchange.isOver { dependencies.forget() }
        exchange.closed()
        ahead = []
        queue.removeAll()
        requestDone()
        dependencies.setWaiting(0)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !exchange.isOver, let fault = error as? HTTPParserError else { return context.close(promise: nil) }
        let violation: HTTPViolation =
            switch fault {
            case .headerOverflow: .headTooLarge
            case .invalidVersion: .unsupportedVersion
            default: .malformed
            }
        if takesInput {
            perform(exchange.violated(violation))
        } else if !dropsInput {
            ahead.append(.failure(violation))
        }
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output, !exchange.isOver else { return context.close(mode: mode, promise: promise) }
        // The HTTP server has nothing more to send; its earlier output is sent before the connection closes.
        promise?.succeed(())
        perform(exchange.askedToEnd())
    }

    /// A peer that ends its side of the connection while its request is answered gets the answer, as its last one.
    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard !exchange.isOver, event as? ChannelEvent == .inputClosed else {
            return context.fireUserInboundEventTriggered(event)
        }
        perform(exchange.askedToEnd())
    }

    /// Whether the connection outlives the end of the peer's side: while an answer is owed to a whole request.
    private func outlivesInput(_ isSo: Bool) {
        try? context?.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: isSo)
    }

    // MARK: Reading

    /// Whether input is wanted.
    var takesInput: Bool { ahead.isEmpty && exchange.takesInput }
    /// Whether input is dropped.
    var dropsInput: Bool { exchange.isLingering || exchange.isOver }

    func bytesCame(_ count: Int) {
        isReading = false
        perform(exchange.bytesCame(count, dependencies.limits, at: .now()))
    }

    /// Called when all input that has arrived was handled.
    func inputHandled() {
        guard !exchange.isOver, takesInput, !exchange.isBetweenRequests else { return }
        scheduleNext()
    }

    package func read(context: ChannelHandlerContext) {
        if exchange.isOver || dropsInput || takesInput && gate?.isEmpty != false {
            isReading = true
            context.read()
        } else {
            isReadingPutOff = true
        }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if takesInput { take(part, context) } else if !dropsInput { ahead.append(.part(part)) }
    }

    private func take(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(var head):
            do throws(HTTPViolation) {
                try RequestRule.check(&head)
                begin(head, context)
            } catch {
                isHead = head.method == .HEAD
                perform(exchange.violated(error))
            }
        case .body(let bytes):
            knownBody = max(0, knownBody - bytes.readableBytes)
            let step = exchange.bodyCame(bytes.readableBytes, dependencies.limits)
            guard step == .pass else { return perform(step) }
            if handshake == nil { context.fireChannelRead(wrapInboundOut(part)) }
        case .end:
            knownBody = 0
            guard exchange.endCame(at: .now()) == .pass else { return }
            if let handshake {
                self.handshake = nil
                handOver(handshake, context)
            } else {
                outlivesInput(true)
                context.fireChannelRead(wrapInboundOut(part))
                perform(exchange.nextIfDone(at: .now()))
            }
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var head = head
        var isLast = !head.isKeepAlive
        if head.headers.contains(name: "Upgrade") {
            if let request = RequestHead(head), request.asksForWebSocket {
                handshake = request
                return begin(request)
            }
            // After a request to leave HTTP, SwiftNIO's reader no longer parses HTTP, even if the request is not
            // granted.
            isLast = true
        }
        isHead = head.method == .HEAD
        isAnswerDropped = false
        knownBody = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        if isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        let declared = head.headers.contains(name: "Transfer-Encoding") ? nil : knownBody
        guard exchange.headCame(isLast: isLast, declared: declared, at: .now()) == .pass else { return }
        dependencies.requestBegan()
        isRequestCounted = true
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func begin(_ handshake: RequestHead) {
        _ = exchange.headCame(isLast: true, at: .now())
    }

    private func handOver(_ handshake: RequestHead, _ context: ChannelHandlerContext) {
        exchange.handedOver()
        dependencies.forget()
        dependencies.takeOver(context.channel, handshake)
    }

    /// Handles input that arrived before its turn, then input that was held back, then reads more.
    private func goOn() {
        guard let context, !isGoingOn else { return }
        isGoingOn = true
        while !ahead.isEmpty, exchange.takesInput {
            let first = ahead.removeFirst()
            // Input that arrives meanwhile is added after the rest.
            let rest = ahead
            ahead = []
            switch first {
            case .part(let part):
                _ = exchange.bytesCame(0, dependencies.limits, at: .now())
                take(part, context)
            case .failure(let violation):
                perform(exchange.violated(violation))
            }
            ahead = rest + ahead
        }
        isGoingOn = false
        if ahead.isEmpty { gate?.resume() }
        context.fireChannelReadComplete()
        readIfPutOff()
    }

    private func readIfPutOff() {
        guard isReadingPutOff, let context, takesInput || dropsInput, gate?.isEmpty != false || dropsInput else {
            return
        }
        isReadingPutOff = false
        isReading = true
        context.read()
    }

    // MARK: Steps

    /// Carries out a step of the exchange.
    func perform(_ step: HTTPExchange.Step) {
        guard let context else { return }
        switch step {
        case .pass, .drop, .nothing:
            break
        case .refuse(let violation):
            refuse(violation)
        case .next:
            outlivesInput(false)
            requestDone()
            isHead = false
            goOn()
        case .linger:
            requestDone()
            exchange.lingers(at: .now())
            ahead = []
            scheduleNext()
            readIfPutOff()
        case .close:
            context.close(promise: nil)
        }
    }

    private func requestDone() {
        releaseKept()
        guard isRequestCounted else { return }
        isRequestCounted = false
        dependencies.requestEnded()
    }

    /// Releases the objects that were kept alive until the answer was sent.
    func releaseKept() {
        if !kept.isEmpty { kept = [] }
    }

    // MARK: Time

    /// Schedules the next check of the deadlines, which may have become earlier.
    func scheduleNext() {
        guard let deadline = exchange.deadline(dependencies.limits) else { return }
        dependencies.schedule(
            exchange.isWaiting
                ? min(deadline, .now() + .nanoseconds(dependencies.limits.stall.nanoseconds / 8)) : deadline)
    }

    /// Extends the peer's deadlines by a time in which this server did not look at the connection.
    package func excuse(_ pause: TimeAmount) {
        exchange.excuse(pause)
    }

    /// Does what is due at this time, and returns the time of the next check; nil if none is needed.
    package func deadlineReached(at now: NIODeadline) -> NIODeadline? {
        guard context != nil, !exchange.isOver else { return nil }
        noteProgress(at: now)
        // Bytes that were not requested cannot arrive.
        if !isReading { exchange.excuseBody(.seconds(1)) }
        perform(exchange.timeCame(now, dependencies.limits))
        guard context != nil, !exchange.isOver else { return nil }
        let limits = dependencies.limits
        let next = exchange.deadline(limits) ?? now + limits.idle
        // Progress counts from the time when it was measured.
        return exchange.isWaiting ? min(next, now + .nanoseconds(limits.stall.nanoseconds / 8)) : next
    }
}

package import NIOCore
import NIOHTTP1

extension HTTPConnectionHandler {
    /// The slices that are passed on in one turn of the event loop; other connections have theirs between the turns.
    private static let slicesOfOneTurn = 8

    /// Accepts a part of an answer; the promise succeeds when the part is accepted, not when it has been sent.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        defer { promise?.succeed(()) }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code < 200:
            // A status of 100 tells the peer to continue, so it is sent at once.
            if exchange.owesAnswer { context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil) }
        case .head(var head):
            let isTooLong = head.status == .payloadTooLarge
            guard exchange.answerBegan(isTooLong: isTooLong, dependencies.limits) else { return isAnswerDropped = true }
            for field in dependencies.fields where !head.headers.contains(name: field.name) {
                head.headers.add(name: field.name, value: field.value)
            }
            if exchange.isEnding {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            } else {
                head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
                if let keepAlive { head.headers.replaceOrAdd(name: "Keep-Alive", value: keepAlive) }
            }
            queue.append(.head(head))
        case .body(let body):
            // RFC 9110 §9.3.2: the answer to HEAD has the fields of the answer to GET, and no body.
            guard !isAnswerDropped, !isHead else { return }
            queue.append(.body(body))
            if queue.byteCount >= AnswerQueue.sliceLength { pump() }
        case .end(let trailers):
            guard !isAnswerDropped else { return }
            queue.append(.end(isHead ? nil : trailers))
            exchange.answerEnded()
            pump()
        }
    }

    /// The time for which the connection waits for another request, so that a proxy leaves it before it is closed; nil
    /// below a second.
    private var keepAlive: String? {
        let seconds = dependencies.limits.idle.nanoseconds / 1_000_000_000
        return seconds > 0 ? "timeout=\(seconds)" : nil
    }

    /// Flushes only after HTTP has ended: answers are flushed slice by slice.
    package func flush(context: ChannelHandlerContext) {
        if exchange.isOver { context.flush() }
    }

    /// Answers a violation; no part of an earlier answer may be waiting.
    func refuse(_ violation: HTTPViolation) {
        isAnswerDropped = true
        let body = dependencies.problem(violation)
        var headers = HTTPHeaders(dependencies.fields.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Content-Type", value: "application/problem+json")
        headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)")
        headers.replaceOrAdd(name: "Connection", value: "close")
        queue.append(
            .head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: violation.status), headers: headers)))
        if !isHead { queue.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        queue.append(.end(nil))
        pump()
    }

    /// Gives the transport one slice after the other, as it sends them.
    func pump() {
        guard !isPumping, let context else { return }
        isPumping = true
        var turns = 0
        while inTransport == nil, !queue.isEmpty {
            guard turns < Self.slicesOfOneTurn else {
                let this = NIOLoopBound(self, eventLoop: context.eventLoop)
                context.eventLoop.execute { this.value.pump() }
                break
            }
            turns += 1
            hand(queue.takeSlice(), context)
            if self.context == nil { break }
        }
        isPumping = false
        settle()
    }

    private func hand(_ slice: (parts: [HTTPServerResponsePart], bytes: Int), _ context: ChannelHandlerContext) {
        inTransport = slice.bytes
        given += slice.bytes
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { result in
            guard case .success = result else { return self.transportFailed() }
            self.inTransport = nil
            if !self.isPumping { self.pump() }
        }
        for part in slice.parts.dropLast() { context.write(wrapOutboundOut(part), promise: nil) }
        if let last = slice.parts.last {
            context.writeAndFlush(wrapOutboundOut(last), promise: written)
        } else {
            written.succeed(())
        }
    }

    private func transportFailed() {
        queue.removeAll()
        context?.close(promise: nil)
    }

    /// Updates the exchange and the server about the bytes that wait for the peer, if any.
    private func settle() {
        guard context != nil else { return }
        guard queue.isEmpty, inTransport == nil else {
            dependencies.setWaiting(inTransport ?? 0)
            exchange.waits(at: .now())
            return scheduleNext()
        }
        dependencies.setWaiting(0)
        guard exchange.isAnswerWritten else { return exchange.waitsNoMore(at: .now()) }
        releaseKept()
        perform(exchange.answerLeft(at: .now()))
    }

    /// Measures how much the peer has taken; only the system's socket buffer tells.
    func noteProgress(at now: NIODeadline) {
        guard let context else { return }
        let unsent = dependencies.unsentBytes(context.channel) ?? inTransport ?? 0
        if unsent > 0 { exchange.waits(at: now) }
        let taken = given - unsent
        if taken > takenSeen { exchange.progressed(by: taken - takenSeen, at: now) }
        takenSeen = taken
        if unsent == 0, queue.isEmpty { exchange.waitsNoMore(at: now) }
    }
}

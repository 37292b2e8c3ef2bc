package import NIOCore
import NIOHTTP1

extension HTTPConnectionHandler {
    /// Slices that are handed on in one turn of the loop: other connections have theirs in between.
    private static let slicesOfOneTurn = 8

    /// Takes a part of an answer; its promise says that it was taken, not that it has left.
    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        defer { promise?.succeed(()) }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status.code < 200:
            // 100 tells the peer to go on: at once.
            if exchange.owesAnswer { context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil) }
        case .head(var head):
            guard exchange.answerBegan() else { return isAnswerDropped = true }
            for field in surroundings.fields where !head.headers.contains(name: field.name) {
                head.headers.add(name: field.name, value: field.value)
            }
            if exchange.isEnding {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            } else if isKeptByWord {
                head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
            }
            queue.append(.head(head))
        case .body(let body):
            // RFC 9110 §9.3.2: the fields of the answer to GET, and nothing after them.
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

    /// Answers come whole: they are flushed by slices.
    package func flush(context: ChannelHandlerContext) {
        if exchange.isOver { context.flush() }
    }

    /// Answers a violation; nothing of an earlier answer waits.
    func refuse(_ violation: HTTPViolation) {
        isAnswerDropped = true
        let body = surroundings.problem(violation)
        var headers = HTTPHeaders(surroundings.fields.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Content-Type", value: "application/problem+json")
        headers.replaceOrAdd(name: "Content-Length", value: "\(body.count)")
        headers.replaceOrAdd(name: "Connection", value: "close")
        queue.append(
            .head(HTTPResponseHead(version: .http1_1, status: .init(statusCode: violation.status), headers: headers)))
        if !isHead { queue.append(.body(.byteBuffer(ByteBuffer(bytes: body)))) }
        queue.append(.end(nil))
        pump()
    }

    /// Gives the transport one slice after the other, as it passes them on.
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

    /// Notes what waits, or that nothing does.
    private func settle() {
        guard context != nil else { return }
        guard queue.isEmpty, inTransport == nil else {
            surroundings.setWaiting(inTransport ?? 0)
            exchange.waits(at: .now())
            return scheduleNext()
        }
        surroundings.setWaiting(0)
        guard exchange.isAnswerWritten else { return exchange.waitsNoMore(at: .now()) }
        releaseKept()
        perform(exchange.answerLeft(at: .now()))
    }

    /// Looks at how much the peer has taken; its system's word is all there is about it.
    func noteProgress(at now: NIODeadline) {
        guard let context else { return }
        let unsent = surroundings.unsentBytes(context.channel) ?? inTransport ?? 0
        if unsent > 0 { exchange.waits(at: now) }
        let taken = given - unsent
        if taken > takenSeen { exchange.progressed(by: taken - takenSeen, at: now) }
        takenSeen = taken
        if unsent == 0, queue.isEmpty { exchange.waitsNoMore(at: now) }
    }
}

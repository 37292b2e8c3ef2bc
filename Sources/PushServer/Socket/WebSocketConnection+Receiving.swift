import NIOCore
import RoomService
import RoomWire
import WebSocketCodec

// The input of the peer: turns of reading, its cost, and the handling of messages.
extension WebSocketConnection {
    /// The longest time for which nothing is read after a refusal.
    private static let longestPause = TimeAmount.seconds(1)
    /// How often input is read from a peer whose bytes are dropped.
    private static let dropInterval = TimeAmount.milliseconds(20)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        let now = loop.now
        deadlines.received(at: now)
        loop.tally.bytesReceived += bytes.readableBytes
        guard !deadlines.isLingering else { return }
        if !input.isEmpty {
            // New input waits behind the earlier one.
            input.append(&bytes)
        } else if turns.handlesAtOnce(at: now) {
            deal(with: &bytes)
            leaveIfDone()
            readIfDue()
        } else {
            input.append(&bytes)
            waitForTurn()
        }
    }

    /// Handles input until all of it is taken or the connection must stop; the rest waits.
    ///
    /// It stops when it is another connection's turn, when more answers wait than may, or when the session or the
    /// address has sent more than it may.
    private func deal(with bytes: inout ByteBuffer) {
        let start = loop.now
        let end = turns.begin(at: start)
        defer {
            turns.end(from: start, to: loop.now)
            chargeInput()
        }
        do throws(FrameViolation) {
            while true {
                let (step, frames) = try input.read(&bytes)
                let verdict = charge(frames)
                // After an excess, no further input is handled.
                guard !deadlines.isLingering, let step else { return }
                handle(step, verdict)
                guard bytes.readableBytes > 0, !deadlines.isLingering,
                    turns.isPaused || !takesAnswers || loop.now >= end
                else { continue }
                input.append(&bytes)
                return waitForTurn()
            }
        } catch {
            violated(error)
        }
    }

    /// Whether input that waits may be handled.
    private var mayGoOn: Bool { takesAnswers || !closing.isOpen }

    /// Continues with the rest, in turns with others; not during a pause, or before the peer takes its answers again.
    func waitForTurn() {
        guard turns.standInLine(mayGoOn: mayGoOn) else { return }
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.turns.assumeIsolated { $0.add { this.value.takeTurn() } }
    }

    /// Handles a part of the rest; returns whether there is more.
    private func takeTurn() -> Bool {
        var bytes = input.take()
        if context != nil, !deadlines.isLingering {
            deal(with: &bytes)
            leaveIfDone()
            readIfDue()
        }
        return turns.turnEnded(inputWaits: !input.isEmpty, mayGoOn: mayGoOn)
    }

    /// Pauses reading from a peer that was told to wait: its excess waits in the network, where it costs nothing.
    private func pause(forMs milliseconds: Int) {
        guard turns.pause() else { return }
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let pause = min(.milliseconds(Int64(milliseconds)), Self.longestPause)
        loop.eventLoop.scheduleTask(in: pause) { this.value.goOn() }
    }

    private func goOn() {
        turns.resume()
        guard context != nil, !deadlines.isLingering else { return }
        if input.isEmpty { readIfDue() } else { waitForTurn() }
    }

    func read(context: ChannelHandlerContext) {
        if mayRead { return context.read() }
        turns.putOffRead()
        if deadlines.isLingering { readInAWhile() }
    }

    /// Reads input that is dropped only at intervals, so that a peer that continues to send costs next to nothing.
    func readInAWhile() {
        guard turns.scheduleRead() else { return }
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.scheduleTask(in: Self.dropInterval) {
            let connection = this.value
            connection.turns.scheduledTimeCame()
            if let context = connection.context, connection.turns.readNow() { context.read() }
        }
    }

    /// Whether more may be read: a peer that does not take its answers is not read from, which bounds the output that
    /// waits for it.
    private var mayRead: Bool {
        guard input.isEmpty, !turns.isHandling, !turns.isPaused, !deadlines.isLingering else { return false }
        // After a close, only the peer's own close is expected.
        guard closing.isOpen else { return true }
        return takesAnswers && requests.takesMore && !deadlines.isLeaving
    }

    /// Resumes reading if it was put off and is allowed again.
    func readIfDue() {
        guard turns.isReadPutOff, let context, mayRead, turns.readNow() else { return }
        // Input that the peer sent in the meantime is read only now.
        deadlines.received(at: loop.now)
        context.read()
    }

    /// Charges frames to the socket, its session and its address.
    ///
    /// A frame without an answer cannot be told to wait: if it is refused, it counts only towards the close.
    private func charge(_ count: Int) -> MessageBudget.Verdict {
        guard count > 0 else { return .accepted }
        let verdict = input.count(
            count, perSecond: loop.settings.rates.maximumMessagesPerSecond, at: deadlines.lastReceived)
        switch verdict {
        case .accepted:
            guard let wait = loop.admission.frames(count, of: session.id, from: account.network) else { return verdict }
            pause(forMs: wait)
            return .refused(retryAfterMs: wait)
        case .refused:
            break
        case .exceeded:
            closeAndIgnore(.tooManyMessages, "too many messages")
        }
        return verdict
    }

    /// Charges output beyond an ordinary answer, which may overdraw the budget.
    func charge(answerOf bytes: Int) {
        input.count(
            answerOf: bytes, perSecond: loop.settings.rates.maximumMessagesPerSecond, at: deadlines.lastReceived)
    }

    private func handle(_ step: MessageReader.Step, _ verdict: MessageBudget.Verdict) {
        switch step {
        case .text(let text):
            loop.tally.framesReceived.text += 1
            guard closing.isOpen else { return }
            switch verdict {
            case .accepted: take(text, received: loop.rooms.clock.milliseconds)
            case .refused(let wait): refuse(text, retryAfterMs: wait)
            case .exceeded: break
            }
        case .binary:
            loop.tally.framesReceived.binary += 1
            close(.unsupportedData, "binary messages are not supported")
        case .ping(let payload):
            loop.tally.framesReceived.ping += 1
            guard closing.isOpen else { return }
            write(.pong, payload)
        case .pong:
            loop.tally.framesReceived.pong += 1
        case .close(let reason):
            loop.tally.framesReceived.close += 1
            perform(closing.peerClosed(reason))
            hub.remove(self)
        }
    }

    private func take(_ text: ByteBuffer, received: Double) {
        do throws(MessageViolation) {
            handle(try ClientMessage.parse(text.readableBytesUInt8Span), received: received)
        } catch {
            send(ServerMessage.error(error))
        }
    }

    private func refuse(_ text: ByteBuffer, retryAfterMs: Int) {
        loop.tally.messagesRateLimited += 1
        let failure = CommandFailure(.rateLimited, "too many messages", retryAfterMs: retryAfterMs)
        do throws(MessageViolation) {
            refuse(try ClientMessage.parse(text.readableBytesUInt8Span), failure)
        } catch {
            requests.order.note(error.re, of: nil, failure)
            refuse(error.re, failure)
        }
    }
}

import NIOCore
import RoomService
import RoomWire
import WebSocketCodec

// What comes from the peer: turns of reading, what it costs, and what is done with it.
extension WebSocketConnection {
    /// So many bytes count like a frame.
    private static let bytesOfOneFrame = 4_096
    /// Frames that one connection has dealt with in a row before others have their turn: about a millisecond.
    private static let framesOfOneTurn = 128
    /// Commands in flight above which nothing more is read from the peer.
    private static let commandsInFlightLimit = 1_024

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        lastReceived = .now()
        hub.tally.bytesReceived += bytes.readableBytes
        guard !isLingering else { return }
        if unread.readableBytes > 0 {
            // Its turn comes behind what is there.
            unread.writeBuffer(&bytes)
        } else {
            deal(with: &bytes)
        }
    }

    /// Deals with bytes until they are all taken, or have taken so much work that it is another connection's turn.
    private func deal(with bytes: inout ByteBuffer) {
        var work = 0
        do throws(FrameViolation) {
            while true {
                let step = try reader.receive(&bytes)
                let count = Self.count(of: reader.takeCost())
                let verdict = charge(count)
                // After the excess nothing more is looked at.
                guard !isLingering, let step else { return }
                handle(step, verdict)
                work += count
                if work >= Self.framesOfOneTurn, bytes.readableBytes > 0, !isLingering { return goOnLater(with: bytes) }
            }
        } catch {
            violated(error)
        }
    }

    private func goOnLater(with bytes: ByteBuffer) {
        unread = bytes
        let this = NIOLoopBound(self, eventLoop: hub.loop)
        hub.loop.execute { this.value.goOn() }
    }

    private func goOn() {
        var bytes = unread
        unread = ByteBuffer()
        guard context != nil, !isLingering else { return }
        deal(with: &bytes)
        leaveIfDone()
        readIfDue()
    }

    func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { isReadingPutOff = true }
    }

    /// A peer that does not take its answers is not read from, so that what is owed to it stays bounded.
    private var mayRead: Bool {
        guard unread.readableBytes == 0 else { return false }
        // After a close only the peer's own is waited for.
        guard closing.isOpen else { return true }
        return takesAnswers && commandsInFlight < Self.commandsInFlightLimit && inbox.isEmpty && !isLeaving
    }

    /// Goes on reading where that was put off and may be done.
    func readIfDue() {
        guard isReadingPutOff, let context, mayRead else { return }
        isReadingPutOff = false
        // What the peer sent meanwhile is read only now.
        lastReceived = .now()
        context.read()
    }

    /// As how many frames reading counts: each complete one, and once more for each 4 KiB of the larger of a message's two
    /// lengths, on the wire and inflated.
    private static func count(of cost: ReadingCost) -> Int { cost.frames + cost.bytes / bytesOfOneFrame }

    /// Charges frames to the socket, its session and its address.
    ///
    /// A frame that has no answer cannot be told to wait: where it is refused it counts towards the close alone.
    private func charge(_ count: Int) -> MessageBudget.Verdict {
        guard count > 0 else { return .accepted }
        let verdict = take(count)
        switch verdict {
        case .accepted:
            guard let wait = hub.admission.frames(count, of: session.id, from: account.network) else { return verdict }
            return .refused(retryAfterMs: wait)
        case .refused:
            break
        case .exceeded:
            closeAndIgnore(.tooManyMessages, "too many messages")
        }
        return verdict
    }

    /// Counts what the client is given beyond an ordinary answer, which may overdraw its budget.
    func charge(answerOf bytes: Int) { _ = take(bytes / Self.bytesOfOneFrame) }

    private func take(_ count: Int) -> MessageBudget.Verdict {
        budget.take(count, perSecond: hub.settings.maximumMessagesPerSecond, at: lastReceived)
    }

    private func handle(_ step: MessageReader.Step, _ verdict: MessageBudget.Verdict) {
        switch step {
        case .text(let text):
            hub.tally.framesReceived.text += 1
            guard closing.isOpen else { return }
            switch verdict {
            case .accepted: take(text, received: hub.rooms.clock.milliseconds)
            case .refused(let wait): refuse(text, retryAfterMs: wait)
            case .exceeded: break
            }
        case .binary:
            hub.tally.framesReceived.binary += 1
            close(.unsupportedData, "binary messages are not understood")
        case .ping(let payload):
            hub.tally.framesReceived.ping += 1
            guard closing.isOpen else { return }
            write(.pong, payload)
        case .pong:
            hub.tally.framesReceived.pong += 1
        case .close(let reason):
            hub.tally.framesReceived.close += 1
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
        hub.tally.messagesRateLimited += 1
        let request: Int64?
        do throws(MessageViolation) {
            request = try ClientMessage.parse(text.readableBytesUInt8Span).id
        } catch {
            request = error.re
        }
        send(
            ServerMessage.error(
                re: request, code: .rateLimited, message: "too many messages", retryAfterMs: retryAfterMs))
    }
}

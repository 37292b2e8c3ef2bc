import NIOCore
import RoomService
import RoomWire
import WebSocketCodec

extension WebSocketConnection {
    /// Begins the close handshake; does nothing if it has begun.
    func close(_ code: CloseCode, _ reason: String) {
        perform(closing.close(CloseReason(code, reason)))
        requests.clear()
        hub.remove(self)
        // The peer's own close may have arrived already.
        if !input.isEmpty { waitForTurn() }
        readIfDue()
    }

    /// Begins the close handshake with a peer that sends too much; its further input is read and dropped.
    func closeAndIgnore(_ code: CloseCode, _ reason: String) {
        close(code, reason)
        let look = deadlines.lingers(from: loop.now)
        input.drop()
        if turns.isReadPutOff { readInAWhile() }
        loop.deadlines.schedule(id, at: look)
    }

    /// Answers a violation, then reads and drops the peer's further input.
    ///
    /// Closing a socket that has unread bytes would discard the answer on its way.
    func violated(_ violation: FrameViolation) {
        guard case .sendAndDrop(let reason) = closing.violated(violation), context != nil else {
            context?.close(promise: nil)
            return
        }
        requests.clear()
        let now = loop.now
        _ = deadlines.drops(from: now)
        loop.deadlines.schedule(id, at: deadlines.lingers(from: now))
        // The channel may have ended when these calls return.
        writeClose(reason)
        hub.remove(self)
        if turns.isReadPutOff { readInAWhile() }
    }

    /// Carries out a step of the close handshake.
    func perform(_ step: CloseHandshake.Step) {
        guard let context else { return }
        switch step {
        case .send(let reason):
            loop.deadlines.schedule(id, at: deadlines.drops(from: loop.now))
            writeClose(reason)
        case .sendAndDrop(let reason):
            writeClose(reason)
            guard !outbox.isEmpty else { return context.close(promise: nil) }
            // The rest of a snapshot waits before the close frame.
            outbox.endsConnection()
            loop.deadlines.schedule(id, at: deadlines.drops(from: loop.now))
        case .drop:
            context.close(promise: nil)
        case .nothing:
            break
        }
    }

    private func writeClose(_ reason: CloseReason?) {
        dropQueued()
        var frame = ByteBuffer()
        FrameWriter.writeClose(reason, into: &frame)
        outbox.append(frame)
        loop.tally.framesSent.close += 1
        loop.tally.bytesSent += frame.readableBytes
        flushLast()
    }

    // MARK: Leaving

    /// Announces a planned stop, and carries it out after `delay`.
    func goAway(after delay: TimeAmount) {
        guard isOpen else { return }
        send(ServerMessage.goaway(reason: "restart", reconnectInMs: Int(delay.nanoseconds / 1_000_000)))
        let end = loop.now + delay
        deadlines.leaves(at: end)
        loop.deadlines.schedule(id, at: end)
    }

    /// Closes with 1012 once every request has been answered.
    func leaveIfDone() {
        guard deadlines.isLeaving, requests.isDone, !turns.isHandling, input.isEmpty else { return }
        close(.serviceRestart, "restart")
    }
}

extension WebSocketConnection: Deadlined {
    /// The time of the next check.
    var nextDeadline: NIODeadline { deadlines.next(readsNothing: turns.isReadPutOff) }

    func excuse(_ pause: TimeAmount) { deadlines.excuse(pause) }

    func deadlineReached(at now: NIODeadline) -> NIODeadline? {
        guard let context else { return nil }
        switch deadlines.reached(now, isClosing: !closing.isOpen, readsNothing: turns.isReadPutOff) {
        case .wait: break
        case .rest: return nil
        case .drop:
            context.close(promise: nil)
            return nil
        case .endSlow:
            close(.tryAgainLater, "too slow")
            guard outbox.isEmpty else {
                // The close frame waits behind bytes that the peer does not take.
                outbox.endsConnection()
                break
            }
            context.close(promise: nil)
            return nil
        case .endSilent: close(.silent, "no traffic")
        case .leave: leaveIfDone()
        // Requests that take longer are not waited for.
        case .endLeaving: close(.serviceRestart, "restart")
        case .ping:
            write(.ping, ByteBuffer())
            send(ServerMessage.beat(time: loop.rooms.clock.now, rooms: subscriptions.positions))
        }
        return nextDeadline
    }
}

extension SocketDeadlines.Limits {
    init(_ times: ConnectionTimes) {
        self.init(
            ping: times.pingInterval, silence: times.silenceLimit, stall: times.stallLimit, close: times.closeTimeout)
    }
}

import NIOCore
import RoomService
import RoomWire
import WebSocketCodec

extension WebSocketConnection {
    /// The time for which a peer that broke the protocol must be quiet before its connection is dropped.
    private static let lingering = TimeAmount.milliseconds(250)

    /// Begins the close handshake; does nothing if it has begun.
    func close(_ code: CloseCode, _ reason: String) {
        perform(closing.close(CloseReason(code, reason)))
        inbox = []
        hub.remove(self)
        // The peer's own close may have arrived already.
        if unread.readableBytes > 0 { waitForTurn() }
        readIfDue()
    }

    /// Begins the close handshake with a peer that sends too much; its further input is read and dropped.
    func closeAndIgnore(_ code: CloseCode, _ reason: String) {
        close(code, reason)
        isLingering = true
        unread = ByteBuffer()
        if isReadingPutOff { readInAWhile() }
        loop.deadlines.schedule(id, at: .now() + Self.lingering)
    }

    /// Answers a violation, then reads and drops the peer's further input.
    ///
    /// Closing a socket that has unread bytes would discard the answer on its way.
    func violated(_ violation: FrameViolation) {
        guard case .sendAndDrop(let reason) = closing.violated(violation), context != nil else {
            context?.close(promise: nil)
            return
        }
        isLingering = true
        inbox = []
        let now = NIODeadline.now()
        dropsAt = now + loop.settings.closeTimeout
        loop.deadlines.schedule(id, at: now + Self.lingering)
        // The channel may have ended when these calls return.
        writeClose(reason)
        hub.remove(self)
        if isReadingPutOff { readInAWhile() }
    }

    /// Carries out a step of the close handshake.
    func perform(_ step: CloseHandshake.Step) {
        guard let context else { return }
        switch step {
        case .send(let reason):
            let end = NIODeadline.now() + loop.settings.closeTimeout
            dropsAt = end
            loop.deadlines.schedule(id, at: end)
            writeClose(reason)
        case .sendAndDrop(let reason):
            writeClose(reason)
            guard !outbox.isEmpty else { return context.close(promise: nil) }
            // The rest of a snapshot waits before the close frame.
            closesWhenSent = true
            let end = NIODeadline.now() + loop.settings.closeTimeout
            dropsAt = end
            loop.deadlines.schedule(id, at: end)
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
        let end = NIODeadline.now() + delay
        leavesAt = end
        loop.deadlines.schedule(id, at: end)
    }

    /// Closes with 1012 once every request has been answered.
    func leaveIfDone() {
        guard isLeaving, commandsInFlight == 0, inbox.isEmpty, !isWaiting, !isDealing, unread.readableBytes == 0
        else { return }
        close(.serviceRestart, "restart")
    }
}

extension WebSocketConnection: Deadlined {
    /// The time of the next check.
    var nextDeadline: NIODeadline {
        let settings = loop.settings
        if isLingering { return lastReceived + Self.lingering }
        if let dropsAt { return dropsAt }
        var next = nextPing
        if !isReadingPutOff { next = min(next, lastReceived + settings.silenceLimit) }
        if let stalledSince { next = min(next, stalledSince + settings.stallLimit) }
        if let leavesAt { next = min(next, isLeaving ? leavesAt + settings.closeTimeout : leavesAt) }
        return next
    }

    /// Extends the peer's deadlines by a time in which this server read nothing.
    func excuse(_ pause: TimeAmount) {
        lastReceived = lastReceived + pause
        stalledSince = stalledSince.map { $0 + pause }
    }

    func deadlineReached(at now: NIODeadline) -> NIODeadline? {
        guard let context else { return nil }
        let settings = loop.settings
        if let dropsAt {
            if dropsAt <= now || isLingering && lastReceived + Self.lingering <= now {
                context.close(promise: nil)
                return nil
            }
        } else if !closing.isOpen {
            // The peer's close was answered, so the transport ends by itself.
            return nil
        } else if let stalledSince, stalledSince + settings.stallLimit <= now {
            close(.tryAgainLater, "too slow")
            // The close frame waits behind bytes that the peer does not take.
            guard outbox.isEmpty else {
                closesWhenSent = true
                return dropsAt
            }
            context.close(promise: nil)
            return nil
        } else if !isReadingPutOff, lastReceived + settings.silenceLimit <= now {
            close(.silent, "no traffic")
        } else if let leavesAt, leavesAt <= now, !isLeaving {
            isLeaving = true
            leaveIfDone()
        } else if let leavesAt, leavesAt + settings.closeTimeout <= now {
            // Requests that take longer are not waited for.
            close(.serviceRestart, "restart")
        } else if nextPing <= now {
            nextPing = now + settings.pingInterval
            write(.ping, ByteBuffer())
            let rooms = followed.map { (room: $0.followers.room, seq: $0.followers.seq(at: $0.place)) }
            send(ServerMessage.beat(time: loop.rooms.clock.now, rooms: rooms))
        }
        return nextDeadline
    }
}

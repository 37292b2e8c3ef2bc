import NIOCore
import RoomDomain
import RoomService
import TLSTransport
import WebSocketCodec

extension WebSocketConnection {
    /// Answers that may wait before the peer is read from no further.
    private static let waitingAnswerBytes = 16_384
    /// Signals and answers that may wait before a peer that takes none of them is closed.
    private static let relayedBytes = 1 << 20
    /// A state of at most so many bytes is copied into the frame: one write is worth more than the memory.
    private static let copiedStateBytes = 4_096

    /// Sends one text message.
    func send(_ message: [UInt8]) {
        guard isOpen else { return }
        let frame = compression.takes(messageOf: message.count) ? loop.framing.compressed(message) : nil
        loop.tally.framesSent.text += 1
        write(frame ?? loop.framing.plain(message))
    }

    /// Sends one text message, the state in it as it is for all who are given it.
    func send(_ message: RoomMessage) {
        guard let state = message.state, message.count > Self.copiedStateBytes else { return send(message.bytes) }
        guard isOpen else { return }
        let (head, tail) = (message.head.span, message.tail.span)
        let compressed = compression.takes(messageOf: message.count) ? loop.framing.compressed(state) : nil
        let part = compressed ?? state.plain
        let frame =
            compressed == nil
            ? JoinedFrame(head: head, part: part.readableBytes, tail: tail)
            : JoinedFrame(head: head, compressedPart: part.readableBytes, tail: tail)
        let hold = loop.admission.states.hold(
            state, isCompressed: compressed != nil, bytes: part.readableBytes, of: account.network)
        if let hold { heldStates.append(hold) }
        loop.tally.framesSent.text += 1
        loop.tally.bytesSent += frame.before.readableBytes + part.readableBytes + frame.after.readableBytes
        outbox.append(frame.before)
        outbox.append(shared: part)
        outbox.append(frame.after)
        flushSoon()
    }

    /// Sends what another member says to this one, in the frame that all of the member's sockets get.
    ///
    /// How much of it waits is bounded where it is sent: until it is taken here, the room refuses what would be too much.
    func relay(_ signal: RelayedSignal, as frame: ByteBuffer) {
        guard isOpen else { return }
        waitingSignals.append(signal.charge)
        loop.tally.framesSent.text += 1
        write(frame)
        loop.tally.signalsSent += 1
    }

    /// Sends what nobody asked for and what may not be dropped; returns whether it was: a peer behind whom too much of
    /// this waits is closed with 1013.
    func sendIfTaken(_ message: [UInt8]) -> Bool {
        let waiting = outbox.answerBytes - outbox.sharedBytes
        guard waiting == 0 || waiting + message.count <= max(Self.relayedBytes, loop.settings.maximumOutgoingBytes)
        else {
            close(.tryAgainLater, "too slow")
            return false
        }
        send(message)
        return true
    }

    /// Sends a control frame.
    func write(_ opcode: Opcode, _ payload: ByteBuffer) {
        if opcode == .ping { loop.tally.framesSent.ping += 1 } else { loop.tally.framesSent.pong += 1 }
        write(PreparedFrame(opcode, payload: payload).bytes)
    }

    /// Writes a frame that others may get as well; it leaves with all else that is written in this turn.
    private func write(_ frame: ByteBuffer) {
        guard context != nil else { return }
        outbox.append(frame)
        loop.tally.bytesSent += frame.readableBytes
        flushSoon()
    }

    private func flushSoon() {
        guard !flushIsDue else { return }
        flushIsDue = true
        noteWaiting()
        hub.flushSoon(self)
    }

    // MARK: Deltas

    /// The transport did not take all of a delta that was sent past the outbox.
    func stalled() {
        noteStall()
        noteWaiting()
    }

    /// Tells the rooms whether something waits.
    private func noteWaiting() {
        let isWaiting = !outbox.isEmpty || !transportIsIdle
        guard isWaiting != isWaitingToSend else { return }
        isWaitingToSend = isWaiting
        for room in followed { room.followers.setWaiting(isWaiting, at: room.place) }
    }

    private func count(_ count: Int, _ kind: Outbox.Kind, bytes: Int) {
        switch kind {
        case .delta: loop.tally.deltasSent += count
        case .ephemeral: loop.tally.ephemeralSent += count
        }
        loop.tally.framesSent.text += count
        loop.tally.bytesSent += bytes
    }

    private func countLeftOut(_ kind: Outbox.Kind) {
        switch kind {
        case .delta: loop.tally.deltasLeftOut += 1
        case .ephemeral: loop.tally.ephemeralLeftOut += 1
        }
    }

    /// Puts a delta or ephemeral message behind what waits, or drops all of them where they are too many.
    func queue(_ frame: ByteBuffer, _ kind: Outbox.Kind, of room: RoomID, from seq: Int) {
        guard isOpen else { return }
        // Nothing else may happen here: whoever calls is in the middle of a delivery.
        if outbox.byteCount >= Outbox.chunkLimit { handOver() }
        guard isOpen else { return }
        defer { flushSoon() }
        let limit = loop.settings.maximumOutgoingBytes
        let waiting = outbox.droppableBytes + frame.readableBytes
        // Nobody misses a reaction: many of them are not to cost anybody its deltas.
        if case .ephemeral(.reaction) = kind, waiting > limit / 4 { return countLeftOut(kind) }
        // One is kept whatever its length: all who wait share its bytes.
        let isTooMuch = outbox.droppableBytes > 0 && waiting > limit
        guard isTooMuch || waiting >= WaitingBytes.step && !account.takes(WaitingBytes.step) else {
            count(1, kind, bytes: frame.readableBytes)
            return outbox.append(frame, kind, of: room, from: seq)
        }
        leaveOut(from: seq, of: room)
        countLeftOut(kind)
        for dropped in dropQueued() {
            countLeftOut(dropped.kind)
            leaveOut(from: dropped.from, of: dropped.room)
        }
    }

    /// Drops deltas and ephemeral messages that wait, of all rooms or of one; what was counted as sent is so no more.
    @discardableResult
    func dropQueued(of room: RoomID? = nil) -> [Outbox.Droppable] {
        let dropped = outbox.drop { room == nil || $0.room == room }
        for item in dropped { count(-1, item.kind, bytes: -item.byteCount) }
        return dropped
    }

    // MARK: Transport

    /// Bytes that wait to be sent, here and in the transport, without those that are there for others in any case.
    var waitingBytes: Int { outbox.ownBytes + (tls?.unsentByteCount ?? 0) }

    /// Charges the connection what waits for it.
    private func charge() {
        account.set((transportIsIdle ? outbox.ownBytes : waitingBytes) + heldInput)
    }

    /// Charges the connection for what has come and is not dealt with, a message that is not whole above all; where there is
    /// no room for it any more, the socket is closed with 1013.
    func chargeInput() {
        let held = reader.heldCapacity + unread.readableBytes
        guard held >= WaitingBytes.step || heldInput > 0 else { return }
        guard held <= heldInput || account.takes(held - heldInput) else {
            closeAndIgnore(.tryAgainLater, "too much is on its way from this address")
            reader = loop.makeReader(for: compression)
            heldInput = 0
            return charge()
        }
        heldInput = held
        charge()
    }

    /// Whether the peer takes its answers: few of them wait, and where nothing more may wait for its address or for all,
    /// none.
    ///
    /// A snapshot that waits counts whole: nobody is given another one meanwhile.
    var takesAnswers: Bool {
        outbox.answerBytes < Self.waitingAnswerBytes && (outbox.answerBytes == 0 || account.takes(WaitingBytes.step))
    }

    /// Whether the transport has passed on all that it was given.
    private var transportIsIdle: Bool { tls?.isIdle ?? (queuedWrites == 0) }

    /// Hands what was written to the transport, as far as it takes it.
    func flush() {
        flushIsDue = false
        handOver()
        if outbox.answerBytes == 0, !waitingSignals.isEmpty { waitingSignals = [] }
        if outbox.sharedBytes == 0, !heldStates.isEmpty { heldStates = [] }
        if transportIsIdle { stalledSince = nil } else { noteStall() }
        noteWaiting()
        charge()
        if outbox.isEmpty, closesWhenSent { context?.close(promise: nil) }
        catchUp()
        goOnNearby()
        // What was put off because too much waited.
        guard takesAnswers else { return }
        if unread.readableBytes > 0 { waitForTurn() }
        if !inbox.isEmpty || isReadingPutOff { work() }
    }

    /// Gives the transport what waits, as far as it takes it.
    private func handOver() {
        while !outbox.isEmpty, transportIsIdle { hand(outbox.takeChunk()) }
    }

    /// Hands everything that was written to the transport, whether it takes it or not: nothing comes after it.
    ///
    /// What is shared goes on leaving in pieces.
    func flushLast() {
        handOver()
        if outbox.sharedBytes > 0 { return noteStall() }
        if !outbox.isEmpty { hand(outbox.takeAll()) }
    }

    private func hand(_ bytes: ByteBuffer) {
        if let tls {
            tls.send(bytes)
        } else if let context {
            queuedWrites += 1
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { _ in
                self.queuedWrites -= 1
                if self.queuedWrites == 0 { self.drained() }
            }
            context.writeAndFlush(wrapOutboundOut(bytes), promise: written)
        }
    }

    /// The transport has passed on all that it was given.
    func drained() {
        guard stalledSince != nil else { return }
        stalledSince = nil
        flush()
    }

    private func noteStall() {
        guard stalledSince == nil, context != nil else { return }
        let now = NIODeadline.now()
        stalledSince = now
        loop.deadlines.schedule(id, at: now + loop.settings.stallLimit)
    }
}

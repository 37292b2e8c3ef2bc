import NIOCore
import RoomDomain
import RoomService
import TLSTransport
import WebSocketCodec

extension WebSocketConnection {
    /// The bytes of answers that may wait before reading from the peer stops.
    private static let waitingAnswerBytes = 16_384
    /// The bytes of signals and answers that may wait before a peer that takes none of them is closed.
    private static let relayedBytes = 1 << 20
    /// The longest state that is copied into its frame: up to this length, saving a write is worth the memory.
    private static let copiedStateBytes = 4_096

    /// Sends one text message.
    func send(_ message: [UInt8]) {
        guard isOpen else { return }
        let frame = compression.takes(messageOf: message.count) ? loop.framing.compressed(message) : nil
        loop.tally.framesSent.text += 1
        write(frame ?? loop.framing.plain(message))
    }

    /// Sends one text message, whose state shares its bytes with all who are given it.
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
        loop.tally.framesSent.text += 1
        loop.tally.bytesSent += frame.before.readableBytes + part.readableBytes + frame.after.readableBytes
        outbox.append(frame.before)
        outbox.append(shared: part, hold)
        outbox.append(frame.after)
        flushSoon()
    }

    /// Sends a signal of another member, in the frame that all sockets of the recipient get.
    ///
    /// The sender's side bounds how much of it waits: until the signal is taken here, the room refuses further ones
    /// beyond the limit.
    func relay(_ signal: RelayedSignal, as frame: ByteBuffer) {
        guard isOpen else { return }
        outbox.append(frame, signal.charge)
        loop.tally.framesSent.text += 1
        loop.tally.signalsSent += 1
        loop.tally.bytesSent += frame.readableBytes
        flushSoon()
    }

    /// Sends a message that was not requested and may not be dropped; returns whether it was sent.
    ///
    /// A peer behind whom too much of this waits is closed with 1013.
    func sendIfTaken(_ message: [UInt8]) -> Bool {
        let waiting = outbox.answerBytes - outbox.sharedBytes
        guard
            waiting == 0 || waiting + message.count <= max(Self.relayedBytes, loop.settings.sizes.maximumOutgoingBytes)
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

    /// Writes a frame that others may get as well; it is flushed with all other output of this turn.
    private func write(_ frame: ByteBuffer) {
        guard context != nil else { return }
        outbox.append(frame)
        loop.tally.bytesSent += frame.readableBytes
        flushSoon()
    }

    private func flushSoon() {
        guard outbox.asksForFlush() else { return }
        noteWaiting()
        hub.flushSoon(self)
    }

    // MARK: Deltas

    /// The transport did not take all of a delta that was sent without the outbox.
    func stalled() {
        noteStall()
        noteWaiting()
    }

    /// Tells the rooms whether output waits.
    private func noteWaiting() { subscriptions.setWaiting(!outbox.isEmpty || !transportIsIdle) }

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

    /// Adds a delta or ephemeral message to the output that waits, or drops all of them if they are too many.
    func queue(_ frame: ByteBuffer, _ kind: Outbox.Kind, of room: RoomID, from seq: Int) {
        guard isOpen else { return }
        // Nothing else may happen here, because the caller is in the middle of a delivery.
        if outbox.byteCount >= Outbox.chunkLimit { handOver() }
        guard isOpen else { return }
        defer { flushSoon() }
        let limit = loop.settings.sizes.maximumOutgoingBytes
        let waiting = outbox.droppableBytes + frame.readableBytes
        // A lost reaction does no harm, so many of them must not displace deltas.
        if case .ephemeral(.reaction) = kind, waiting > limit / 4 { return countLeftOut(kind) }
        // One message is kept whatever its length, because all who wait for it share its bytes.
        let isTooMuch = outbox.droppableBytes > 0 && waiting > limit
        guard isTooMuch || waiting >= WaitingBytes.step && !account.takes(WaitingBytes.step) else {
            count(1, kind, bytes: frame.readableBytes)
            return outbox.append(frame, kind, of: room, from: seq)
        }
        subscriptions.leaveOut(from: seq, of: room)
        countLeftOut(kind)
        for dropped in dropQueued() {
            countLeftOut(dropped.kind)
            subscriptions.leaveOut(from: dropped.from, of: dropped.room)
        }
    }

    /// Drops the waiting deltas and ephemeral messages of all rooms or of one, and takes them out of the counts of sent
    /// messages.
    @discardableResult
    func dropQueued(of room: RoomID? = nil) -> [Outbox.Droppable] {
        let dropped = outbox.drop { room == nil || $0.room == room }
        for item in dropped { count(-1, item.kind, bytes: -item.byteCount) }
        return dropped
    }

    // MARK: Transport

    /// The bytes that wait to be sent, here and in the transport, without shared ones.
    var waitingBytes: Int { outbox.ownBytes + (tls?.unsentByteCount ?? 0) }

    /// Charges the connection for its waiting output and input.
    private func charge() {
        account.set((transportIsIdle ? outbox.ownBytes : waitingBytes) + input.charged)
    }

    /// Charges the connection for input that is not handled yet.
    ///
    /// If the limits do not allow it any more, the socket is closed with 1013.
    func chargeInput() {
        switch input.charge(allows: account.takes, fresh: { loop.makeReader(for: compression) }) {
        case .unchanged: return
        case .changed: break
        case .refused: closeAndIgnore(.tryAgainLater, "too many unhandled bytes from this address")
        }
        charge()
    }

    /// Whether the peer takes its answers: few of them wait, or none if the limits of its address or of the process are
    /// reached.
    ///
    /// A waiting snapshot counts with all its bytes, so that no second one is made in the meantime.
    var takesAnswers: Bool {
        outbox.answerBytes < Self.waitingAnswerBytes && (outbox.answerBytes == 0 || account.takes(WaitingBytes.step))
    }

    /// Whether the transport has sent all that it was given.
    private var transportIsIdle: Bool { tls?.isIdle ?? (queuedWrites == 0) }

    /// Gives the output to the transport, as far as the transport takes it.
    func flush() {
        outbox.flushBegins()
        handOver()
        if transportIsIdle { deadlines.taken() } else { noteStall() }
        noteWaiting()
        charge()
        if outbox.isOver { context?.close(promise: nil) }
        catchUp()
        tellWatched()
        // Resumes work that was put off because too much waited.
        guard takesAnswers else { return }
        if !input.isEmpty { waitForTurn() }
        if requests.hasMessages || turns.isReadPutOff { work() }
    }

    /// Gives waiting output to the transport, as far as the transport takes it.
    private func handOver() {
        while !outbox.isEmpty, transportIsIdle { hand(outbox.takeChunk()) }
    }

    /// Gives all output to the transport, even if it is not idle, since nothing follows it.
    ///
    /// Shared bytes are still given in chunks.
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

    /// The transport has sent all that it was given.
    func drained() {
        guard deadlines.isStalled else { return }
        deadlines.taken()
        flush()
    }

    private func noteStall() {
        guard context != nil, !deadlines.isStalled, let look = deadlines.stalled(at: loop.now) else { return }
        loop.deadlines.schedule(id, at: look)
    }
}

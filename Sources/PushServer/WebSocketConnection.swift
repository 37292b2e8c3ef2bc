import Logging
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

/// One client's WebSocket, from the end of its opening handshake to the end of its channel.
///
/// Confined to its loop.
final class WebSocketConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    /// How a followed room stands here.
    struct Followed {
        /// The last event that was written to this connection.
        var seq: Int
        /// The first event that was left out because the peer did not keep up; nil while it keeps up.
        var leftOutFrom: Int?
    }

    let id: ConnectionID
    let hub: ConnectionHub
    var session: Session
    /// The room of a socket that was opened for one room.
    let ownRoom: RoomID?
    var rooms: [RoomID: Followed] = [:]

    /// Messages that have not been dealt with.
    var inbox: [ClientMessage] = []
    /// Whether a message is waited for that must be answered before the next one is dealt with: a subscription, or one
    /// whose room's code is being looked up.
    var isWaiting = false
    /// Whether ``work()`` is under way.
    var isWorking = false
    /// Commands that were sent to rooms and not answered.
    var commandsInFlight = 0

    private var reader: MessageReader
    private var closing = CloseHandshake(role: .server)
    private var context: ChannelHandlerContext?
    private var flushIsDue = false
    /// Bytes that were written since the last flush.
    private var unflushedBytes = 0
    /// The room for which a snapshot was asked in place of what was left out: one at a time.
    private var catchingUp: RoomID?
    /// Whether the server is stopping: nothing more is read, and what was read is finished.
    private var isLeaving = false
    /// Whether a violation was answered and what the peer still sends is read and dropped.
    private var isLingering = false
    private var readIsDue = false
    private var closeTimer: Scheduled<Void>?
    private var lastReceived = NIODeadline.now()
    private var nextPing: NIODeadline
    private var stalledSince: NIODeadline?

    /// Commands in flight above which nothing more is read from the peer.
    private static let commandsInFlightLimit = 1_024
    /// How long a peer that broke the protocol must be quiet before its connection is dropped.
    private static let lingering = TimeAmount.milliseconds(250)

    init(hub: ConnectionHub, session: Session, ownRoom: RoomID?) {
        id = hub.makeID()
        self.hub = hub
        self.session = session
        self.ownRoom = ownRoom
        reader = MessageReader(role: .server, maximumMessageLength: hub.settings.maximumMessageLength)
        nextPing = .now() + hub.settings.pingInterval
    }

    /// Whether no close has been sent or received.
    var isOpen: Bool { closing.isOpen && context != nil }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        hub.add(self)
        let settings = hub.settings
        send(
            ServerMessage.welcome(
                sessionID: session.id, name: session.name, version: settings.version, node: settings.node,
                beatMs: Int(settings.pingInterval.nanoseconds / 1_000_000), time: hub.rooms.clock.now))
        if let ownRoom { subscribe(to: ownRoom, id: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forget()
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing.transportEnded()
        forget()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The transport failed: it closes the channel itself, or can do nothing but be closed.
        context.close(promise: nil)
    }

    private func forget() {
        guard context != nil else { return }
        context = nil
        closeTimer?.cancel()
        hub.channelClosed(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        lastReceived = .now()
        guard !isLingering else { return }
        do throws(FrameViolation) {
            while let step = try reader.receive(&bytes) { handle(step) }
        } catch {
            violated(error)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stalledSince = nil
            catchUp()
            work()
        } else {
            stalledSince = stalledSince ?? .now()
        }
        context.fireChannelWritabilityChanged()
    }

    func read(context: ChannelHandlerContext) {
        if mayRead(context) { context.read() } else { readIsDue = true }
    }

    /// A peer that does not take its answers is not read from, so that what is owed to it stays bounded.
    private func mayRead(_ context: ChannelHandlerContext) -> Bool {
        // After a close only the peer's own is waited for.
        guard closing.isOpen else { return true }
        return keepsUp && commandsInFlight < Self.commandsInFlightLimit && inbox.isEmpty && !isLeaving
    }

    /// Whether the peer takes what it is given: little waits to be sent.
    var keepsUp: Bool {
        guard let context else { return false }
        return context.channel.isWritable && unflushedBytes < hub.settings.outgoingBytes
    }

    /// Goes on reading where that was put off and may be done.
    func readIfDue() {
        guard readIsDue, let context, mayRead(context) else { return }
        readIsDue = false
        context.read()
    }

    // MARK: Receiving

    private func handle(_ step: MessageReader.Step) {
        switch step {
        case .text(let text):
            guard closing.isOpen else { return }
            let received = hub.rooms.clock.milliseconds
            do throws(MessageViolation) {
                handle(try ClientMessage.parse(text.readableBytesUInt8Span), received: received)
            } catch {
                send(ServerMessage.error(error))
            }
        case .binary:
            close(.unsupportedData, "binary messages are not understood")
        case .ping(let payload):
            if closing.isOpen { write(.pong, payload) }
        case .pong:
            break
        case .close(let reason):
            perform(closing.peerClosed(reason))
            hub.remove(self)
        }
    }

    // MARK: Sending

    /// Sends one text message.
    func send(_ message: [UInt8]) {
        guard isOpen else { return }
        write(PreparedFrame(.text, capacity: message.count) { $0.writeBytes(message) }.bytes)
    }

    private func write(_ opcode: Opcode, _ payload: ByteBuffer) {
        write(PreparedFrame(opcode, payload: payload).bytes)
    }

    /// Writes a frame that others may get as well; it leaves with all else that is written in this turn.
    private func write(_ frame: ByteBuffer) {
        guard let context else { return }
        unflushedBytes += frame.readableBytes
        context.write(wrapOutboundOut(frame), promise: nil)
        guard !flushIsDue else { return }
        flushIsDue = true
        hub.flushSoon(self)
    }

    /// Hands what was written to the transport.
    func flush() {
        flushIsDue = false
        let wasFull = unflushedBytes >= hub.settings.outgoingBytes
        unflushedBytes = 0
        context?.flush()
        guard wasFull else { return }
        catchUp()
        work()
    }

    /// Brings events of a followed room, unless the peer does not keep up: then they are left out.
    func deliver(_ frame: ByteBuffer, of update: PublishedEvents) {
        guard closing.isOpen, var followed = rooms[update.room], update.seq > followed.seq else { return }
        if followed.leftOutFrom == nil, keepsUp, update.from == followed.seq + 1 {
            followed.seq = update.seq
            rooms[update.room] = followed
            write(frame)
        } else {
            followed.leftOutFrom = followed.leftOutFrom ?? followed.seq + 1
            rooms[update.room] = followed
            catchUp()
        }
    }

    /// Asks for a snapshot of a room whose events were left out, once the peer keeps up; the next follows on it.
    private func catchUp() {
        guard keepsUp, catchingUp == nil, let (room, followed) = rooms.first(where: { $0.value.leftOutFrom != nil })
        else { return }
        catchingUp = room
        hub.rooms.subscribe(
            SubscriptionRequest(
                connection: id, session: session.id, id: nil, collapsedFrom: followed.leftOutFrom, feed: hub.feed),
            to: room)
    }

    // MARK: Subscriptions

    /// Asks to follow a room; later messages wait for the answer, so that all is done in the order in which it came.
    func subscribe(to room: RoomID, id request: Int64?, position: Position? = nil) {
        isWaiting = true
        hub.rooms.subscribe(
            SubscriptionRequest(
                connection: id, session: session.id, id: request, epoch: position?.epoch, seq: position?.seq,
                feed: hub.feed),
            to: room)
    }

    /// The room accepts; what it gives joins what it will bring.
    func subscriptionBegan(_ subscription: Subscription) {
        rooms[subscription.room] = Followed(seq: subscription.seq)
        for message in subscription.messages { send(message) }
        if subscription.isCatchUp { caughtUp() } else { answered() }
    }

    /// What was asked for in place of left out events has been answered.
    func caughtUp() {
        catchingUp = nil
        catchUp()
    }

    /// The room, or whoever looks for it, does not accept.
    func subscriptionRefused(_ request: SubscriptionRequest, because refusal: SubscriptionRefusal) {
        let code: ErrorCode =
            switch refusal {
            case .noSuchRoom: .notFound
            case .banned: .banned
            case .unavailable: .unavailable
            }
        let failure = CommandFailure(code)
        send(
            ServerMessage.error(
                re: request.id, code: code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
        // The room that the socket was opened for, asked for by nobody's message.
        if request.id == nil, let ownRoom, rooms[ownRoom] == nil { closeOwnRoom(because: code) }
        guard request.collapsedFrom == nil else {
            // Tried again by the next event, or when the room is found ended.
            catchingUp = nil
            return
        }
        answered()
    }

    /// The server ends a subscription.
    func subscriptionEnded(_ room: RoomID, because code: ErrorCode) {
        send(ServerMessage.ended(room: room, code: code))
        if room == ownRoom { closeOwnRoom(because: code) }
    }

    private func closeOwnRoom(because code: ErrorCode) {
        switch code {
        case .banned: close(.banned, code.detail)
        case .notFound: close(.roomForgotten, code.detail)
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden,
            .notMember, .conflict, .roomClosed, .tooLarge, .limitReached, .rateLimited, .internal, .unavailable:
            close(.tryAgainLater, code.detail)
        }
    }

    // MARK: Closing

    /// Begins the close handshake; nothing changes where it has begun.
    func close(_ code: CloseCode, _ reason: String) {
        perform(closing.close(CloseReason(code, reason)))
        inbox = []
        hub.remove(self)
        readIfDue()
    }

    /// Answers a violation, then reads and drops what the peer is still sending: a socket that is closed with unread
    /// bytes in it would take the answer away again.
    private func violated(_ violation: FrameViolation) {
        guard case .sendAndDrop(let reason) = closing.violated(violation), let context else {
            context?.close(promise: nil)
            return
        }
        isLingering = true
        inbox = []
        writeClose(reason, context)
        hub.remove(self)
        readIfDue()
        linger(until: .now() + hub.settings.closeTimeout, context)
    }

    private func linger(until end: NIODeadline, _ context: ChannelHandlerContext) {
        closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) {
            let now = NIODeadline.now()
            guard self.context != nil, now < end, now < self.lastReceived + Self.lingering else {
                return context.close(promise: nil)
            }
            self.linger(until: end, context)
        }
    }

    private func perform(_ step: CloseHandshake.Step) {
        guard let context else { return }
        switch step {
        case .send(let reason):
            writeClose(reason, context)
            closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: hub.settings.closeTimeout) {
                self.perform(self.closing.timedOut())
            }
        case .sendAndDrop(let reason):
            writeClose(reason, context)
            context.close(promise: nil)
        case .drop:
            context.close(promise: nil)
        case .nothing:
            break
        }
    }

    private func writeClose(_ reason: CloseReason?, _ context: ChannelHandlerContext) {
        var frame = ByteBuffer()
        FrameWriter.writeClose(reason, into: &frame)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }

    /// Announces a planned stop and carries it out after `delay`.
    func goAway(after delay: TimeAmount) {
        guard isOpen, let context else { return }
        send(ServerMessage.goaway(reason: "restart", reconnectInMs: Int(delay.nanoseconds / 1_000_000)))
        let (loop, closeTimeout) = (context.eventLoop.assumeIsolated(), hub.settings.closeTimeout)
        loop.scheduleTask(in: delay) {
            self.isLeaving = true
            self.leaveIfDone()
        }
        // What takes longer is not waited for.
        loop.scheduleTask(in: delay + closeTimeout) { self.close(.serviceRestart, "restart") }
    }

    /// Closes with 1012 once everything that was asked has been answered.
    func leaveIfDone() {
        guard isLeaving, commandsInFlight == 0, inbox.isEmpty, !isWaiting else { return }
        close(.serviceRestart, "restart")
    }

    // MARK: Looking after it

    /// Pings and beats when it is time, and gives up a peer that is silent or stalled for too long.
    func sweep(at now: NIODeadline) {
        guard closing.isOpen, let context else { return }
        let settings = hub.settings
        if let stalledSince, stalledSince + settings.stallLimit < now {
            close(.tryAgainLater, "too slow")
            // The close frame stands behind what the peer does not take.
            context.close(promise: nil)
        } else if lastReceived + settings.silenceLimit < now {
            close(.silent, "no traffic")
        } else if nextPing < now {
            nextPing = now + settings.pingInterval
            write(.ping, ByteBuffer())
            let rooms = rooms.map { (room: $0.key, seq: $0.value.seq) }
            send(ServerMessage.beat(time: hub.rooms.clock.now, rooms: rooms))
        }
    }
}

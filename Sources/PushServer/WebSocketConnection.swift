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
        /// Whether the snapshot in place of what was left out has been asked for.
        var isCatchingUp = false
    }

    let id: ConnectionID
    let hub: ConnectionHub
    var session: Session
    /// The room of a socket that was opened for one room.
    let ownRoom: RoomID?
    var rooms: [RoomID: Followed] = [:]

    /// Messages that wait for the answer to one before them (a subscription, a code being looked up); nil where none
    /// does.
    var held: [ClientMessage]?
    /// Commands that were sent to rooms and not answered.
    var commandsInFlight = 0

    private var reader: MessageReader
    private var closing = CloseHandshake(role: .server)
    private var context: ChannelHandlerContext?
    private var flushIsDue = false
    private var readIsDue = false
    private var closeTimer: Scheduled<Void>?
    private var lastReceived = NIODeadline.now()
    private var nextPing: NIODeadline
    private var stalledSince: NIODeadline?

    /// Commands in flight above which nothing more is read from the peer.
    private static let commandsInFlightLimit = 1_024

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
        do throws(FrameViolation) {
            while let step = try reader.receive(&bytes) { handle(step) }
        } catch {
            perform(closing.violated(error))
            hub.remove(self)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stalledSince = nil
            catchUp()
            readIfDue()
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
        context.channel.isWritable && commandsInFlight < Self.commandsInFlightLimit && held == nil
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
        context.write(wrapOutboundOut(frame), promise: nil)
        guard !flushIsDue else { return }
        flushIsDue = true
        hub.flushSoon(self)
    }

    /// Hands what was written to the transport.
    func flush() {
        flushIsDue = false
        context?.flush()
    }

    /// Brings events of a followed room, unless the peer does not keep up: then they are left out.
    func deliver(_ frame: ByteBuffer, of update: PublishedEvents) {
        guard closing.isOpen, let context, var followed = rooms[update.room], update.seq > followed.seq else { return }
        if followed.leftOutFrom == nil, context.channel.isWritable, update.from == followed.seq + 1 {
            followed.seq = update.seq
            rooms[update.room] = followed
            write(frame)
        } else {
            followed.leftOutFrom = followed.leftOutFrom ?? followed.seq + 1
            rooms[update.room] = followed
            if context.channel.isWritable { catchUp() }
        }
    }

    /// Asks for a snapshot of every room whose events were left out.
    private func catchUp() {
        for (room, followed) in rooms {
            guard let first = followed.leftOutFrom, !followed.isCatchingUp else { continue }
            rooms[room]?.isCatchingUp = true
            hub.rooms.subscribe(
                SubscriptionRequest(
                    connection: id, session: session.id, id: nil, collapsedFrom: first, feed: hub.feed),
                to: room)
        }
    }

    // MARK: Subscriptions

    /// Asks to follow a room; later messages wait for the answer, so that all is done in the order in which it came.
    func subscribe(to room: RoomID, id request: Int64?, position: Position? = nil) {
        held = []
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
        if !subscription.isCatchUp { releaseHeld() }
    }

    /// The room, or whoever looks for it, does not accept.
    func subscriptionRefused(_ request: SubscriptionRequest, because refusal: SubscriptionRefusal) {
        let code: ErrorCode =
            switch refusal {
            case .noSuchRoom: .notFound
            case .banned: .banned
            case .unavailable: .unavailable
            }
        send(ServerMessage.error(re: request.id, code: code, message: code.detail))
        // The room that the socket was opened for, asked for by nobody's message.
        if request.id == nil, let ownRoom, rooms[ownRoom] == nil { closeOwnRoom(because: code) }
        if request.collapsedFrom == nil { releaseHeld() }
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
        default: close(.tryAgainLater, code.detail)
        }
    }

    // MARK: Closing

    /// Begins the close handshake; nothing changes where it has begun.
    func close(_ code: CloseCode, _ reason: String) {
        perform(closing.close(CloseReason(code, reason)))
        hub.remove(self)
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
        context.eventLoop.assumeIsolated().scheduleTask(in: delay) { self.close(.serviceRestart, "restart") }
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

import Logging
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import TLSTransport
import WebSocketCodec

/// The operations that a socket needs of the owner of all sockets on its event loop; called on that loop.
protocol SocketOwner: AnyObject {
    /// Brings the sockets the news of rooms, and answers.
    var feed: any SocketFeed { get }

    /// Adds a socket whose handshake is complete.
    func add(_ connection: WebSocketConnection)

    /// Removes a socket and ends its subscriptions; does nothing if it is not known.
    func remove(_ connection: WebSocketConnection)

    /// Ends a socket's subscription to a room.
    func unfollow(_ connection: WebSocketConnection, _ room: RoomID, because end: SubscriptionEnd)

    /// Flushes a socket at the end of this turn of the loop, with all other output of the turn.
    func flushSoon(_ connection: WebSocketConnection)
}

/// Carries the news of rooms to one event loop's sockets, and answers to a single socket.
protocol SocketFeed: RoomFeed {
    /// Runs `body` with a socket on its loop: at once if called there, otherwise in the order of the calls.
    ///
    /// If that socket is no longer open, `body` is not called.
    func onSocket(_ id: ConnectionID, _ body: @escaping @Sendable (WebSocketConnection) -> Void)
}

/// One client's WebSocket, from the end of its opening handshake to the end of its channel.
///
/// Confined to its loop.
final class WebSocketConnection: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = Never
    typealias OutboundOut = ByteBuffer

    let id: ConnectionID
    let loop: LoopContext
    let hub: any SocketOwner
    var session: Session
    /// The room of a socket that was opened for one room; nil for others.
    let ownRoom: RoomID?
    /// The position with which that room is resumed; nil for a snapshot.
    private let ownPosition: Position?
    /// The agreed compression.
    let compression: SocketCompression
    /// The rooms that the connection follows.
    var followed: [FollowedRoom] = []

    /// The nearby subscriptions, by the numbers of the messages that began them.
    var nearby: [Int64: NearbyRooms.WatchID] = [:]
    /// This connection as the nearby rooms know it; nil before the first subscription.
    var nearbyClient: NearbyClient?
    /// The subscriptions that get no more changes until the peer takes its answers again.
    var nearbyBehind: [NearbyRooms.WatchID] = []

    /// Whether the answer of the room that the socket was opened for is still missing.
    var isEntering = false
    /// The messages that are not answered.
    var requests = RequestQueue()

    var outbox = Outbox()
    /// Whether output waits, as the rooms know it.
    var isWaitingToSend = true
    var flushIsDue = false
    /// The number of writes that the channel has not completed; used without TLS only.
    var queuedWrites = 0
    /// The room from which a snapshot was requested to replace left-out events: one at a time.
    var catchingUp: RoomID?

    var closing = CloseHandshake(role: .server)
    var context: ChannelHandlerContext?
    /// Whether the channel is closed once the waiting output has been sent.
    var closesWhenSent = false

    var wheelTick: Int?
    var deadlines: SocketDeadlines

    /// The TLS handler that sends; nil if there is no TLS.
    let tls: TLSHandler?
    private let ticket: AddressLimit.Ticket?
    /// The connection's place among the sockets of its session; nil if they are not counted.
    private let place: OpenCount<SessionID>.Ticket?
    /// The signals that wait to be sent, as their senders are charged for them.
    var waitingSignals: [SignalBacklog.Charge] = []
    /// The states that have not been sent completely.
    var heldStates: [HeldStates.Hold] = []
    /// The bytes of the connection's own memory that wait for it.
    let account: WaitingBytes.Account
    var reader: MessageReader
    var budget: MessageBudget
    /// Input that waits for its turn.
    var unread = ByteBuffer()
    /// The bytes of unhandled input that are charged.
    var heldInput = 0
    /// Whether input is being handled.
    var isDealing = false
    /// The time for which input was handled in the current window, and the end of that window.
    var timeUsed = TimeAmount.zero
    var windowEnd = NIODeadline.uptimeNanoseconds(0)
    /// Whether the connection takes turns with others.
    var isTakingTurns = false
    /// Whether reading is paused because the session or its address has sent too much.
    var isPaused = false
    /// Whether a time is set at which input is read to be dropped.
    var isReadingInAWhile = false
    /// Whether the channel wanted to read and was not allowed to.
    var isReadingPutOff = false

    /// Makes the handler of a socket.
    ///
    /// `id` is the number of its channel; `response` is the answer to its opening handshake, which is sent with the
    /// first messages.
    init(
        _ id: ConnectionID, response: ByteBuffer, loop: LoopContext, hub: any SocketOwner, session: Session,
        ownRoom: RoomID?, position: Position?, compression: SocketCompression, tls: TLSHandler?,
        ticket: AddressLimit.Ticket?, place: OpenCount<SessionID>.Ticket?, account: WaitingBytes.Account
    ) {
        self.id = id
        self.loop = loop
        self.hub = hub
        self.session = session
        self.ownRoom = ownRoom
        ownPosition = position
        self.compression = compression
        self.tls = tls
        self.ticket = ticket
        self.place = place
        self.account = account
        reader = loop.makeReader(for: compression)
        let now = NIODeadline.now()
        budget = MessageBudget(perSecond: loop.settings.maximumMessagesPerSecond, at: now)
        deadlines = SocketDeadlines(SocketDeadlines.Limits(loop.settings), at: now)
        outbox.append(response)
    }

    /// Whether no close has been sent or received.
    var isOpen: Bool { closing.isOpen && context != nil }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        hub.add(self)
        loop.deadlines.lookAfter(self, id, at: nextDeadline)
        let settings = loop.settings
        send(
            ServerMessage.welcome(
                sessionID: session.id, name: session.name, version: settings.version, node: settings.node,
                beatMs: Int(settings.pingInterval.nanoseconds / 1_000_000), time: loop.rooms.clock.now))
        if loop.rooms.sessions.hasEnded(session.id) {
            // The session ended while the socket was being opened, and its end is reported only once.
            close(.sessionEnded, "the session has ended")
        } else if let ownRoom {
            isEntering = true
            subscribe(to: ownRoom, id: nil, position: ownPosition)
        }
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
        // The transport failed: it closes the channel itself, or the channel has to be closed here.
        context.close(promise: nil)
    }

    private func forget() {
        guard context != nil else { return }
        context = nil
        loop.tally.closed(code: closeCode)
        hub.remove(self)
        loop.deadlines.forget(id)
        outbox = Outbox()
        account.set(0)
        waitingSignals = []
        heldStates = []
        unread = ByteBuffer()
    }

    /// The code with which the connection ended (RFC 6455 §7.1.5).
    private var closeCode: UInt16 {
        switch closing.outcome {
        case .closedHere(let reason), .closedByPeer(let reason): reason?.code.rawValue ?? 1005
        case .failed(let violation): violation.closeCode.rawValue
        case .lost, nil: 1006
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is TLSHandler.Drained {
            drained()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}

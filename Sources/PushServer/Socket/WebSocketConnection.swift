import Logging
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import TLSTransport
import WebSocketCodec

/// What a socket needs of the owner of all sockets on its event loop; called on that loop.
protocol SocketOwner: AnyObject {
    /// What brings the sockets what happens elsewhere.
    var feed: any SocketFeed { get }

    /// Takes in a socket whose handshake is done.
    func add(_ connection: WebSocketConnection)

    /// Forgets a socket and ends its subscriptions; nothing changes where it is not known.
    func remove(_ connection: WebSocketConnection)

    /// Ends a socket's subscription to a room.
    func unfollow(_ connection: WebSocketConnection, _ room: RoomID, because end: SubscriptionEnd)

    /// Flushes a socket at the end of this turn of the loop, with all else that is written in it.
    func flushSoon(_ connection: WebSocketConnection)
}

/// Carries what happens in rooms to one event loop's sockets, and answers to one of them.
protocol SocketFeed: RoomFeed {
    /// Runs `body` with a socket on its loop, in the order of the calls, at once when called there; never where no such
    /// socket is open any more.
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
    /// The room of a socket that was opened for one room.
    let ownRoom: RoomID?
    /// What was agreed to about compression.
    let compression: SocketCompression
    /// The rooms that are followed.
    var followed: [FollowedRoom] = []

    /// What is watched near some points, by the numbers of the messages that asked for it.
    var nearby: [Int64: NearbyRooms.WatchID] = [:]
    /// This connection, as they know it; nil before the first.
    var nearbyClient: NearbyClient?
    /// Those of them to be told nothing more until the peer takes its answers again.
    var nearbyBehind: [NearbyRooms.WatchID] = []

    /// Whether the room that the socket was opened for has not answered yet.
    var isEntering = false
    /// Messages that have not been dealt with.
    var inbox: [ClientMessage] = []
    /// Whether a message is waited for that must be answered before the next one is dealt with: a subscription, or one
    /// whose room's code is being looked up.
    var isWaiting = false
    /// Whether ``work()`` is under way.
    var isWorking = false
    /// Commands that were sent to rooms and not answered.
    var commandsInFlight = 0

    var outbox = Outbox()
    /// Whether something waits to be sent, as the rooms know it.
    var isWaitingToSend = true
    var flushIsDue = false
    /// Where there is no TLS: writes that the channel has not completed.
    var queuedWrites = 0
    /// The room for which a snapshot was asked in place of what was left out: one at a time.
    var catchingUp: RoomID?

    var closing = CloseHandshake(role: .server)
    var context: ChannelHandlerContext?
    /// Whether the server is stopping: nothing more is read, and what was read is finished.
    var isLeaving = false
    /// Whether a violation was answered and what the peer still sends is read and dropped.
    var isLingering = false

    /// Whether the channel is closed when what waits has left.
    var closesWhenSent = false

    var wheelTick: Int?
    var lastReceived = NIODeadline.now()
    var nextPing: NIODeadline
    /// Since when the peer takes nothing of what it was given.
    var stalledSince: NIODeadline?
    /// When to come back is told until; then it is closed with 1012.
    var leavesAt: NIODeadline?
    /// When the channel is closed, whatever the peer does.
    var dropsAt: NIODeadline?

    /// What sends, where there is TLS.
    let tls: TLSHandler?
    private let ticket: AddressLimit.Ticket?
    /// The connection's place among the sockets of its session, where they are counted.
    private let place: OpenCount<SessionID>.Ticket?
    /// Signals that wait to be sent, as their senders are charged for them.
    var waitingSignals: [SignalBacklog.Charge] = []
    /// States that have not left whole.
    var heldStates: [HeldStates.Hold] = []
    /// What waits for this connection in memory of its own.
    let account: WaitingBytes.Account
    var reader: MessageReader
    var budget: MessageBudget
    /// What has arrived and waits for its turn.
    var unread = ByteBuffer()
    /// Bytes that have arrived and are not dealt with, as far as they are charged.
    var heldInput = 0
    /// Whether what has arrived is being dealt with.
    var isDealing = false
    /// For how long what has arrived was dealt with since the current window began, and when that ends.
    var timeUsed = TimeAmount.zero
    var windowEnd = NIODeadline.uptimeNanoseconds(0)
    /// Whether it takes turns with others.
    var isTakingTurns = false
    /// Whether nothing is read because the session or its address has sent too much.
    var isPaused = false
    /// Whether a moment is set at which something is read to be dropped.
    var isReadingInAWhile = false
    /// Whether the channel wants to read and was not let.
    var isReadingPutOff = false

    /// Makes the handler of a socket; `id` is the number of its channel, `response` the answer to its opening
    /// handshake, which leaves with the first messages.
    init(
        _ id: ConnectionID, response: ByteBuffer, loop: LoopContext, hub: any SocketOwner, session: Session,
        ownRoom: RoomID?, compression: SocketCompression, tls: TLSHandler?, ticket: AddressLimit.Ticket?,
        place: OpenCount<SessionID>.Ticket?, account: WaitingBytes.Account
    ) {
        self.id = id
        self.loop = loop
        self.hub = hub
        self.session = session
        self.ownRoom = ownRoom
        self.compression = compression
        self.tls = tls
        self.ticket = ticket
        self.place = place
        self.account = account
        reader = loop.makeReader(for: compression)
        let now = NIODeadline.now()
        budget = MessageBudget(perSecond: loop.settings.maximumMessagesPerSecond, at: now)
        nextPing = now + loop.settings.pingInterval
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
            // While its socket was being opened: who is told of a session's end is told once.
            close(.sessionEnded, "the session has ended")
        } else if let ownRoom {
            isEntering = true
            subscribe(to: ownRoom, id: nil)
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
        // The transport failed: it closes the channel itself, or can do nothing but be closed.
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

    /// The code with which it ended (RFC 6455 §7.1.5).
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

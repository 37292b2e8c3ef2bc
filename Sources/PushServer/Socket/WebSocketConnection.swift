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
    private(set) var session: Session
    /// The agreed compression.
    let compression: SocketCompression
    /// The TLS handler that sends; nil if there is no TLS.
    let tls: TLSHandler?
    private let ticket: AddressLimit.Ticket?
    /// The connection's place among the sockets of its session; nil if they are not counted.
    private let place: OpenCount<SessionID>.Ticket?
    /// The bytes of the connection's own memory that wait for it.
    let account: WaitingBytes.Account

    /// Who asks on this connection.
    var asker: Asker { Asker(session.id, from: account.network) }

    var context: ChannelHandlerContext?
    var closing = CloseHandshake(role: .server)
    var wheelTick: Int?
    var deadlines: SocketDeadlines
    var input: SocketInput
    var turns = ReadingTurns()
    /// The messages that are not answered.
    var requests = RequestQueue()
    var subscriptions: Subscriptions<WebSocketConnection>
    var watches = SocketWatches()
    var outbox = Outbox()
    /// The number of writes that the channel has not completed; used without TLS only.
    var queuedWrites = 0

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
        self.compression = compression
        self.tls = tls
        self.ticket = ticket
        self.place = place
        self.account = account
        let now = loop.now
        deadlines = SocketDeadlines(SocketDeadlines.Limits(loop.settings.times), at: now)
        input = SocketInput(
            loop.makeReader(for: compression),
            MessageBudget(perSecond: loop.settings.rates.maximumMessagesPerSecond, at: now))
        subscriptions = Subscriptions(ownRoom: ownRoom, from: position)
        outbox.append(response)
    }

    /// Whether no close has been sent or received.
    var isOpen: Bool { closing.isOpen && context != nil }

    /// The session has a new name, which is the default name for joining.
    func rename(to name: String) { session.name = name }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        hub.add(self)
        loop.deadlines.lookAfter(self, id, at: nextDeadline)
        let settings = loop.settings
        send(
            ServerMessage.welcome(
                sessionID: session.id, name: session.name, version: settings.version, node: settings.node,
                beatMs: Int(settings.times.pingInterval.nanoseconds / 1_000_000), time: loop.rooms.clock.now))
        if loop.rooms.sessions.hasEnded(session.id) {
            // The session ended while the socket was being opened, and its end is reported only once.
            close(.sessionEnded, "the session has ended")
        } else if let (room, position) = subscriptions.enter() {
            subscribe(to: room, id: nil, position: position)
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
        input.drop()
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

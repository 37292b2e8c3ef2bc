import HTTPTransport
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

/// All connections of one event loop: sockets by number, room and session, and what is due on each.
///
/// Touched on that loop only.
final class ConnectionHub {
    let loop: any EventLoop
    let rooms: RoomHost
    let settings: RoomServerSettings
    let admission: Admission
    /// Finds the rooms that clients name.
    var lookup: RoomLookup { RoomLookup(rooms: rooms.registry, admission: admission) }
    let feed: HubFeed
    let framing = FrameMaker()
    /// What the loop does in turns.
    let turns: LoopTurns
    /// Steps of TLS handshakes: each by itself, with no more of a pause than it takes to look at the sockets.
    let handshakeTurns: LoopTurns
    /// What is due.
    private let deadlineTurns: LoopTurns
    /// What the loop's sockets have done.
    var tally = ConnectionTally()
    private let probe: EventLoopProbe

    /// Sockets on which no close has been sent or received.
    private(set) var connections: [ConnectionID: WebSocketConnection] = [:]
    /// Whoever has deadlines: channels that are making their first request, and open sockets.
    private var deadlined: [ConnectionID: any Deadlined] = [:]
    private var wheel = TimerWheel(start: .now())
    private var lastTurn = NIODeadline.now()
    /// What is due and has not been looked at.
    private var due: CircularBuffer<(tick: Int, id: ConnectionID)> = []
    /// So many are looked at in a row: to close one takes some 20 µs.
    private static let dueAtOnce = 16
    /// From this time between two turns of the wheel on, the loop has stood still.
    private static let noticedPause = TimeAmount.seconds(1)
    private var followers: [RoomID: RoomFollowers<WebSocketConnection>] = [:]
    private var connectionsOfSession: [SessionID: [ConnectionID]] = [:]
    private var nextNumber: Int
    private let numberStep: Int

    /// Sockets with something written and not flushed.
    private var unflushed: [WebSocketConnection] = []
    private var flushIsScheduled = false
    /// Rooms with something to deliver.
    private var dirty: [RoomFollowers<WebSocketConnection>] = []
    private var delivery = DeliverySchedule()

    /// Makes the hub of one loop, the `index`th of `count`, so that its numbers are unique in the process.
    init(
        loop: any EventLoop, index: Int, of count: Int, rooms: RoomHost, settings: RoomServerSettings,
        admission: Admission, feed: HubFeed, probe: EventLoopProbe
    ) {
        self.loop = loop
        self.rooms = rooms
        self.settings = settings
        self.admission = admission
        self.feed = feed
        self.probe = probe
        turns = rooms.registry.turns(of: loop)
        deadlineTurns = LoopTurns(of: loop)
        handshakeTurns = LoopTurns(of: loop, slice: .milliseconds(1), pause: .microseconds(5))
        nextNumber = index + 1
        numberStep = count
    }

    // MARK: Connections

    /// A number for a new channel.
    func makeID() -> ConnectionID {
        defer { nextNumber += numberStep }
        return ConnectionID(rawValue: nextNumber)
    }

    /// Makes what reads a socket's messages.
    func makeReader(for compression: SocketCompression) -> MessageReader {
        MessageReader(
            role: .server, maximumMessageLength: settings.maximumMessageLength, deflate: compression.parameters,
            inflater: framing.inflater)
    }

    /// Takes in a socket whose handshake is done.
    func add(_ connection: WebSocketConnection) {
        connections[connection.id] = connection
        connectionsOfSession[connection.session.id, default: []].append(connection.id)
    }

    /// Forgets a socket and ends its subscriptions; nothing changes where it is not known.
    func remove(_ connection: WebSocketConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        connectionsOfSession[connection.session.id]?.removeAll { $0 == connection.id }
        if connectionsOfSession[connection.session.id]?.isEmpty == true {
            connectionsOfSession[connection.session.id] = nil
        }
        for watch in connection.nearby.values { rooms.nearby.unwatch(watch) }
        for followed in connection.followed { unfollow(connection, followed.followers.room, because: .lost) }
    }

    /// How many channels are open that are sockets, or are making their first request; those that are closing are
    /// included.
    var openChannels: Int { deadlined.count - httpConnections }
    /// How many of those with deadlines speak HTTP.
    private var httpConnections = 0

    /// The tally, with how things stand.
    func currentTally() -> ConnectionTally {
        var tally = tally
        tally.openConnections = connections.count
        for connection in connections.values {
            tally.subscriptions += connection.followed.count
            tally.queuedBytes += connection.waitingBytes
        }
        return tally
    }

    // MARK: Deadlines

    /// Looks at `element` when `deadline` has come, and from then on whenever it says, until ``forget(_:)``.
    func lookAfter(_ element: any Deadlined, _ id: ConnectionID, at deadline: NIODeadline) {
        deadlined[id] = element
        wheel.schedule(element, id, at: deadline)
    }

    /// Looks after an HTTP connection, until ``forgetHTTP(_:)``.
    func lookAfterHTTP(_ handler: HTTPConnectionHandler, _ id: ConnectionID, at deadline: NIODeadline) {
        httpConnections += 1
        lookAfter(handler, id, at: deadline)
    }

    /// Looks no more after an HTTP connection.
    func forgetHTTP(_ id: ConnectionID) {
        guard deadlined[id] != nil else { return }
        httpConnections -= 1
        forget(id)
    }

    /// Looks at whom `id` names at an earlier deadline; nothing changes where it is not looked after.
    func schedule(_ id: ConnectionID, at deadline: NIODeadline) {
        guard let element = deadlined[id] else { return }
        wheel.schedule(element, id, at: deadline)
    }

    /// Looks no more after whom `id` names: its channel is gone.
    func forget(_ id: ConnectionID) {
        deadlined[id] = nil
    }

    /// Does what is due; called once an interval of the wheel.
    func turnWheel() {
        let now = NIODeadline.now()
        let pause = now - lastTurn
        lastTurn = now
        // The process stood still: what its peers did meanwhile nobody has seen yet.
        if pause > Self.noticedPause { for element in deadlined.values { element.excuse(pause) } }
        let isUnderWay = !due.isEmpty
        while let (tick, ids) = wheel.next(at: now) { due.append(contentsOf: ids.map { (tick, $0) }) }
        guard !isUnderWay, lookAtDue() else { return }
        let feed = feed
        deadlineTurns.assumeIsolated { $0.add { feed.attached?.lookAtDue() ?? false } }
    }

    /// Looks at some of what is due; returns whether there is more.
    private func lookAtDue() -> Bool {
        let now = NIODeadline.now()
        for _ in 0..<Self.dueAtOnce {
            guard let (tick, id) = due.popFirst() else { return false }
            guard let element = deadlined[id], element.wheelTick == tick else { continue }
            element.wheelTick = nil
            if let next = element.deadlineReached(at: now), deadlined[id] != nil {
                wheel.schedule(element, id, at: next)
            }
        }
        return !due.isEmpty
    }

    /// Tells every socket when to come back, evenly spread over `window`, and closes whatever asks for nothing.
    func drain(over window: TimeAmount) {
        for case let handler as FirstRequestHandler in deadlined.values { handler.drain() }
        let part = Double(window.nanoseconds) / Double(max(connections.count, 1))
        for (index, connection) in connections.values.enumerated() {
            connection.goAway(after: .nanoseconds(Int64((Double(index) + .random(in: 0...1)) * part)))
        }
    }

    // MARK: Rooms

    /// Ends a connection's subscription to a room.
    func unfollow(_ connection: WebSocketConnection, _ room: RoomID, because end: SubscriptionEnd) {
        guard let followed = connection.endFollowing(room) else { return }
        followed.followers.remove(followed.place)
        if followed.followers.isEmpty { followers[room] = nil }
        rooms.registry.unsubscribe(connection.id, from: room, because: end)
    }

    /// Events of a room became durable: delivered soon, with what else comes until then.
    func roomMoved(_ update: PublishedEvents) {
        guard let followers = followers[update.room] else { return }
        if followers.gather(update) { dirty.append(followers) }
        deliverSoon(pending: followers.pendingCount)
    }

    /// Something is shown to all who follow a room: delivered with what else comes until then.
    func roomShows(_ message: EphemeralMessage) {
        guard let followers = followers[message.room] else { return }
        if followers.gather(message) { dirty.append(followers) }
        deliverSoon(pending: followers.pendingCount)
    }

    /// A member says something to the one whose session this is.
    func signalArrived(_ signal: RelayedSignal) {
        let connections = connections(of: signal.session).filter { $0.follows(signal.room) }
        guard !connections.isEmpty else { return }
        // One frame of each kind, whatever the number of sockets.
        let plain = framing.plain(signal.message)
        var compressed: ByteBuffer??
        for connection in connections {
            guard connection.compression.takes(messageOf: signal.message.count) else {
                connection.relay(signal, as: plain)
                continue
            }
            let frame = compressed ?? framing.compressed(signal.message)
            compressed = frame
            connection.relay(signal, as: frame ?? plain)
        }
    }

    /// A subscription was accepted.
    func subscriptionBegan(_ subscription: Subscription) {
        guard let connection = connections[subscription.connection], connection.isOpen else {
            // Gone by now.
            return rooms.registry.unsubscribe(subscription.connection, from: subscription.room, because: .lost)
        }
        if subscription.isCatchUp, !connection.lacksDeltas(of: subscription.room) {
            // It was answered by a later subscription, or unsubscribed, which the room has heard behind this.
            return connection.caughtUp()
        }
        if subscription.isCatchUp, connection.awaitsAnswer(of: subscription.room) || connection.isLate(subscription) {
            // It has asked for the room once more: that answer takes, or took, this one's place.
            return connection.caughtUp()
        }
        if subscription.isCatchUp, !subscription.isSnapshot, connection.mustBeginAnew(subscription.room) {
            // The rest of an answer, of a log that is no more.
            return connection.caughtUp()
        }
        connection.subscriptionBegan(subscription, followers: followersToJoin(of: subscription.room))
    }

    private func followersToJoin(of room: RoomID) -> RoomFollowers<WebSocketConnection> {
        if let known = followers[room] { return known }
        let made = RoomFollowers<WebSocketConnection>(of: room)
        followers[room] = made
        return made
    }

    /// A subscription was refused.
    func subscriptionRefused(_ request: SubscriptionRequest, because failure: RoomFailure) {
        connections[request.connection]?.subscriptionRefused(request, because: failure)
    }

    /// A room banned a session.
    func sessionBanned(_ session: SessionID, from room: RoomID) {
        for connection in connections(of: session) where connection.follows(room) {
            // What it may still see comes before it is told.
            deliver()
            unfollow(connection, room, because: .asked)
            connection.subscriptionEnded(room, because: .banned)
        }
    }

    /// A room's log is another one: nothing of before is shown any more, and everybody begins with a snapshot.
    func roomBegan(_ room: RoomID) {
        guard let followers = followers[room] else { return }
        followers.beginAnew()
        for connection in followers.connections {
            connection.dropQueued(of: room)
            connection.catchUp()
        }
    }

    /// A room is no more.
    func roomForgotten(_ room: RoomID) {
        deliver()
        for connection in followers[room]?.connections ?? [] {
            unfollow(connection, room, because: .asked)
            connection.subscriptionEnded(room, because: .notFound)
        }
    }

    // MARK: Sessions

    /// Closes a session's sockets.
    func sessionEnded(_ session: SessionID) {
        for connection in connections(of: session) { connection.close(.sessionEnded, "the session has ended") }
    }

    /// The sessions that have sockets here.
    var sessions: [SessionID] { Array(connectionsOfSession.keys) }

    /// Notes a session's new name, which is the default for joining.
    func sessionRenamed(_ session: SessionID, to name: String) {
        for connection in connections(of: session) { connection.session.name = name }
    }

    private func connections(of session: SessionID) -> [WebSocketConnection] {
        (connectionsOfSession[session] ?? []).compactMap { connections[$0] }
    }

    // MARK: Sending

    /// Flushes a socket at the end of this turn of the loop, with all else that is written in it.
    func flushSoon(_ connection: WebSocketConnection) {
        unflushed.append(connection)
        guard !flushIsScheduled else { return }
        flushIsScheduled = true
        let feed = feed
        loop.execute { feed.onLoop { $0.flush() } }
    }

    private func flush() {
        flushIsScheduled = false
        let connections = unflushed
        unflushed.removeAll(keepingCapacity: true)
        for connection in connections { connection.flush() }
    }

    private func deliverSoon(pending events: Int) {
        guard let delay = delivery.next(pending: events, at: .now()) else { return }
        let feed = feed
        if delay > .zero {
            loop.scheduleTask(in: delay) { feed.onLoop { $0.deliverIfDue() } }
        } else {
            loop.execute { feed.onLoop { $0.deliverIfDue() } }
        }
    }

    private func deliverIfDue() {
        if delivery.isDue(at: .now()) { deliver() }
    }

    /// Delivers what the rooms have gathered.
    private func deliver() {
        let start = NIODeadline.now()
        let rooms = dirty
        dirty.removeAll(keepingCapacity: true)
        var events = 0
        for followers in rooms {
            events = max(events, followers.pendingCount)
            let sent = followers.deliver(framing: framing)
            tally.deltasSent += sent.deltas
            tally.ephemeralSent += sent.ephemeral
            tally.framesSent.text += sent.deltas + sent.ephemeral
            tally.bytesSent += sent.bytes
        }
        // Sockets that had something of their own to send take it and the deltas in one write.
        flush()
        delivery.done(events: events, from: start, to: .now())
    }
}

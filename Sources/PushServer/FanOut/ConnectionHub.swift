import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// All connections of one event loop: sockets by number, room and session.
///
/// Touched on that loop only.
final class ConnectionHub: SocketOwner {
    let loop: LoopContext
    let feed: any SocketFeed

    /// Sockets on which no close has been sent or received.
    private(set) var connections: [ConnectionID: WebSocketConnection] = [:]
    private var followers: [RoomID: RoomFollowers<WebSocketConnection>] = [:]
    private var connectionsOfSession: [SessionID: [ConnectionID]] = [:]

    /// Sockets with something written and not flushed.
    private var unflushed: [WebSocketConnection] = []
    private var flushIsScheduled = false
    /// Rooms with something to deliver.
    private var dirty: [RoomFollowers<WebSocketConnection>] = []
    private var delivery = DeliverySchedule()

    /// Makes the hub of a loop; `feed` brings it what happens in rooms.
    init(loop: LoopContext, feed: any SocketFeed) {
        self.loop = loop
        self.feed = feed
    }

    // MARK: Connections

    func add(_ connection: WebSocketConnection) {
        connections[connection.id] = connection
        connectionsOfSession[connection.session.id, default: []].append(connection.id)
    }

    func remove(_ connection: WebSocketConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        connectionsOfSession[connection.session.id]?.removeAll { $0 == connection.id }
        if connectionsOfSession[connection.session.id]?.isEmpty == true {
            connectionsOfSession[connection.session.id] = nil
        }
        for watch in connection.nearby.values { loop.rooms.nearby.unwatch(watch) }
        for followed in connection.followed { unfollow(connection, followed.followers.room, because: .lost) }
    }

    /// The tally, with how things stand.
    func currentTally() -> ConnectionTally {
        var tally = loop.tally
        tally.openConnections = connections.count
        for connection in connections.values {
            tally.subscriptions += connection.followed.count
            tally.queuedBytes += connection.waitingBytes
        }
        return tally
    }

    /// Tells every socket when to come back, evenly spread over `window`, and closes whatever asks for nothing.
    func drain(over window: TimeAmount) {
        loop.deadlines.drain()
        let part = Double(window.nanoseconds) / Double(max(connections.count, 1))
        for (index, connection) in connections.values.enumerated() {
            connection.goAway(after: .nanoseconds(Int64((Double(index) + .random(in: 0...1)) * part)))
        }
    }

    // MARK: Rooms

    func unfollow(_ connection: WebSocketConnection, _ room: RoomID, because end: SubscriptionEnd) {
        guard let followed = connection.endFollowing(room) else { return }
        followed.followers.remove(followed.place)
        if followed.followers.isEmpty { followers[room] = nil }
        loop.rooms.registry.unsubscribe(connection.id, from: room, because: end)
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
        let plain = loop.framing.plain(signal.message)
        var compressed: ByteBuffer??
        for connection in connections {
            guard connection.compression.takes(messageOf: signal.message.count) else {
                connection.relay(signal, as: plain)
                continue
            }
            let frame = compressed ?? loop.framing.compressed(signal.message)
            compressed = frame
            connection.relay(signal, as: frame ?? plain)
        }
    }

    /// A subscription was accepted.
    func subscriptionBegan(_ subscription: Subscription) {
        guard let connection = connections[subscription.connection], connection.isOpen else {
            // Gone by now.
            return loop.rooms.registry.unsubscribe(subscription.connection, from: subscription.room, because: .lost)
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

    func flushSoon(_ connection: WebSocketConnection) {
        unflushed.append(connection)
        guard !flushIsScheduled else { return }
        flushIsScheduled = true
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { this.value.flush() }
    }

    private func flush() {
        flushIsScheduled = false
        let connections = unflushed
        unflushed.removeAll(keepingCapacity: true)
        for connection in connections { connection.flush() }
    }

    private func deliverSoon(pending events: Int) {
        guard let delay = delivery.next(pending: events, at: .now()) else { return }
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        if delay > .zero {
            loop.eventLoop.scheduleTask(in: delay) { this.value.deliverIfDue() }
        } else {
            loop.eventLoop.execute { this.value.deliverIfDue() }
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
            let sent = followers.deliver(framing: loop.framing)
            loop.tally.deltasSent += sent.deltas
            loop.tally.ephemeralSent += sent.ephemeral
            loop.tally.framesSent.text += sent.deltas + sent.ephemeral
            loop.tally.bytesSent += sent.bytes
        }
        // Sockets that had something of their own to send take it and the deltas in one write.
        flush()
        delivery.done(events: events, from: start, to: .now())
    }
}

import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// All connections of one event loop: sockets by number, room and session.
///
/// Used on that loop only.
final class ConnectionHub: SocketOwner {
    let loop: LoopContext
    let feed: any SocketFeed

    /// Sockets on which no close has been sent or received.
    private(set) var connections: [ConnectionID: WebSocketConnection] = [:]
    private var followers: [RoomID: RoomFollowers<WebSocketConnection>] = [:]
    private var connectionsOfSession: [SessionID: [ConnectionID]] = [:]

    /// Sockets whose output has not been flushed.
    private var unflushed: [WebSocketConnection] = []
    private var flushIsScheduled = false
    /// Rooms that have something to deliver.
    private var dirty: [RoomFollowers<WebSocketConnection>] = []
    private var delivery = DeliverySchedule()
    /// Changes of decks that are not shown yet, in their order.
    private var deckChanges: [DeckChange] = []
    private var isShowingDecks = false

    /// Makes the hub of a loop; `feed` brings it the news of rooms.
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
        connection.stopWatching()
        for room in connection.followedRooms { unfollow(connection, room, because: .lost) }
    }

    /// The loop's tally, with the present state of its connections.
    func currentTally() -> ConnectionTally {
        var tally = loop.tally
        tally.openConnections = connections.count
        for connection in connections.values {
            tally.subscriptions += connection.subscriptionCount
            tally.statisticsSubscriptions += connection.watches.ofStatistics
            tally.queuedBytes += connection.waitingBytes
        }
        return tally
    }

    /// Tells every socket when to reconnect, evenly spread over `window`, and closes connections that have asked for
    /// nothing.
    func drain(over window: TimeAmount) {
        loop.deadlines.drain()
        let part = Double(window.nanoseconds) / Double(max(connections.count, 1))
        for (index, connection) in connections.values.enumerated() {
            connection.goAway(after: .nanoseconds(Int64((Double(index) + .random(in: 0...1)) * part)))
        }
    }

    // MARK: Rooms

    func unfollow(_ connection: WebSocketConnection, _ room: RoomID, because end: SubscriptionEnd) {
        guard let left = connection.endFollowing(room) else { return }
        if left.isEmpty { followers[room] = nil }
        loop.rooms.registry.unsubscribe(connection.id, from: room, because: end)
    }

    /// Takes a piece of news of a room.
    func tell(_ news: RoomNews) {
        switch news {
        case .events(let update): roomMoved(update)
        case .message(let message): roomShows(message)
        case .deck(let change): deckMoved(change)
        case .signal(let signal): signalArrived(signal)
        case .subscribed(let subscription): subscriptionBegan(subscription)
        case .refused(let refusal): connections[refusal.connection]?.subscriptionRefused(refusal)
        case .banned(let session, from: let room): sessionBanned(session, from: room)
        case .replaced(let room): roomBegan(room)
        case .forgotten(let room): roomForgotten(room)
        }
    }

    /// Events of a room became durable: they are delivered soon, together with later ones that arrive before.
    func roomMoved(_ update: PublishedEvents) {
        guard let followers = followers[update.room] else { return }
        if followers.gather(update) { dirty.append(followers) }
        deliverSoon(pending: followers.pendingCount)
    }

    /// A room shows an ephemeral message: it is delivered soon, together with others that arrive before.
    func roomShows(_ message: EphemeralMessage) {
        guard let followers = followers[message.room] else { return }
        if followers.gather(message) { dirty.append(followers) }
        deliverSoon(pending: followers.pendingCount)
    }

    /// Another device became a room's deck, or none is: its followers are told soon.
    ///
    /// Not at once: the change may come from a connection that ends while something is sent to all.
    func deckMoved(_ change: DeckChange) {
        guard followers[change.room] != nil else { return }
        deckChanges.append(change)
        guard deckChanges.count == 1, !isShowingDecks else { return }
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        loop.eventLoop.execute { this.value.showDecks() }
    }

    /// Tells followers of the decks that have changed, also of those that change meanwhile.
    private func showDecks() {
        guard !isShowingDecks else { return }
        isShowingDecks = true
        defer { isShowingDecks = false }
        while !deckChanges.isEmpty {
            let changes = deckChanges
            deckChanges.removeAll()
            for change in changes { followers[change.room]?.show(change, framing: loop.framing) }
        }
    }

    /// A member sends a signal to the session that it names.
    func signalArrived(_ signal: RelayedSignal) {
        let connections = connections(of: signal.session).filter { $0.follows(signal.room) }
        guard !connections.isEmpty else { return }
        // Makes at most one frame of each kind for any number of sockets.
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

    /// A room accepted a subscription.
    func subscriptionBegan(_ subscription: Subscription) {
        // The subscription has the deck as it is now; what was before it is not told after it.
        showDecks()
        guard let connection = connections[subscription.connection], connection.isOpen else {
            // The connection has ended in the meantime.
            return loop.rooms.registry.unsubscribe(subscription.connection, from: subscription.room, because: .lost)
        }
        connection.subscriptionBegan(subscription) { followersToJoin(of: subscription.room) }
    }

    private func followersToJoin(of room: RoomID) -> RoomFollowers<WebSocketConnection> {
        if let known = followers[room] { return known }
        let made = RoomFollowers<WebSocketConnection>(of: room)
        followers[room] = made
        return made
    }

    /// A room banned a session.
    func sessionBanned(_ session: SessionID, from room: RoomID) {
        for connection in connections(of: session) where connection.follows(room) {
            // The connection receives what it may still see before it is told of the ban.
            deliver()
            unfollow(connection, room, because: .asked)
            connection.subscriptionEnded(room, because: .banned)
        }
    }

    /// A room's log was replaced: no earlier events are shown any more, and all followers start again with a snapshot.
    func roomBegan(_ room: RoomID) {
        guard let followers = followers[room] else { return }
        followers.beginAnew()
        for connection in followers.connections {
            connection.dropQueued(of: room)
            connection.catchUp()
        }
    }

    /// A room no longer exists.
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

    /// Records a session's new name, which is the default name for joining.
    func sessionRenamed(_ session: SessionID, to name: String) {
        for connection in connections(of: session) { connection.rename(to: name) }
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
        guard let delay = delivery.next(pending: events, at: loop.now) else { return }
        let this = NIOLoopBound(self, eventLoop: loop.eventLoop)
        if delay > .zero {
            loop.eventLoop.scheduleTask(in: delay) { this.value.deliverIfDue() }
        } else {
            loop.eventLoop.execute { this.value.deliverIfDue() }
        }
    }

    private func deliverIfDue() {
        if delivery.isDue(at: loop.now) { deliver() }
    }

    /// Delivers everything that the rooms have collected.
    private func deliver() {
        let start = loop.now
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
        // Sockets with output of their own send it and the deltas in one write.
        flush()
        delivery.done(events: events, from: start, to: loop.now)
    }
}

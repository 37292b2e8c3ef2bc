import NIOCore
import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

/// All WebSocket connections of one event loop, by number, room and session.
///
/// Touched on that loop only.
final class ConnectionHub {
    let loop: any EventLoop
    let rooms: RoomHost
    let settings: RoomServerSettings
    let feed: HubFeed

    /// Connections on which no close has been sent or received.
    private(set) var connections: [ConnectionID: WebSocketConnection] = [:]
    /// How many channels are open, those that are closing included.
    private(set) var openChannels = 0
    private var followers: [RoomID: RoomFollowers] = [:]
    private var connectionsOfSession: [SessionID: Set<ConnectionID>] = [:]
    /// Connections with something written and not flushed.
    private var unflushed: [WebSocketConnection] = []
    private var flushIsScheduled = false
    private var nextNumber: Int
    private let numberStep: Int

    /// Makes the hub of one loop, the `index`th of `count`, so that its numbers are unique in the process.
    init(
        loop: any EventLoop, index: Int, of count: Int, rooms: RoomHost, settings: RoomServerSettings,
        feed: HubFeed
    ) {
        self.loop = loop
        self.rooms = rooms
        self.settings = settings
        self.feed = feed
        nextNumber = index + 1
        numberStep = count
    }

    // MARK: Connections

    /// A number for a new connection.
    func makeID() -> ConnectionID {
        defer { nextNumber += numberStep }
        return ConnectionID(rawValue: nextNumber)
    }

    /// Takes in a connection whose handshake is done.
    func add(_ connection: WebSocketConnection) {
        openChannels += 1
        connections[connection.id] = connection
        connectionsOfSession[connection.session.id, default: []].insert(connection.id)
    }

    /// Forgets a connection and ends its subscriptions; nothing changes where it is not known.
    func remove(_ connection: WebSocketConnection) {
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        connectionsOfSession[connection.session.id]?.remove(connection.id)
        if connectionsOfSession[connection.session.id]?.isEmpty == true {
            connectionsOfSession[connection.session.id] = nil
        }
        for room in connection.rooms.keys { unfollow(connection, room) }
    }

    /// Forgets a connection whose channel is gone.
    func channelClosed(_ connection: WebSocketConnection) {
        openChannels -= 1
        remove(connection)
    }

    /// Ends a connection's subscription to a room.
    func unfollow(_ connection: WebSocketConnection, _ room: RoomID) {
        connection.rooms[room] = nil
        if followers[room]?.remove(connection.id) == true { followers[room] = nil }
        rooms.unsubscribe(connection.id, from: room)
    }

    // MARK: Rooms

    /// Events of a room became durable: framed once, handed to every follower.
    func roomMoved(_ update: PublishedEvents) {
        guard let followers = followers[update.room] else { return }
        let frame = PreparedFrame(.text, capacity: update.message.count) { $0.writeBytes(update.message) }.bytes
        for connection in followers.connections { connection.deliver(frame, of: update) }
    }

    /// A subscription was accepted.
    func subscriptionBegan(_ subscription: Subscription) {
        guard let connection = connections[subscription.connection], connection.isOpen,
            !subscription.isCatchUp || connection.rooms[subscription.room] != nil
        else {
            // Gone by now, or unsubscribed while it was catching up.
            rooms.unsubscribe(subscription.connection, from: subscription.room)
            if subscription.isCatchUp { connections[subscription.connection]?.caughtUp() }
            return
        }
        followers[subscription.room, default: RoomFollowers()].add(connection)
        connection.subscriptionBegan(subscription)
    }

    /// A subscription was refused.
    func subscriptionRefused(_ request: SubscriptionRequest, because refusal: SubscriptionRefusal) {
        connections[request.connection]?.subscriptionRefused(request, because: refusal)
    }

    /// A room banned a session.
    func sessionBanned(_ session: SessionID, from room: RoomID) {
        for id in connectionsOfSession[session] ?? [] {
            guard let connection = connections[id], connection.rooms[room] != nil else { continue }
            unfollow(connection, room)
            connection.subscriptionEnded(room, because: .banned)
        }
    }

    /// A room is no more.
    func roomForgotten(_ room: RoomID) {
        guard let gone = followers.removeValue(forKey: room) else { return }
        for connection in gone.connections {
            connection.rooms[room] = nil
            connection.subscriptionEnded(room, because: .notFound)
        }
    }

    // MARK: Sessions

    /// Closes a session's connections.
    func sessionEnded(_ session: SessionID) {
        for id in connectionsOfSession[session] ?? [] {
            connections[id]?.close(.sessionEnded, "the session has ended")
        }
    }

    /// The sessions that have connections here.
    var sessions: [SessionID] { Array(connectionsOfSession.keys) }

    /// Notes a session's new name, which is the default for joining.
    func sessionRenamed(_ session: SessionID, to name: String) {
        for id in connectionsOfSession[session] ?? [] { connections[id]?.session.name = name }
    }

    // MARK: Ticks

    /// Flushes a connection at the end of this turn of the loop, with all else that is written in it.
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

    /// Looks after silent, stalled and idle connections; called a few times a ping interval.
    func sweep() {
        let now = NIODeadline.now()
        for connection in connections.values { connection.sweep(at: now) }
    }
}

/// The followers of one room on one event loop.
struct RoomFollowers {
    private(set) var connections: ContiguousArray<WebSocketConnection> = []
    private var places: [ConnectionID: Int] = [:]

    /// Adds a connection once.
    mutating func add(_ connection: WebSocketConnection) {
        guard places[connection.id] == nil else { return }
        places[connection.id] = connections.count
        connections.append(connection)
    }

    /// Removes a connection; true where nobody is left.
    mutating func remove(_ id: ConnectionID) -> Bool {
        guard let place = places.removeValue(forKey: id) else { return connections.isEmpty }
        let last = connections.removeLast()
        if last.id != id {
            connections[place] = last
            places[last.id] = place
        }
        return connections.isEmpty
    }
}

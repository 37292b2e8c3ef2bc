import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Synchronization

/// Takes the place of a socket server: brings rooms' messages to clients, and checks whether they are allowed.
final class RecordingFeed: RoomFeed {
    private struct Connection {
        var client: Client
        var room: RoomID
    }

    private struct State {
        var connections: [ConnectionID: Connection] = [:]
        var everybody: [Client] = []
        var complaints: [String] = []
    }

    private let store: FaultyEventStore
    private let state = Mutex(State())
    private let host = Mutex<RoomHost?>(nil)

    init(store: FaultyEventStore) {
        self.store = store
    }

    func attach(_ host: RoomHost) {
        self.host.withLock { $0 = host }
    }

    /// Adds a connection that is about to follow a room.
    func add(_ client: Client, as connection: ConnectionID, following room: RoomID) {
        state.withLock { state in
            state.connections[connection] = Connection(client: client, room: room)
            if !state.everybody.contains(where: { $0 === client }) { state.everybody.append(client) }
        }
    }

    func remove(_ connection: ConnectionID) {
        state.withLock { $0.connections[connection] = nil }
    }

    /// Records a violation.
    func complain(_ complaint: String) {
        state.withLock { $0.complaints.append(complaint) }
    }

    /// The violations by this feed and by any client that ever connected here.
    var complaints: [String] {
        let (own, everybody) = state.withLock { ($0.complaints, $0.everybody) }
        return own + everybody.flatMap { client in client.complaints.map { "\(client.person.name): \($0)" } }
    }

    // MARK: RoomFeed

    func tell(_ news: RoomNews) {
        switch news {
        case .events(let update): roomMoved(update)
        case .message(let message): roomShows(message)
        case .deck(let change): deckMoved(change)
        case .signal(let signal): signalArrived(signal)
        case .subscribed(let subscription): subscriptionBegan(subscription)
        case .refused(let refused): subscriptionRefused(refused)
        case .banned(let session, from: let room): sessionBanned(session, from: room)
        case .replaced(let room): roomBegan(room)
        case .forgotten(let room): roomForgotten(room)
        }
    }

    private func roomMoved(_ update: PublishedEvents) {
        expectDurable(update)
        for (connection, client) in clients(of: update.room) where !client.moved(update, on: connection) {
            remove(connection)
            host.withLock { $0 }?.registry.unsubscribe(connection, from: update.room, because: .lost)
        }
    }

    private func roomShows(_ message: EphemeralMessage) {
        for (connection, client) in clients(of: message.room) { client.shown(message.message, on: connection) }
    }

    private func deckMoved(_ change: DeckChange) {
        for (connection, client) in clients(of: change.room) where change.concerned?.contains(connection) ?? true {
            let isHere = change.here?.connection == connection
            client.shown(isHere ? change.here?.message ?? [] : change.message, on: connection)
        }
    }

    private func signalArrived(_ signal: RelayedSignal) {
        for (connection, client) in clients(of: signal.room) where client.person.session == signal.session {
            client.shown(signal.message, on: connection)
        }
    }

    private func subscriptionBegan(_ subscription: Subscription) {
        if subscription.seq > store.head(of: subscription.room) {
            complain("a subscription began at \(subscription.seq), which is not durable")
        }
        guard let client = state.withLock({ $0.connections[subscription.connection]?.client }) else {
            host.withLock { $0 }?.registry.unsubscribe(subscription.connection, from: subscription.room, because: .lost)
            return
        }
        client.began(subscription, on: subscription.connection)
    }

    private func subscriptionRefused(_ refused: RefusedSubscription) {
        guard let client = state.withLock({ $0.connections.removeValue(forKey: refused.connection)?.client }) else {
            return
        }
        _ = client.disconnected()
        client.note(.refused(refused.failure))
    }

    private func sessionBanned(_ session: SessionID, from room: RoomID) {
        for (connection, client) in clients(of: room) where client.person.session == session {
            remove(connection)
            _ = client.disconnected()
            client.note(.banned)
        }
    }

    private func roomBegan(_ room: RoomID) {
        for (connection, client) in clients(of: room) where client.mustBeginAnew(on: connection) {
            host.withLock { $0 }?.registry.subscribe(
                SubscriptionRequest(
                    connection: connection, asker: client.person.asker, .anew, feed: self),
                to: room)
        }
    }

    private func roomForgotten(_ room: RoomID) {
        for (connection, client) in clients(of: room) {
            remove(connection)
            _ = client.disconnected()
            client.note(.forgotten)
        }
    }

    private func clients(of room: RoomID) -> [(ConnectionID, Client)] {
        state.withLock { state in state.connections.filter { $0.value.room == room }.map { ($0.key, $0.value.client) } }
    }

    /// Every event that is shown must be in the log at that instant, with the same contents.
    private func expectDurable(_ update: PublishedEvents) {
        let stored = (update.from...update.seq).compactMap { store.event($0, of: update.room) }
        guard stored.count == update.seq - update.from + 1 else {
            return complain("events \(update.from)…\(update.seq) are shown, of which \(stored.count) are durable")
        }
        do {
            let events = try stored.map(FaultyEventStore.recorded)
            // Locations that these events themselves clear are not shown for earlier events among them.
            let shown = Redaction(by: events).shown(events)
            if ServerMessage.delta(room: update.room, events: shown) != update.message {
                complain("events \(update.from)…\(update.seq) are not shown as they are in the log")
            }
        } catch {
            complain("events \(update.from)…\(update.seq) cannot be read: \(error)")
        }
    }
}

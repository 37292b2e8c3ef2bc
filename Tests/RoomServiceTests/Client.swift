import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Synchronization

/// A person's device: it follows one room, folds the messages, loses its connection and reconnects.
final class Client: Sendable {
    /// Received messages other than events.
    enum Note: Equatable {
        case snapshot(seq: Int)
        case resumed(seq: Int)
        case refused(RoomFailure)
        case banned
        case forgotten
    }

    private struct State {
        var fold = ClientFold()
        var notes: [Note] = []
        var deltas = 0
        var longestDelta = 0
        var live = EphemeralFold()
        var complaints: [String] = []
        var heard: [[UInt8]] = []
        /// Its connection, the server process, and whether the room has accepted it.
        var connection: ConnectionID?
        var following: (node: Node, room: RoomID)?
        var isFollowing = false
        var dropsAtDelta: @Sendable () -> Bool = { false }
    }

    private static let connections = Atomic(0)

    let person: Person
    private let state = Mutex(State())

    init(_ person: Person) {
        self.person = person
    }

    /// Makes a connection and subscribes to a room from this client's position, or from a position that the test gives.
    func connect(to node: Node, following room: RoomID, at position: (epoch: String, seq: Int)? = nil) {
        let number = Self.connections.add(1, ordering: .relaxed).newValue
        let connection = ConnectionID(rawValue: number)
        let (epoch, seq) = state.withLock { state in
            state.connection = connection
            state.following = (node, room)
            state.isFollowing = false
            return (state.fold.epoch, state.fold.seq)
        }
        let mine = epoch.isEmpty ? nil : (epoch: epoch, seq: seq)
        let asked = position ?? mine
        node.feed.add(self, as: connection, following: room)
        node.host.registry.subscribe(
            SubscriptionRequest(
                connection: connection, asker: person.asker,
                .begin(id: Int64(number), from: asked.map { Position(epoch: $0.epoch, seq: $0.seq) }), feed: node.feed),
            to: room)
    }

    /// Loses the connection.
    func drop() {
        let following = state.withLock { $0.following }
        guard let connection = disconnected(), let (node, room) = following else { return }
        node.feed.remove(connection)
        node.host.registry.unsubscribe(connection, from: room, because: .lost)
    }

    /// Unsubscribes, and keeps the connection.
    func unsubscribe() {
        let (connection, following) = state.withLock { ($0.connection, $0.following) }
        guard let connection, let (node, room) = following else { return }
        node.host.registry.unsubscribe(connection, from: room, because: .asked)
    }

    /// Gives it events that it received at another time.
    func receive(_ events: some BidirectionalCollection<RecordedEvent>, of room: RoomID, epoch: String) {
        state.withLock { state in
            let start = ServerMessage.snapshot(
                re: nil, room: room, epoch: epoch, seq: 0, keyed: 0, time: Timestamp(milliseconds: 0),
                state: Array("{}".utf8), you: nil, presence: Presence(online: 0, members: nil))
            receive(start, into: &state)
            if !events.isEmpty { receive(ServerMessage.delta(room: room, events: events), into: &state) }
            state.notes = []
        }
    }

    /// Loses the connection at any delta for which `dropsAtDelta` returns true, without receiving the delta.
    func dropAtDelta(when dropsAtDelta: @escaping @Sendable () -> Bool) {
        state.withLock { $0.dropsAtDelta = dropsAtDelta }
    }

    // MARK: State

    var notes: [Note] { state.withLock { $0.notes } }
    /// The number of the last event it has.
    var seq: Int { state.withLock { $0.fold.seq } }
    var epoch: String { state.withLock { $0.fold.epoch } }
    /// The number of deltas received.
    var deltas: Int { state.withLock { $0.deltas } }
    /// The number of events in the longest of them.
    var longestDelta: Int { state.withLock { $0.longestDelta } }
    /// Its connection; nil if it has none.
    var connection: ConnectionID? { state.withLock { $0.connection } }
    /// Whether it has a connection, accepted or not.
    var isConnected: Bool { state.withLock { $0.connection != nil } }
    var isFollowing: Bool { state.withLock { $0.isFollowing } }
    var fold: ClientFold { state.withLock { $0.fold } }
    /// The texts of the received signals.
    var signalTexts: [String] { live.signalTexts }
    /// The online members that it knows, and the ephemeral messages that it received.
    var live: EphemeralFold { state.withLock { $0.live } }
    /// The text of every message about the room.
    var heard: [[UInt8]] { state.withLock { $0.heard } }
    /// The faults in the received messages.
    var complaints: [String] { state.withLock { $0.complaints + $0.fold.complaints + $0.live.complaints } }

    // MARK: The feed's calls

    func began(_ subscription: Subscription, on connection: ConnectionID) {
        state.withLock { state in
            guard state.connection == connection else { return }
            state.isFollowing = true
            for message in subscription.messages { receive(message.bytes, into: &state) }
            if state.fold.seq != subscription.seq {
                state.complaints.append("at \(state.fold.seq) after a subscription to \(subscription.seq)")
            }
        }
    }

    /// Waits for a new snapshot; false if it does not follow.
    func mustBeginAnew(on connection: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.connection == connection, state.isFollowing else { return false }
            state.isFollowing = false
            return true
        }
    }

    /// Handles a delta; false if the connection is lost at it.
    func moved(_ update: PublishedEvents, on connection: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.connection == connection, state.isFollowing else { return true }
            guard !state.dropsAtDelta() else {
                state.connection = nil
                state.isFollowing = false
                return false
            }
            state.deltas += 1
            state.longestDelta = max(state.longestDelta, update.seq - update.from + 1)
            receive(update.message, into: &state)
            return true
        }
    }

    /// Handles an ephemeral message.
    func shown(_ message: [UInt8], on connection: ConnectionID) {
        state.withLock { state in
            guard state.connection == connection, state.isFollowing else { return }
            state.live.receive(message)
        }
    }

    func note(_ note: Note) {
        state.withLock { $0.notes.append(note) }
    }

    /// Removes the connection, and returns it.
    func disconnected() -> ConnectionID? {
        state.withLock { state in
            defer { state.connection = nil }
            state.isFollowing = false
            return state.connection
        }
    }

    private func receive(_ bytes: [UInt8], into state: inout sending State) {
        let (epoch, seq) = (state.fold.epoch, state.fold.seq)
        state.heard.append(bytes)
        do {
            try state.fold.receive(bytes)
            guard !bytes.starts(with: Array(#"{"type":"delta""#.utf8)) else { return }
            state.live.receive(bytes)
            let message = try JSONValue(parsing: bytes).object
            let reached = Int(message?["seq"]?.integer ?? -1)
            switch message?["type"]?.string {
            case "snapshot":
                state.notes.append(.snapshot(seq: reached))
                if state.fold.epoch == epoch, reached < seq {
                    state.complaints.append("a snapshot of \(reached) after \(seq)")
                }
            case "resumed":
                state.notes.append(.resumed(seq: reached))
            default:
                break
            }
        } catch {
            state.complaints.append("not JSON: \(error)")
        }
    }
}

import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Synchronization

/// Somebody's device: it follows one room, folds what it is sent, loses its connection and comes back.
final class Client: Sendable {
    /// What it was told beside events.
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
        /// The connection it has, to whom it is, and whether the room has accepted it.
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

    /// Makes a connection and asks to follow a room from where this client stands, or from a position of the test's.
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
                connection: connection, session: person.session, id: Int64(number), epoch: asked?.epoch,
                seq: asked?.seq, feed: node.feed),
            to: room)
    }

    /// Loses the connection.
    func drop() {
        let following = state.withLock { $0.following }
        guard let connection = disconnected(), let (node, room) = following else { return }
        node.feed.remove(connection)
        node.host.registry.unsubscribe(connection, from: room, because: .lost)
    }

    /// Asks to follow no more, and keeps the connection.
    func unsubscribe() {
        let (connection, following) = state.withLock { ($0.connection, $0.following) }
        guard let connection, let (node, room) = following else { return }
        node.host.registry.unsubscribe(connection, from: room, because: .asked)
    }

    /// Gives it events that it got at another time.
    func receive(_ events: some BidirectionalCollection<RecordedEvent>, of room: RoomID, epoch: String) {
        state.withLock { state in
            let start = ServerMessage.snapshot(
                re: nil, room: room, epoch: epoch, seq: 0, time: Timestamp(milliseconds: 0), state: Array("{}".utf8),
                you: nil, presence: Presence(online: 0, members: nil))
            receive(start, into: &state)
            if !events.isEmpty { receive(ServerMessage.delta(room: room, events: events), into: &state) }
            state.notes = []
        }
    }

    /// Loses the connection at any delta for which `dropsAtDelta` says so, without receiving it.
    func dropAtDelta(when dropsAtDelta: @escaping @Sendable () -> Bool) {
        state.withLock { $0.dropsAtDelta = dropsAtDelta }
    }

    // MARK: What a test asks

    var notes: [Note] { state.withLock { $0.notes } }
    /// The last event it has.
    var seq: Int { state.withLock { $0.fold.seq } }
    var epoch: String { state.withLock { $0.fold.epoch } }
    /// How many deltas came.
    var deltas: Int { state.withLock { $0.deltas } }
    /// How many events the longest of them had.
    var longestDelta: Int { state.withLock { $0.longestDelta } }
    /// Whether it has a connection, accepted or not.
    var isConnected: Bool { state.withLock { $0.connection != nil } }
    var isFollowing: Bool { state.withLock { $0.isFollowing } }
    var fold: ClientFold { state.withLock { $0.fold } }
    /// The signals that came, as they are written.
    var signalTexts: [String] { live.signalTexts }
    /// What it knows of who is online, and what else it was shown that is not in the log.
    var live: EphemeralFold { state.withLock { $0.live } }
    /// Every message about the room, as it is written.
    var heard: [[UInt8]] { state.withLock { $0.heard } }
    /// What was wrong with what it was sent.
    var complaints: [String] { state.withLock { $0.complaints + $0.fold.complaints + $0.live.complaints } }

    // MARK: What the feed brings

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

    /// Shows nothing until the room is shown anew; false where it does not follow.
    func mustBeginAnew(on connection: ConnectionID) -> Bool {
        state.withLock { state in
            guard state.connection == connection, state.isFollowing else { return false }
            state.isFollowing = false
            return true
        }
    }

    /// Takes a delta; false where the connection is lost at it.
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

    /// Takes what the log does not know.
    func shown(_ message: [UInt8], on connection: ConnectionID) {
        state.withLock { state in
            guard state.connection == connection, state.isFollowing else { return }
            state.live.receive(message)
        }
    }

    func note(_ note: Note) {
        state.withLock { $0.notes.append(note) }
    }

    /// Forgets the connection, and returns it.
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

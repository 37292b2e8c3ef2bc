import EventStorage
import FoundationEssentials
import RoomDomain
import RoomWire
import SimulatedTime
import Synchronization

/// The oracle: the log's contents at every instant, and their fold.
///
/// Every violation is recorded as a complaint; the first one ends the world.
final class Truth: Sendable {
    /// A key as one session gave it.
    struct KeyName: Hashable {
        var session: UUID
        var key: String
    }

    struct Room {
        /// All of its epochs; the last one is current.
        var epochs: [String]
        /// The event numbered `seq` is at `seq - 1`.
        var events: [RecordedEvent] = []
        /// The room after each number of events.
        var states: [RoomState]
        var keys: [KeyName: CommandKey] = [:]
        /// The number of its keyed commands.
        var keyed = 0
        /// The wish that caused each event, as far as that was acknowledged.
        var claims: [Int: Int] = [:]
        /// The last event that anybody was shown.
        var shown = 0
        /// The highest count of keyed commands that anybody was shown.
        var keyedShown = 0
        var entry: DirectoryEntry?

        var epoch: String { epochs[epochs.count - 1] }
        var head: Int { events.count }
        var state: RoomState { states[states.count - 1] }
    }

    private struct State {
        var rooms: [RoomID: Room] = [:]
        var order: [RoomID] = []
        /// The number of times that each marked track was added.
        var marks: [String: Int] = [:]
        var creations: [KeyName: RoomID] = [:]
        var complaints: [String] = []
        var whenAppended: (@Sendable (RoomID, Int) -> Void)?
        /// Whether all checks have ended.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let scheduler: Scheduler
    private let trace: (@Sendable (String) -> Void)?
    /// Each track of this source is added by one wish, which its id names.
    static let markSource = "wish"

    init(_ scheduler: Scheduler, trace: (@Sendable (String) -> Void)?) {
        self.scheduler = scheduler
        self.trace = trace
    }

    // MARK: Complaints

    /// Records a violation.
    func complain(_ complaint: String) {
        let time = time
        note("WRONG: \(complaint)")
        state.withLock { $0.complaints.append("at \(time): \(complaint)") }
    }

    /// Ends all checks, and returns the complaints.
    func close() -> [String] {
        state.withLock { state in
            state.isClosed = true
            state.whenAppended = nil
            return state.complaints
        }
    }

    /// Describes a step to the reader of a trace.
    func note(_ text: @autoclosure () -> String) {
        guard let trace, !state.withLock({ $0.isClosed }) else { return }
        trace("\(time)  \(text())")
    }

    private var time: String {
        let micros = scheduler.now / 1_000
        return "\(micros / 1_000).\(String(String(1_000 + micros % 1_000).dropFirst())) ms"
    }

    var hasComplaints: Bool { state.withLock { !$0.complaints.isEmpty } }

    // MARK: Writes to the log

    /// A room was made.
    func created(_ creation: StreamCreation) {
        let id = RoomID(creation.first.stream)
        let isNew = state.withLock { state in
            guard state.rooms[id] == nil else { return false }
            state.rooms[id] = Room(epochs: [creation.epoch], states: [RoomState(id: id)])
            state.order.append(id)
            return true
        }
        if !isNew { complain("\(id) is made twice") }
        if let key = creation.key {
            let name = KeyName(session: creation.creator, key: key)
            if let other = state.withLock({ $0.creations.updateValue(id, forKey: name) }) {
                complain("\(other) and \(id) are made under one key")
            }
        }
        appended(creation.first)
    }

    /// A room's log got a new epoch.
    func renewed(_ id: RoomID, epoch: String) {
        state.withLock { $0.rooms[id]?.epochs.append(epoch) }
    }

    /// A room's part of a batch became durable.
    func appended(_ part: StreamAppend) {
        let id = RoomID(part.stream)
        let complaints = state.withLock { Self.fold(part, of: id, into: &$0) }
        for complaint in complaints { complain(complaint) }
        if !part.events.isEmpty, let tell = state.withLock({ $0.whenAppended }) { tell(id, head(of: id)) }
    }

    /// Calls `body` whenever a room has new events, with the number of the last.
    func whenAppended(_ body: @escaping @Sendable (RoomID, Int) -> Void) {
        state.withLock { $0.whenAppended = body }
    }

    private static func fold(_ part: StreamAppend, of id: RoomID, into state: inout State) -> [String] {
        guard var room = state.rooms.removeValue(forKey: id) else { return ["an append to \(id), which is not made"] }
        defer { state.rooms[id] = room }
        var complaints: [String] = []
        for stored in part.events {
            guard stored.seq == room.head + 1 else {
                complaints.append("event \(stored.seq) of \(id) after \(room.head)")
                continue
            }
            do {
                let event = try EventJSON.decodeLog(
                    type: stored.type, seq: stored.seq, at: stored.at, payload: stored.payload)
                if stored.at < room.state.lastEventAt.milliseconds {
                    complaints.append("event \(stored.seq) of \(id) goes back in time")
                }
                if let doubt = Self.doubt(about: event.event, after: room.state) {
                    complaints.append("event \(stored.seq) of \(id) \(doubt)")
                }
                var next = room.state
                next.evolve(event)
                room.events.append(event)
                room.states.append(next)
                if case .tracksAdded(let tracks, _) = event.event {
                    for track in tracks where track.info.source == markSource {
                        state.marks[track.info.sourceID, default: 0] += 1
                        if state.marks[track.info.sourceID] == 2 {
                            complaints.append("wish \(track.info.sourceID) is in the log twice")
                        }
                    }
                }
            } catch {
                complaints.append("event \(stored.seq) of \(id) cannot be read: \(error)")
            }
        }
        complaints += room.state.invariantViolations(atCommandBoundary: true).map { "\(id) at \(room.head): \($0)" }
        for key in part.keys {
            let name = KeyName(session: key.session, key: key.key)
            room.keyed += 1
            // A client may repeat a command that does no harm after its key is forgotten.
            if let first = room.keys.updateValue(key, forKey: name), key.ordinal - first.ordinal < CommandKey.window {
                complaints.append("key \(key.key) is used at \(first.seq) and at \(key.seq)")
            }
        }
        if let entry = part.directory { room.entry = entry }
        return complaints
    }

    /// What is wrong with an event about the air: one song after the other is on air, and each ends once.
    private static func doubt(about event: RoomEvent, after state: RoomState) -> String? {
        switch event {
        case .entryFinished(let entry, _, _, _, _, _, _, _) where state.onAir?.entry != entry:
            "ends entry \(entry.rawValue), which is not on air"
        case .playbackStarted(let entry, _, _, _, _, _, _) where state.onAir != nil:
            "starts entry \(entry.rawValue) over another one"
        default: nil
        }
    }

    /// A snapshot was saved.
    func kept(_ snapshot: StoredSnapshot, of stream: UUID) {
        let id = RoomID(stream)
        guard let states = room(id)?.states, states.indices.contains(snapshot.seq) else {
            return complain("a snapshot of \(id) at \(snapshot.seq), which is not in the log")
        }
        do {
            if try StoredStateJSON.decode(snapshot.state) != states[snapshot.seq] {
                complain("the snapshot of \(id) at \(snapshot.seq) is not the fold of its log")
            }
        } catch {
            complain("the snapshot of \(id) at \(snapshot.seq) cannot be read: \(error)")
        }
    }

    // MARK: Contents of the log

    /// All rooms, in the order in which they were made.
    var rooms: [RoomID] { state.withLock { $0.order } }

    func room(_ id: RoomID) -> Room? { state.withLock { $0.rooms[id] } }

    /// The number of a room's last event.
    func head(of id: RoomID) -> Int { state.withLock { $0.rooms[id]?.head ?? 0 } }

    /// The current state of a room.
    func roomState(_ id: RoomID) -> RoomState { state.withLock { $0.rooms[id]?.state ?? RoomState(id: id) } }

    /// The number of times that the track of a wish was added.
    func mark(_ wish: String) -> Int { state.withLock { $0.marks[wish] ?? 0 } }

    /// The last event of a room that anybody was shown.
    func shown(of id: RoomID) -> Int { state.withLock { $0.rooms[id]?.shown ?? 0 } }

    /// Records that somebody was shown a room up to an event.
    func show(_ id: RoomID, _ seq: Int) {
        state.withLock { state in
            if seq > state.rooms[id]?.shown ?? .max { state.rooms[id]?.shown = seq }
        }
    }

    /// The number of a room's keyed commands.
    func keyed(of id: RoomID) -> Int { state.withLock { $0.rooms[id]?.keyed ?? 0 } }

    /// The highest count of keyed commands of a room that anybody was shown.
    func keyedShown(of id: RoomID) -> Int { state.withLock { $0.rooms[id]?.keyedShown ?? 0 } }

    /// Records that somebody was shown a count of keyed commands, and complains if the room has fewer, or had more than
    /// `least` before the question.
    func check(keyed: Int?, of id: RoomID, atLeast least: Int, mustBeKnown: Bool) {
        guard let keyed else {
            if mustBeKnown { complain("the number of keyed commands in \(id) is not told") }
            return
        }
        let actual = self.keyed(of: id)
        if !(least...max(least, actual)).contains(keyed) {
            complain("\(id) is said to have had \(keyed) keyed commands; it had \(least), and has \(actual)")
        }
        state.withLock { state in
            if keyed > state.rooms[id]?.keyedShown ?? .max { state.rooms[id]?.keyedShown = keyed }
        }
    }

    /// Records that a wish caused events; false if another wish did.
    func claim(_ events: ClosedRange<Int>, of id: RoomID, by wish: Int) -> Bool {
        state.withLock { state in
            for seq in events where (state.rooms[id]?.claims[seq] ?? wish) != wish { return false }
            for seq in events { state.rooms[id]?.claims[seq] = wish }
            return true
        }
    }
}

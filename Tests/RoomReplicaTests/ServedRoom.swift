import RandomTestSupport
import RoomDomain
import RoomReplica
import RoomTestSupport
import RoomWire

/// A message that no replica takes.
struct UnfitMessage: Error {}

/// A room with a history, as a server shows it to one session: the messages are those of the wire.
struct ServedRoom {
    static let epoch = "e1"

    /// The room's events; the first one makes it.
    let events: [RecordedEvent]
    /// The room after each number of events.
    let states: [RoomState]
    /// The session of the client.
    let session: SessionID

    init(events: [RecordedEvent], session: SessionID) {
        self.events = events
        self.session = session
        var id = RoomID(SessionID.hidden.uuid)
        if case .roomCreated(let room)? = events.first?.event { id = room.id }
        var states = [RoomState(id: id)]
        for event in events {
            var next = states[states.count - 1]
            next.evolve(event)
            states.append(next)
        }
        self.states = states
    }

    /// A room that many people used at random.
    init(events count: Int, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        guard case .session(let session, _) = random.pick(RandomInput.sessions, or: RandomInput.sessions[0]) else {
            throw UnfitMessage()
        }
        self.init(events: try RandomRoom.history(events: count, seed: seed), session: session)
    }

    var head: Int { events.count }

    func you(at seq: Int) -> You? { You(of: states[seq], for: session) }

    func snapshot(
        at seq: Int, re: Int64? = nil, epoch: String = Self.epoch, collapsed: ClosedRange<Int>? = nil,
        presence: Presence = .nobody
    ) -> [UInt8] {
        ServerMessage.snapshot(
            re: re, room: states[seq].id, epoch: epoch, seq: seq, keyed: seq, time: Timestamp(milliseconds: 0),
            state: StateJSON.encode(states[seq]), you: YouJSON.encode(states[seq], session), presence: presence,
            collapsed: collapsed)
    }

    func resumed(at seq: Int, re: Int64? = nil) -> [UInt8] {
        ServerMessage.resumed(
            re: re, room: states[seq].id, epoch: Self.epoch, seq: seq, keyed: seq,
            you: YouJSON.encode(states[seq], session), presence: .nobody)
    }

    /// Events `first` to `last`.
    func delta(_ first: Int, _ last: Int) -> [UInt8] {
        ServerMessage.delta(room: states[0].id, events: events[(first - 1)..<last])
    }
}

extension Presence {
    static let nobody = Presence(online: 0, members: [])
}

extension Replica {
    /// Takes one message of the wire; false if it is none that a replica takes, or does not fit.
    mutating func receive(_ bytes: [UInt8]) throws -> [RoomChange] {
        switch try ServerMessage.Received.parse(bytes) {
        case .snapshot(let snapshot): return take(snapshot)
        case .resumed(let resumed): return try take(resumed)
        case .delta(_, let events): return try take(events)
        case .presence(_, let online, let change): return take(online: online, change)
        case .deck(_, let deck): return take(deck)
        case .welcome, .reaction, .signal, .ok, .ack, .error, .ended, .time, .nearby, .nearbyDelta, .statistics,
            .statisticsDelta, .statisticsEnd, .trending, .trendingDelta, .goaway, .beat:
            throw UnfitMessage()
        }
    }

    init(receiving bytes: [UInt8]) throws {
        guard case .snapshot(let snapshot) = try ServerMessage.Received.parse(bytes) else {
            throw UnfitMessage()
        }
        self.init(snapshot)
    }
}

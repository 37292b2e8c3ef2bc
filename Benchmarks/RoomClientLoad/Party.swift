import FoundationEssentials
import RandomTestSupport
import RoomDomain
import RoomWire

/// A large room as a server has it, and the messages that it sends one of its guests.
struct Party {
    private(set) var state: RoomState
    private let owner = SessionID(UUID())
    private var voters: [SessionID] = []
    private var random: SeededRandom

    /// The guest that the messages are for.
    let guest = SessionID(UUID())
    static let epoch = "e1"

    /// Makes a room with tracks and members; the first ones of the tracks get so many votes.
    init(tracks: Int, members: Int, voted: Int, seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        state = RoomState(id: RoomID(UUID()))
        let founding = RoomFounding(
            id: state.id, code: RoomCode(random: 1), name: "Large", location: nil, visibility: .public,
            settings: SettingsUpdate(), founder: owner, founderName: "Owner")
        take(try RoomState.found(founding))
        for first in stride(from: 0, to: tracks, by: RoomLimits.tracksPerCommand) {
            let numbers = first..<min(tracks, first + RoomLimits.tracksPerCommand)
            _ = try perform(.addTracks(numbers.map { Self.track($0) }), by: owner)
        }
        voters = [guest] + (1..<members).map { _ in SessionID(UUID()) }
        for (number, voter) in voters.enumerated() { _ = try perform(.join(name: "Guest \(number)"), by: voter) }
        for track in 0..<voted {
            _ = try perform(.vote(track: TrackID(rawValue: track + 1)), by: voters[track % voters.count])
        }
    }

    private static func track(_ number: Int) -> TrackInfo {
        TrackInfo(
            source: "catalogue", sourceID: "track-\(number)", title: "A Song of Many Words \(number &* 7_919 % 10_007)",
            artist: "A Band with a Name \(number % 500)", durationMs: 180_000)
    }

    // MARK: What happens

    /// Carries a command out; returns the events that it causes.
    private mutating func perform(_ command: RoomCommand, by session: SessionID) throws -> [RecordedEvent] {
        let actor = Actor.session(session, name: "Guest")
        let recorded = take(
            try state.decide(command, by: actor, at: Timestamp(milliseconds: 1_700_000_000_000 + Int64(state.seq))))
        guard !recorded.isEmpty else { throw Defect("\(command) changes nothing") }
        return recorded
    }

    @discardableResult private mutating func take(_ events: [RoomEvent]) -> [RecordedEvent] {
        let recorded = state.recorded(events, at: Timestamp(milliseconds: 1_700_000_000_000 + Int64(state.seq)))
        for event in recorded { state.evolve(event) }
        return recorded
    }

    /// A guest votes for a track among the first ones, or takes the vote back.
    mutating func vote(amongFirst tracks: Int) throws -> [RecordedEvent] {
        let voter = random.pick(voters, or: guest)
        let track = TrackID(rawValue: Int.random(in: 1...tracks, using: &random))
        let has = state.voters[track]?.contains { state.memberOfSession[voter] == $0 } == true
        return try perform(has ? .unvote(track: track) : .vote(track: track), by: voter)
    }

    /// What happens within a while: mostly votes, some of them for the tracks that somebody looks at.
    mutating func happenings(_ count: Int, lookedAt: [TrackID]) throws -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        let enqueued = state.queue.map(\.id)
        if let entry = enqueued.first { events += try perform(.dequeue(entry: entry), by: owner) }
        for number in 0..<8 {
            let track = TrackID(rawValue: Int.random(in: 1...state.tracks.count, using: &random))
            events += try perform(.enqueue(track: track, index: nil), by: owner)
            let name = "Name \(state.seq)"
            if number < 4 { events += try perform(.rename(name: name), by: random.pick(voters, or: guest)) }
        }
        for entry in state.queue.map(\.id).suffix(7) { events += try perform(.dequeue(entry: entry), by: owner) }
        while events.count < count {
            if events.count.isMultiple(of: 4), let track = lookedAt.randomElement(using: &random) {
                let voter = random.pick(voters, or: guest)
                let has = state.voters[track]?.contains { state.memberOfSession[voter] == $0 } == true
                events += try perform(has ? .unvote(track: track) : .vote(track: track), by: voter)
            } else {
                events += try vote(amongFirst: state.tracks.count)
            }
        }
        return Array(events.prefix(count))
    }

    // MARK: Messages

    func delta(_ events: [RecordedEvent]) -> [UInt8] { ServerMessage.delta(room: state.id, events: events) }

    func welcome() -> [UInt8] {
        ServerMessage.welcome(
            sessionID: guest, name: "Guest", version: "1", node: "n", beatMs: 25_000,
            time: Timestamp(milliseconds: 1_700_000_000_000))
    }

    func snapshot() -> [UInt8] {
        ServerMessage.snapshot(
            re: nil, room: state.id, epoch: Self.epoch, seq: state.seq, keyed: 0,
            time: Timestamp(milliseconds: 1_700_000_000_000), state: StateJSON.encode(state),
            you: YouJSON.encode(state, guest),
            presence: Presence(online: 1, members: [MemberID(rawValue: 1)]))
    }
}

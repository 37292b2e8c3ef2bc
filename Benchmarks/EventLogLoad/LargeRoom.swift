import EventStorage
import FoundationEssentials
import PostgresEventStore
import RoomDomain
import RoomWire

/// A room with a long history.
struct LargeRoom {
    private(set) var state: RoomState
    private var history: [RecordedEvent] = []
    let owner = SessionID(UUID())
    /// Its guests.
    private(set) var voters: [SessionID] = []

    /// Makes a room with a pool and members, who vote until there are so many events.
    init(tracks: Int, members: Int, events: Int) throws {
        state = RoomState(id: RoomID(UUID()))
        let founding = RoomFounding(
            id: state.id, code: RoomCode(random: .random(in: 0 ... .max)), name: "Large", location: nil,
            visibility: .public, settings: SettingsUpdate(), founder: owner, founderName: "Owner")
        take(try RoomState.found(founding))
        for first in stride(from: 0, to: tracks, by: RoomLimits.tracksPerCommand) {
            let added = (first..<min(tracks, first + RoomLimits.tracksPerCommand)).map { number in
                TrackInfo(
                    source: "catalogue", sourceID: "track-\(number)", title: "Title \(number &* 7_919 % 10_007)",
                    artist: "Artist \(number % 500)", durationMs: 180_000)
            }
            try decide(.addTracks(added), by: owner)
        }
        voters = (0..<members).map { _ in SessionID(UUID()) }
        for voter in voters { try decide(.join(name: "Voter"), by: voter) }
        var number = 0
        while state.seq < events {
            let (voter, vote) = (voters[number % voters.count], number / voters.count)
            let track = TrackID(rawValue: (number * 31 + vote) % tracks + 1)
            let has = state.voters[track]?.contains(where: { state.memberOfSession[voter] == $0 }) == true
            try decide(has ? .unvote(track: track) : .vote(track: track), by: voter)
            number += 1
        }
    }

    private mutating func decide(_ command: RoomCommand, by session: SessionID) throws {
        take(try state.decide(command, by: Self.actor(session, owner), at: Self.now))
    }

    private static func actor(_ session: SessionID, _ owner: SessionID) -> Actor {
        .session(session, name: session == owner ? "Owner" : "Voter")
    }

    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    /// Decides and folds a command without keeping history, and returns the time that it took.
    mutating func time(_ command: RoomCommand, by session: SessionID, online: Set<MemberID> = []) throws -> Duration {
        let actor = Self.actor(session, owner)
        let start = ContinuousClock.now
        let events = try state.decide(command, by: actor, at: Self.now, online: online)
        for recorded in state.recorded(events, at: Self.now) { state.evolve(recorded) }
        let took = ContinuousClock.now - start
        guard !events.isEmpty else { throw Defect("\(command) changes nothing") }
        return took
    }

    private mutating func take(_ events: [RoomEvent]) {
        let recorded = state.recorded(events, at: Self.now)
        for event in recorded { state.evolve(event) }
        history += recorded
    }

    /// Appends the whole history.
    mutating func write(to store: PostgresStore) async throws {
        let stored = history.map { recorded in
            StoredEvent(
                seq: recorded.seq, at: recorded.at.milliseconds, type: recorded.event.kind.rawValue,
                payload: EventJSON.encodeLog(recorded.event))
        }
        let entry = DirectoryEntry(code: state.code.description, name: state.name, isPublic: true, createdAt: 1)
        let creation = StreamCreation(
            first: StreamAppend(stream: state.id.uuid, expected: .start, events: [stored[0]], directory: entry),
            epoch: "epoch", creator: owner.uuid, key: nil, fingerprint: 0, at: 1, keysSince: 0, ownerLimit: 1)
        guard try await store.create(creation) == .created else { throw Defect("the room was not made") }
        for first in stride(from: 1, to: stored.count, by: 2_000) {
            let part = StreamAppend(
                stream: state.id.uuid, expected: StreamVersion(seq: first, keyed: 0),
                events: Array(stored[first..<min(stored.count, first + 2_000)]))
            guard try await store.append([part]) == [.appended] else { throw Defect("events were not appended") }
        }
    }
}

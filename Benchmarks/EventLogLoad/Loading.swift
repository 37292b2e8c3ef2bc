import ArgumentParser
import EventStorage
import FoundationEssentials
import Logging
import NIOCore
import NIOPosix
import PostgresEventStore
import RoomDomain
import RoomService
import RoomWire

/// A large room: read from its snapshot, and folded from its first event on.
struct Loading: AsyncParsableCommand {
    @OptionGroup var log: LogOptions

    @Option(help: "Tracks of the room.")
    var tracks = 10_000

    @Option(help: "Events of the room.")
    var events = 100_000

    @Option(help: "How often each is measured.")
    var runs = 9

    func run() async throws {
        let store = try await log.open()
        var room = try LargeRoom(tracks: tracks, events: events)
        try await room.write(to: store)
        let id = room.state.id
        let head = StreamVersion(seq: room.state.seq, keyed: 0)
        // Nothing remembered of an earlier run.
        let rebuilt = try await measured {
            try await Self.load(id, on: store, expecting: head)
        }
        let stored = try await store.read(id.uuid, after: 0, limit: .max)
        let replay = try await measured {
            var state = RoomState(id: id)
            for event in stored {
                let recorded = try EventJSON.decodeLog(
                    type: event.type, seq: event.seq, at: event.at, payload: event.payload)
                state.evolve(recorded)
            }
            guard state.seq == head.seq else { throw Defect("the fold stands at \(state.seq)") }
        }
        let snapshot = StoredSnapshot(
            seq: room.state.seq, reducerVersion: StoredStateJSON.reducerVersion,
            state: StoredStateJSON.encode(room.state))
        try await store.save(snapshot, of: id.uuid)
        let loaded = try await measured {
            try await Self.load(id, on: store, expecting: head)
        }
        let decoded = try await measured { _ = try StoredStateJSON.decode(snapshot.state) }
        await store.close()
        report([
            ("events", Double(head.seq)), ("snapshot_bytes", Double(snapshot.state.count)),
            ("load_from_snapshot_ms", loaded / .milliseconds(1)), ("decode_snapshot_ms", decoded / .milliseconds(1)),
            ("replay_events_per_s", Double(head.seq) / (replay / .seconds(1))),
            ("load_without_snapshot_ms", rebuilt / .milliseconds(1)),
            ("load_without_snapshot_events_per_s", Double(head.seq) / (rebuilt / .seconds(1))),
        ])
    }

    /// The median time of some runs.
    private func measured(_ body: () async throws -> Void) async throws -> Duration {
        var times: [Duration] = []
        for _ in 0..<runs {
            let start = ContinuousClock.now
            try await body()
            times.append(.now - start)
        }
        return times.sorted()[runs / 2]
    }

    /// Brings a room to life in a process that knows nothing of it.
    private static func load(_ id: RoomID, on store: PostgresStore, expecting head: StreamVersion) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let host = RoomHost(
            store: store, settings: RoomHostSettings(), loops: [group.next()], clock: .system(),
            logger: Logger(label: "load") { StreamLogHandler.standardError(label: $0) })
        async let isOver: Void = host.run()
        let seq = try await withCheckedThrowingContinuation { continuation in
            host.visit(id) { result in
                continuation.resume(with: result.map { room in room.assumeIsolated { $0.position.seq } })
            }
        }
        host.shutDown()
        await isOver
        guard seq == head.seq else { throw Defect("the room stands at \(seq)") }
    }
}

/// A room in which much has happened.
private struct LargeRoom {
    private(set) var state: RoomState
    private var history: [RecordedEvent] = []
    private let owner = SessionID(UUID())

    init(tracks: Int, events: Int) throws {
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
        let voters = (0..<200).map { _ in SessionID(UUID()) }
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
        let actor = Actor.session(session, name: session == owner ? "Owner" : "Voter")
        take(try state.decide(command, by: actor, at: Self.now))
    }

    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    private mutating func take(_ events: [RoomEvent]) {
        let recorded = state.recorded(events, at: Self.now)
        for event in recorded { state.evolve(event) }
        history += recorded
    }

    /// Appends everything that happened.
    mutating func write(to store: PostgresStore) async throws {
        let stored = history.map { recorded in
            StoredEvent(
                seq: recorded.seq, at: recorded.at.milliseconds, type: EventJSON.typeName(recorded.event),
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

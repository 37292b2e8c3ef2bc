import ArgumentParser
import EventStorage
import FoundationEssentials
import Logging
import NIOCore
import NIOPosix
import PostgresEventStore
import RoomDomain
import RoomLog
import RoomService
import RoomWire

/// A large room: read from its snapshot, and folded from its first event.
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
        var room = try LargeRoom(tracks: tracks, members: 200, events: events)
        try await room.write(to: store)
        let id = room.state.id
        let head = StreamVersion(seq: room.state.seq, keyed: 0)
        // Nothing may be cached from an earlier run.
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

    /// Loads a room in a process that has not loaded it before.
    private static func load(_ id: RoomID, on store: PostgresStore, expecting head: StreamVersion) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let host = RoomHost(
            store: store, settings: RoomHostSettings(), loops: [group.next()], clock: .system(),
            logger: Logger(label: "load") { StreamLogHandler.standardError(label: $0) })
        async let isOver: Void = host.run()
        let seq = try await withCheckedThrowingContinuation { continuation in
            host.registry.visit(id) { result in
                continuation.resume(with: result.map { room in room.assumeIsolated { $0.position.seq } })
            }
        }
        host.shutDown()
        await isOver
        guard seq == head.seq else { throw Defect("the room stands at \(seq)") }
    }
}

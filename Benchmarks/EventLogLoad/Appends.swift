import ArgumentParser
import EventStorage
import FoundationEssentials
import PostgresEventStore

/// Raw appends to many streams: batches of the size that group commit makes, one after the other on each lane.
struct Appends: AsyncParsableCommand {
    @OptionGroup var log: LogOptions

    @Option(help: "Streams, divided among the lanes.")
    var rooms = 1_000

    @Option(help: "Streams in one batch.")
    var batch = 250

    @Option(help: "Events for each stream of a batch.")
    var events = 1

    @Flag(help: "Each event comes of a command with a key.")
    var keyed = false

    @Option(help: "Batches in flight side by side.")
    var lanes = 3

    func run() async throws {
        let store = try await log.open()
        let streams = try await Self.makeStreams(rooms, on: store)
        log.announce("begin")
        let began = ContinuousClock.now + .seconds(log.warmup)
        let ends = began + .seconds(log.seconds)
        let ended = try await withThrowingTaskGroup(of: Lane.self) { group in
            for lane in 0..<lanes {
                let own = streams.indices.filter { $0 % lanes == lane }.map { streams[$0] }
                group.addTask {
                    var lane = Lane(streams: own, batch: batch, events: events, isKeyed: keyed)
                    try await lane.run(on: store, from: began, until: ends)
                    return lane
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        log.announce("end")
        await store.close()
        let appended = Double(ended.map(\.appended).reduce(0, +))
        var figures = [(name: "events_per_s", value: appended / log.seconds)]
        figures += ended.flatMap(\.times).percentiles("append")
        let processor = ended.map(\.processorSeconds).max() ?? 0
        figures.append((name: "client_cpu_us_per_event", value: processor / appended * 1e6))
        report(figures)
    }

    /// Makes streams, each with one event.
    static func makeStreams(_ count: Int, on store: PostgresStore) async throws -> [UUID] {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let streams = (0..<count).map { _ in UUID() }
            for (index, stream) in streams.enumerated() {
                if index >= 64 { try await group.next() }
                group.addTask {
                    let creation = StreamCreation(
                        first: StreamAppend(
                            stream: stream, expected: .start, events: [Lane.event(1)],
                            directory: DirectoryEntry(code: "\(stream)", name: "Room", isPublic: true, createdAt: 1)),
                        epoch: "epoch", creator: stream, key: nil, fingerprint: 0, at: 1, keysSince: 0, ownerLimit: 1)
                    guard try await store.create(creation) == .created else { throw Defect("a stream was not made") }
                }
            }
            try await group.waitForAll()
            return streams
        }
    }
}

/// The only writer of some streams.
struct Lane {
    private var versions: [(stream: UUID, version: StreamVersion)]
    private let batch: Int
    private let events: Int
    private let isKeyed: Bool
    private var next = 0
    private(set) var times: [Duration] = []
    private(set) var appended = 0
    /// CPU time of the whole process while this lane measured.
    private(set) var processorSeconds = 0.0

    init(streams: [UUID], batch: Int, events: Int, isKeyed: Bool) {
        versions = streams.map { ($0, StreamVersion(seq: 1, keyed: 0)) }
        self.batch = min(batch, streams.count)
        self.events = events
        self.isKeyed = isKeyed
    }

    static let payload = Array(#"{"by": 17, "track": 4211, "votes": 12, "requestedSeq": 1234}"#.utf8)

    static func event(_ seq: Int) -> StoredEvent {
        StoredEvent(seq: seq, at: 1_700_000_000_000, type: "voteCast", payload: payload, checksum: Int64(seq))
    }

    mutating func run(
        on store: PostgresStore, from began: ContinuousClock.Instant, until ends: ContinuousClock.Instant
    ) async throws {
        let session = UUID()
        var processorBefore: Double?
        while true {
            let start = ContinuousClock.now
            guard start < ends else { break }
            let indices = (0..<batch).map { (next + $0) % versions.count }
            next = (next + batch) % versions.count
            let parts = indices.map { index in
                let (stream, version) = versions[index]
                let keys =
                    isKeyed
                    ? (1...events).map {
                        CommandKey(
                            ordinal: version.keyed + $0, session: session, key: "key-\(version.keyed + $0)",
                            fingerprint: 1, seq: version.seq + $0, result: nil, checksum: 1)
                    } : []
                return StreamAppend(
                    stream: stream, expected: version, events: (1...events).map { Self.event(version.seq + $0) },
                    keys: keys)
            }
            guard try await store.append(parts).allSatisfy({ $0 == .appended }) else {
                throw Defect("the only writer of a stream lost")
            }
            for (index, part) in zip(indices, parts) { versions[index].version = part.resulting }
            guard start >= began else { continue }
            if processorBefore == nil { processorBefore = Usage.processorSeconds }
            times.append(.now - start)
            appended += batch * events
        }
        processorSeconds = Usage.processorSeconds - (processorBefore ?? 0)
    }
}

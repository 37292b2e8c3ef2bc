import ArgumentParser
import Observation
import RoomClient
import RoomDomain
import RoomWire

/// What the main actor of an app does for a large room.
struct OnMainActor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "main-actor",
        abstract: "Times snapshots and deltas on the main actor, and weighs a room with its objects.")

    @Option(help: "Tracks in the pool.")
    var tracks: Int = 10_000

    @Option(help: "Members.")
    var members: Int = 20

    @Option(help: "Rows that somebody looks at.")
    var rows: Int = 20

    @Option(help: "Events in a delta.")
    var events: Int = 200

    @Option(help: "Deltas.")
    var deltas: Int = 50

    @Option(help: "Snapshots.")
    var snapshots: Int = 15

    @Option(help: "What the random numbers begin with.")
    var seed: UInt64 = 1

    @MainActor func run() async throws {
        var figures = try await measure(voted: tracks / 20, "")
        figures += try await measure(voted: tracks, "_all_voted")
        report(figures)
    }

    /// Measures one room from its first snapshot on.
    @MainActor private func measure(voted: Int, _ suffix: String) async throws -> [(name: String, value: Double)] {
        var party = try Party(tracks: tracks, members: members, voted: voted, seed: seed)
        guard let reference = RoomClient::RoomReference(party.state.id.description),
            let address = ServerAddress("party.example")
        else { throw Defect("an id names no room") }
        let server = CannedServer(sending: [party.welcome()])
        let client = RoomClient(address, as: .token("bls_guest"), transport: server, store: NoStore())
        let room = client.room(reference)
        let running = Task { try await client.run() }
        defer { running.cancel() }

        let before = allocatedBytes()
        var first: [Double] = []
        first.append(try await deliver(party.snapshot(), by: server, to: room, party))
        let made = allocatedBytes() - before

        var again: [Double] = []
        for _ in 0..<snapshots {
            _ = try party.vote(amongFirst: tracks)
            again.append(try await deliver(party.snapshot(), by: server, to: room, party))
        }

        // The rows in the middle of the pool.
        let looked = room.pool.dropFirst(tracks / 2).prefix(rows)
        let screen = Screen(of: room, looked)
        let ids = looked.map { RoomDomain::TrackID(rawValue: $0.id.rawValue) }
        var times: [Double] = []
        for _ in 0..<deltas {
            let message = party.delta(try party.happenings(events, lookedAt: ids))
            times.append(try await deliver(message, by: server, to: room, party))
        }
        guard screen.renderings > rows, room.requests.count == party.state.tracks.values.count(where: { $0.votes > 0 })
        else { throw Defect("nobody has looked") }
        var votes: [Double] = []
        for _ in 0..<deltas {
            let message = party.delta(try (0..<100).flatMap { _ in try party.vote(amongFirst: tracks) })
            votes.append(try await deliver(message, by: server, to: room, party) * 1_000 / 100)
        }

        let seen = allocatedBytes()
        let all = Screen(of: room, room.pool[...])
        let looking = allocatedBytes() - seen
        withExtendedLifetime(all) {}
        return [
            ("first_snapshot\(suffix)_ms", first.median), ("snapshot\(suffix)_ms", again.median),
            ("delta\(suffix)_ms", times.median), ("delta\(suffix)_ms_p99", times.p99),
            ("vote\(suffix)_us", votes.median),
            ("memory\(suffix)_bytes", Double(made)), ("memory_looking\(suffix)_bytes", Double(looking)),
        ]
    }

    /// Sends a message, and returns the main actor's processor time in milliseconds until it is shown and rendered.
    @MainActor private func deliver(
        _ message: [UInt8], by server: CannedServer, to room: RoomClient::Room, _ party: Party
    ) async throws -> Double {
        let end = party.state.seq
        let start = threadTime()
        server.push(message)
        while room.position?.sequence != end {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = room.position
                } onChange: {
                    continuation.resume()
                }
            }
        }
        // What was rendered because of it is in the turn after that.
        await Task.yield()
        return (threadTime() - start) / .milliseconds(1)
    }
}

/// What looks at a room as a list on a screen does: it is rendered once for all changes of a turn.
@MainActor private final class Screen {
    private let room: RoomClient::Room
    private var rows: [Row] = []
    private var isScheduled = false
    private var dirty: [Row] = []
    private(set) var renderings = 0

    init(of room: RoomClient::Room, _ tracks: ArraySlice<RoomClient::Track>) {
        self.room = room
        rows = tracks.map { Row($0, self) }
        renderList()
        for row in rows { row.render() }
    }

    private func renderList() {
        withObservationTracking {
            _ = room.requests.prefix(20).map(\.id)
            _ = room.queue.count
        } onChange: { [weak self] in
            MainActor.assumeIsolated { self?.schedule(nil) }
        }
    }

    fileprivate func schedule(_ row: Row?) {
        if let row { dirty.append(row) } else { isListDirty = true }
        guard !isScheduled else { return }
        isScheduled = true
        Task { self.render() }
    }

    private var isListDirty = false

    private func render() {
        isScheduled = false
        let rows = dirty
        dirty = []
        if isListDirty {
            isListDirty = false
            renderList()
        }
        for row in rows { row.render() }
    }

    fileprivate func rendered() { renderings += 1 }
}

/// A row of a list.
@MainActor private final class Row {
    private let track: RoomClient::Track
    private weak var screen: Screen?
    private(set) var text = ""

    init(_ track: RoomClient::Track, _ screen: Screen) {
        self.track = track
        self.screen = screen
    }

    func render() {
        screen?.rendered()
        withObservationTracking {
            text = "\(track.info.title) · \(track.votes)\(track.isMine ? " ✓" : "")\(track.isPending ? " …" : "")"
        } onChange: { [weak self] in
            MainActor.assumeIsolated { self.map { $0.screen?.schedule($0) } }
        }
    }
}

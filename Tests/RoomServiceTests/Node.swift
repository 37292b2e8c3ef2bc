import EventStorage
import FoundationEssentials
import InMemoryLogging
import NIOCore
import PrometheusMetrics
import RandomTestSupport
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import SimulatedTime
import Synchronization
import Testing

/// A process that serves rooms, without sockets.
final class Node: Sendable {
    let host: RoomHost
    let feed: RecordingFeed
    let store: FaultyEventStore
    let metrics = PrometheusRegistry()
    let log = InMemoryLogHandler()
    private let time: VirtualTime

    init(
        store: FaultyEventStore, isCounting: Bool = false, settings: RoomHostSettings, clock: ManualClock,
        bus: (any NodeBus)? = nil, name: String = "node", on time: VirtualTime
    ) {
        self.store = store
        self.time = time
        feed = RecordingFeed(store: store)
        host = RoomHost(
            store: store, statistics: isCounting ? store.log : nil, settings: settings,
            loops: (0..<2).map { _ in time.makeLoop() },
            clock: ServerClock(milliseconds: { Double(clock.now) }, wait: { await time.sleep(for: $0) }),
            randomness: ServerRandomness { time.dice.bits() }, bus: bus, node: name, metrics: metrics,
            logger: log.logger)
        feed.attach(host)
    }

    /// Sends a command, and returns without its answer.
    func ask(_ command: RoomCommand, in room: RoomID, by actor: Actor, key: String? = nil) -> Answer {
        let answer = Answer()
        host.registry.submit(
            CommandRequest(actor: actor, key: key, command: command) { outcome in
                if case .acknowledged(let seq, _, _) = outcome, seq > self.store.head(of: room) {
                    self.feed.complain("\(command) is acknowledged with \(seq), which is not durable")
                }
                if !answer.give(outcome) { self.feed.complain("\(command) is answered twice") }
            },
            to: room)
        return answer
    }

    /// Sends a command, and returns its answer.
    func tell(
        _ command: RoomCommand, in room: RoomID, by person: Person, key: String? = nil
    ) async throws -> CommandOutcome {
        try await ask(command, in: room, by: person.actor, key: key).outcome()
    }

    /// Makes a session.
    func session(_ name: String) async throws -> Session {
        let hash = (0..<32).map { _ in UInt8(truncatingIfNeeded: time.dice.bits()) }
        return try await host.sessions.create(name: name, tokenHash: hash)
    }

    /// Makes a room, and returns it with its owner.
    func makeRoom(_ name: String = "Kitchen") async throws -> (room: RoomID, owner: Person) {
        let session = try await session("Ana")
        let room = try await host.creation.create(.named(name), by: session, key: nil).room
        return (room, Person(session: session.id, name: session.name))
    }

    /// Makes a room with this number of tracks in its pool.
    func makeRoom(tracks: Int) async throws -> (room: RoomID, owner: Person) {
        let (room, owner) = try await makeRoom()
        let outcome = try await tell(.addTracks((0..<tracks).map { .named("Song \($0)") }), in: room, by: owner)
        #expect(outcome == .acknowledged(seq: 3, keyed: 0, result: .tracks((1...tracks).map(TrackID.init(rawValue:)))))
        return (room, owner)
    }

    /// The room's state as a read here shows it.
    func state(of room: RoomID) async throws -> [UInt8] {
        try await host.registry.view(room, for: Person.guest(99).session).state.json
    }

    /// Returns once nothing is due.
    func settle() async { await time.settle() }

    /// Lets so much time pass.
    func advance(by amount: TimeAmount) async { await time.advance(by: amount) }
}

/// The answer to a command, when it comes.
final class Answer: Sendable {
    private let given = Mutex<CommandOutcome?>(nil)

    /// The answer; nil before it came.
    var outcomeSoFar: CommandOutcome? { given.withLock { $0 } }

    /// The answer; throws if none comes.
    func outcome() async throws -> CommandOutcome {
        try await eventually("an answer") { outcomeSoFar }
    }

    /// Gives the answer; false if there is one already.
    fileprivate func give(_ outcome: CommandOutcome) -> Bool {
        given.withLock { given in
            defer { given = given ?? outcome }
            return given == nil
        }
    }
}

/// Runs processes on one log and on virtual time while `body` lasts, and expects that nobody was shown what they must not be.
func withNodes(
    _ count: Int = 1, on store: FaultyEventStore = FaultyEventStore(), clock: ManualClock = ManualClock(),
    bus: (any NodeBus)? = nil, name: String = "node", isCounting: Bool = false,
    settings change: (inout RoomHostSettings) -> Void = { _ in }, _ body: ([Node]) async throws -> Void
) async throws {
    var settings = RoomHostSettings()
    settings.answers.answeredDeltaBytes = .max
    settings.logIsShared = count > 1
    // Housekeeping has tests of its own.
    settings.comparisonInterval = .hours(1)
    settings.nearby.isKept = false
    // And so has the grace for members who may come back.
    settings.presence.grace = .zero
    change(&settings)
    try await onVirtualTime { time in
        let nodes = (0..<count).map { number in
            Node(
                store: store, isCounting: isCounting, settings: settings, clock: clock, bus: bus,
                name: "\(name)-\(number)", on: time)
        }
        try await withThrowingDiscardingTaskGroup { group in
            for node in nodes { group.addTask { await node.host.run() } }
            defer { for node in nodes { node.host.shutDown() } }
            try await body(nodes)
        }
        for node in nodes { #expect(node.feed.complaints == []) }
    }
}

/// Runs one process while `body` runs; see ``withNodes(_:on:clock:settings:_:)``.
func withNode(
    on store: FaultyEventStore = FaultyEventStore(), clock: ManualClock = ManualClock(), bus: (any NodeBus)? = nil,
    name: String = "node", isCounting: Bool = false, settings change: (inout RoomHostSettings) -> Void = { _ in },
    _ body: (Node) async throws -> Void
) async throws {
    try await withNodes(
        1, on: store, clock: clock, bus: bus, name: name, isCounting: isCounting, settings: change
    ) { try await body($0[0]) }
}

extension CreateRoomRequest {
    /// A request to make a room.
    static func named(_ name: String, more: String = "") throws -> CreateRoomRequest {
        try parse(Array(#"{"name":"\#(name)"\#(more)}"#.utf8))
    }
}

extension TrackInfo {
    /// A song with this title, which is also its identifier in its catalogue.
    static func named(_ title: String) -> TrackInfo {
        TrackInfo(source: "shelf", sourceID: title, title: title)
    }
}

extension CommandOutcome {
    /// The acknowledged position.
    var seq: Int? {
        if case .acknowledged(let seq, _, _) = self { seq } else { nil }
    }

    /// The acknowledged result.
    var result: CommandResult? {
        if case .acknowledged(_, _, let result) = self { result } else { nil }
    }
}

/// Expects that every read and every follower ends with the fold of the log.
func expectFoldOfLog(of room: RoomID, on nodes: [Node], for clients: [Client] = []) async throws {
    guard let store = nodes.first?.store else { return }
    let folded = StateJSON.encode(try store.room(room))
    let expected = try JSONValue(parsing: folded)
    let head = store.head(of: room)
    for node in nodes {
        let view = try await node.host.registry.view(room, for: Person.guest(99).session)
        #expect(view.seq == head)
        #expect(try JSONValue(parsing: view.state.json) == expected)
    }
    for client in clients {
        try await eventually("\(client.person.name) has \(head), not \(client.seq)") { client.seq == head }
        #expect(client.fold.stateValue == expected)
    }
}

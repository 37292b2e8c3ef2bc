import EventStorage
import GeoSearch
import Logging
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomService
import RoomWire
import SimulatedTime
import Testing

/// Rooms whose owners have cleared their location.
@Suite struct ClearingTests {
    private static let last = Coordinate(latitude: -33.75, longitude: 151.25)

    private func housekeeping(_ settings: inout RoomHostSettings) {
        settings.comparisonInterval = .milliseconds(1)
        settings.locationPrecisionMeters = 0
    }

    private func exact(_ settings: inout RoomHostSettings) { settings.locationPrecisionMeters = 0 }

    private func move(_ room: RoomID, to location: Coordinate?, on node: Node, by owner: Person) async throws -> Int {
        var update = RoomUpdate()
        update.location = location
        update.clearLocation = location == nil
        return try #require(try await node.tell(.updateRoom(update), in: room, by: owner).seq)
    }

    /// A room that has had three locations, set by its events 1, 3 and 4.
    private func makeRoom(on node: Node) async throws -> (room: RoomID, owner: Person) {
        let session = try await node.session("Ana")
        let wanted = try CreateRoomRequest.named("Kitchen", more: #","location":{"lat":52.5,"lon":13.4}"#)
        let room = try await node.host.creation.create(wanted, by: session, key: "made").room
        let owner = Person(session: session.id, name: session.name)
        for longitude in [13.5, 13.25] {
            _ = try await move(
                room, to: Coordinate(latitude: 52.5, longitude: longitude), on: node, by: owner)
        }
        return (room, owner)
    }

    private func hasPlace(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).contains("52.5")
    }

    private func isRewritten(_ room: RoomID, on store: FaultyEventStore) -> Bool {
        (1...store.head(of: room)).allSatisfy { !hasPlace(store.event($0, of: room)?.payload ?? []) }
    }

    /// Expects that nobody is shown a location from before `clearing`, by events, past states, or a resume from any
    /// position.
    private func expectNoPlace(
        in room: RoomID, on node: Node, by owner: Person, before clearing: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let page = try await node.host.history.events(of: room, after: 0, limit: 1_000, for: owner.asker)
        #expect(
            !hasPlace(ServerMessage.delta(room: room, events: page.events)), "events", sourceLocation: sourceLocation)
        for seq in 1...min(page.seq, clearing + 2) {
            let view = try await node.host.history.view(room, at: seq, for: owner.asker)
            #expect(!hasPlace(view.state.json), "as of \(seq)", sourceLocation: sourceLocation)
        }
        for seq in [0, 1, 3, clearing - 1, clearing] {
            let client = Client(.cyd)
            client.receive(page.events.prefix(seq), of: room, epoch: page.epoch)
            client.connect(to: node, following: room, at: (page.epoch, seq))
            try await eventually("the subscription") { client.isFollowing }
            #expect(client.notes == [.resumed(seq: page.seq)], sourceLocation: sourceLocation)
            #expect(!client.heard.contains { hasPlace($0) }, "resumed at \(seq)", sourceLocation: sourceLocation)
            client.drop()
        }
    }

    // MARK: What is shown

    @Test func `a server without a hint shows no newcomer a location that another server has cleared`()
        async throws
    {
        try await withNodes(2, settings: exact) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            let (early, late) = (Client(.guest(2)), Client(.guest(3)))
            early.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { early.isFollowing }
            let clearing = try await move(room, to: nil, on: nodes[0], by: owner)
            late.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { late.isFollowing }
            #expect(late.notes == [.snapshot(seq: clearing)])
        }
    }

    @Test func `from the acknowledgement on, nobody is shown an earlier location, whatever is still in the log`()
        async throws
    {
        try await withNodes(
            2,
            settings: {
                exact(&$0)
                $0.eventsPerSnapshot = 3
            }
        ) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            try await eventually("a snapshot") { !nodes[0].store.snapshots(of: room).isEmpty }
            _ = try await nodes[1].state(of: room)
            let clearing = try await move(room, to: nil, on: nodes[0], by: owner)
            #expect(!isRewritten(room, on: nodes[0].store))
            for node in nodes { try await expectNoPlace(in: room, on: node, by: owner, before: clearing) }
            let entry = try #require(try await nodes[0].store.directory(of: [room.uuid]).first).entry
            #expect(entry.latitude == nil && entry.longitude == nil)
            // A host that loads the room from the log knows it too.
            try await withNode(on: nodes[0].store, settings: exact) { node in
                try await expectNoPlace(in: room, on: node, by: owner, before: clearing)
            }
            try await expectFoldOfLog(of: room, on: nodes)
        }
    }

    @Test func `a location set later is shown, and moving clears nothing`() async throws {
        try await withNode(settings: exact) { node in
            let (room, owner) = try await makeRoom(on: node)
            // Three locations, and all of them are shown.
            for seq in [1, 3, 4] {
                #expect(hasPlace(try await node.host.history.view(room, at: seq, for: owner.asker).state.json))
            }
            let clearing = try await move(room, to: nil, on: node, by: owner)
            let moved = try await move(room, to: Self.last, on: node, by: owner)
            #expect(moved == clearing + 1)
            func text(at seq: Int) async throws -> String {
                String(
                    decoding: try await node.host.history.view(room, at: seq, for: owner.asker).state.json,
                    as: UTF8.self)
            }
            #expect(try await text(at: moved).contains("-33.75"))
            let page = try await node.host.history.events(of: room, after: 0, limit: 100, for: owner.asker)
            let shown = String(decoding: ServerMessage.delta(room: room, events: page.events), as: UTF8.self)
            #expect(shown.contains("-33.75"))
            #expect(!shown.contains("52.5"))
            // The next clearing clears that one too.
            _ = try await move(room, to: nil, on: node, by: owner)
            #expect(try await !text(at: moved).contains("-33.75"))
        }
    }

    @Test func `a resume under way when the location is cleared shows no earlier location`() async throws {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNode(
            on: store,
            settings: {
                exact(&$0)
                $0.eventsPerSnapshot = 6
            }
        ) { node in
            let (room, owner) = try await makeRoom(on: node)
            for name in ["A", "B", "C"] { _ = try await node.tell(.rename(name: name), in: room, by: owner) }
            try await eventually("a snapshot") { !store.snapshots(of: room).isEmpty }
            made = (room, owner)
        }
        let (room, owner) = try #require(made)
        // Loaded from the snapshot, the room has only the newest events in memory.
        try await withNode(on: store, settings: exact) { node in
            let epoch = try await node.host.registry.view(room, for: owner.session).epoch
            let gate = Gate()
            defer { gate.open() }
            store.next(.read, .waits(gate))
            let client = Client(.cyd)
            client.receive([RecordedEvent](), of: room, epoch: epoch)
            client.connect(to: node, following: room, at: (epoch, 0))
            try await eventually("the read") { gate.arrived == 1 }
            _ = try await move(room, to: nil, on: node, by: owner)
            gate.open()
            try await eventually("the subscription") { client.isFollowing }
            #expect(!client.heard.isEmpty)
            #expect(!client.heard.contains { hasPlace($0) })
        }
    }

    // MARK: What is in the log

    @Test func `the log is rewritten while the room goes on, and stays the log of the same room`() async throws {
        try await withNodes(2, settings: housekeeping) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            let store = nodes[0].store
            let client = Client(.cyd)
            client.connect(to: nodes[1], following: room)
            try await eventually("the subscription") { client.isFollowing }
            let epoch = client.epoch
            let before = try store.room(room)
            let clearing = try await move(room, to: nil, on: nodes[0], by: owner)
            for number in 0..<20 {
                #expect(try await nodes[number % 2].tell(.rename(name: "A\(number)"), in: room, by: owner).seq != nil)
            }
            try await eventually("the rewriting") { isRewritten(room, on: store) }
            try await eventually("its end") { try await store.streamsToClear(after: nil, limit: 1).isEmpty }
            // The same epoch and numbers, and the same fold except for the location.
            #expect(client.epoch == epoch)
            #expect(store.head(of: room) == clearing + 20)
            var expected = before
            expected.location = nil
            var folded = RoomState(id: room)
            for seq in 1..<clearing {
                folded.evolve(try EventJSON.recorded(try #require(store.event(seq, of: room))))
            }
            #expect(folded == expected)
            for node in nodes { try await expectNoPlace(in: room, on: node, by: owner, before: clearing) }
            #expect(client.complaints == [])
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
            // A hash would confirm a guess of a location.
            for key in try await store.keys(of: room) where key.seq < clearing {
                #expect(key.fingerprint == CommandKey.forgotten)
            }
        }
    }

    @Test func `a rewrite of a long log is completed later wherever it was interrupted`() async throws {
        let store = FaultyEventStore()
        let calls = Dice(seed: TestSeed.fixed(16))
        try await withNodes(2, on: store, settings: housekeeping) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            for hundred in 0..<12 {
                let place = Coordinate(latitude: 52.5, longitude: Double(hundred))
                _ = try await move(room, to: place, on: nodes[0], by: owner)
                let answers = (1..<100).map {
                    nodes[0].ask(.rename(name: "A\($0)"), in: room, by: owner.actor)
                }
                for answer in answers { #expect(try await answer.outcome().seq != nil) }
            }
            store.plan { method in
                guard method == .erasure else { return .works }
                return switch calls.number(in: 0..<4) {
                case 0: .fails(FaultyEventStore.unreachable)
                case 1: .losesAnswer
                default: .works
                }
            }
            let clearing = try await move(room, to: nil, on: nodes[1], by: owner)
            try await eventually("the rewriting") { isRewritten(room, on: store) }
            store.plan(nil)
            try await eventually("its end") { try await store.streamsToClear(after: nil, limit: 1).isEmpty }
            // Another clearing begins when this one has ended.
            let moved = try await move(room, to: Coordinate(latitude: 52.5, longitude: 1), on: nodes[0], by: owner)
            let again = try await move(room, to: nil, on: nodes[0], by: owner)
            #expect((moved, again) == (clearing + 1, clearing + 2))
            try await eventually("the end") { try await store.streamsToClear(after: nil, limit: 1).isEmpty }
            #expect(isRewritten(room, on: store))
            try await expectFoldOfLog(of: room, on: nodes)
        }
    }

    @Test func `an earlier snapshot cannot be saved afterwards`() async throws {
        try await withNode(
            settings: {
                housekeeping(&$0)
                $0.eventsPerSnapshot = 3
            }
        ) { node in
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.save, .waits(gate))
            let (room, owner) = try await makeRoom(on: node)
            try await eventually("the snapshot") { gate.arrived == 1 }
            let clearing = try await move(room, to: nil, on: node, by: owner)
            try await eventually("the end") { try await node.store.streamsToClear(after: nil, limit: 1).isEmpty }
            gate.open()
            try await eventually("the failure") { node.store.calls(.save) >= 1 }
            await node.settle()
            let kept = try await node.store.snapshot(
                of: room.uuid, atMost: clearing - 1, reducerVersion: StoredStateJSON.reducerVersion)
            #expect(kept == nil)
            try await expectNoPlace(in: room, on: node, by: owner, before: clearing)
        }
    }

    @Test func `a room whose log cannot be read is reported once and does not stop others`() async throws {
        let store = FaultyEventStore()
        var rooms: [RoomID] = []
        try await withNode(on: store, settings: exact) { node in
            for number in 0..<3 {
                let (room, owner) = try await makeRoom(on: node)
                _ = try await move(room, to: nil, on: node, by: owner)
                rooms.append(room)
                guard number == 0, var first = store.event(1, of: room) else { continue }
                first.payload = Array("{}".utf8)
                try await store.clear([first], of: room.uuid, through: 0)
            }
        }
        try await withNode(on: store, settings: housekeeping) { node in
            try await eventually("the clearing") { try await store.streamsToClear(after: nil, limit: 9).count == 1 }
            let rounds = store.calls(.erasure)
            try await eventually("some rounds") { store.calls(.erasure) > rounds + 30 }
            #expect(
                node.log.messages(from: .error) == [
                    "A room's earlier locations cannot be cleared: its log cannot be read"
                ])
        }
        for room in rooms.dropFirst() { #expect(isRewritten(room, on: store)) }
    }
}

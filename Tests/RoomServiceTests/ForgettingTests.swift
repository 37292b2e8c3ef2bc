import EventStorage
import Logging
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomService
import RoomWire
import SimulatedTime
import Testing

/// Rooms whose owners have them forgotten.
@Suite struct ForgettingTests {
    private static let name = "Zacharias"

    private func housekeeping(_ settings: inout RoomHostSettings) {
        settings.comparisonInterval = .milliseconds(1)
        settings.eventsPerSnapshot = 3
    }

    /// A room with a location and a member called ``name``, and snapshots of it.
    private func makeRoom(on node: Node) async throws -> (room: RoomID, owner: Person) {
        let session = try await node.session(Self.name)
        let wanted = try CreateRoomRequest.named("Kitchen", more: #","location":{"lat":52.5,"lon":13.4}"#)
        let room = try await node.host.creation.create(wanted, by: session, key: nil).room
        let owner = Person(session: session.id, name: session.name)
        _ = try await node.tell(.join(name: nil), in: room, by: Person(session: Person.bob.session, name: Self.name))
        for _ in 0..<4 {
            for name in ["Z", Self.name] { _ = try await node.tell(.rename(name: name), in: room, by: owner) }
        }
        return (room, owner)
    }

    private func hasName(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(Self.name) || text.contains("52.5")
    }

    private func isRewritten(_ room: RoomID, on store: FaultyEventStore) -> Bool {
        (1...store.head(of: room)).allSatisfy { !hasName(store.event($0, of: room)?.payload ?? []) }
    }

    @Test func `once a room is forgotten, no name is left in the log, its snapshots and its directory`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, owner) = try await makeRoom(on: node)
            try await eventually("snapshots") { !node.store.snapshots(of: room).isEmpty }
            let before = try node.store.room(room)
            #expect(!isRewritten(room, on: node.store))
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner).seq == before.seq + 1)
            let entry = try #require(try await node.store.directory(of: [room.uuid]).first).entry
            #expect(entry.djName == nil)
            #expect(entry.latitude == nil && entry.longitude == nil)
            #expect(entry.closedAt != nil)
            try await eventually("the rewriting") { isRewritten(room, on: node.store) }
            try await eventually("its end") { try await node.store.streamsToForget(limit: 1).isEmpty }
            #expect(node.store.snapshots(of: room).isEmpty)
            #expect(try await node.store.snapshot(of: room.uuid, atMost: .max, reducerVersion: 1) == nil)
            // The room itself is still complete.
            var after = before
            after.evolve(RecordedEvent(seq: before.seq + 1, at: before.lastEventAt, event: .roomClosed(forget: true)))
            #expect(try node.store.room(room) == after)
            try await eventually("the room as it is") { try await !hasName(node.state(of: room)) }
            try await expectFoldOfLog(of: room, on: [node])
        }
    }

    @Test func `from the acknowledgement on, nobody is shown a name, whatever is still in the log`() async throws {
        try await withNodes(2, settings: { $0.eventsPerSnapshot = 3 }) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            _ = try await nodes[1].state(of: room)
            let last = nodes[0].store.head(of: room)
            let closed = try await nodes[0].tell(.closeRoom(forget: true), in: room, by: owner)
            #expect(closed.seq == last + 1)
            #expect(!isRewritten(room, on: nodes[0].store))
            for node in nodes {
                for seq in 1...last + 1 {
                    let view = try await node.host.history.view(room, at: seq, for: owner.asker)
                    #expect(!hasName(view.state.json), "as of \(seq)")
                }
                #expect(try await !hasName(node.state(of: room)))
                let page = try await node.host.history.events(of: room, after: 0, limit: 100, for: owner.asker)
                #expect(page.events.count == last + 1)
                #expect(!hasName(ServerMessage.delta(room: room, events: page.events)))
                // An earlier position is answered with a snapshot.
                let client = Client(.cyd)
                client.connect(to: node, following: room, at: (page.epoch, 2))
                try await eventually("the subscription") { client.isFollowing }
                #expect(client.notes == [.snapshot(seq: last + 1)])
                #expect(!hasName(StateJSON.encode(try node.store.room(room))))
            }
        }
    }

    @Test func `followers see the room without names, and then in its new epoch`() async throws {
        try await withNodes(2, settings: housekeeping) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            let clients = nodes.map { node in
                let client = Client(.cyd)
                client.connect(to: node, following: room)
                return client
            }
            for client in clients { try await eventually("the subscription") { client.isFollowing } }
            let epoch = clients[0].epoch
            #expect(try await nodes[0].tell(.closeRoom(forget: true), in: room, by: owner).seq != nil)
            for client in clients {
                try await eventually("the new epoch") { client.epoch != epoch }
                #expect(client.isFollowing)
                #expect(client.complaints == [])
            }
            #expect(clients[0].epoch == clients[1].epoch)
            try await expectFoldOfLog(of: room, on: nodes, for: clients)
            // Positions in the old epoch are no longer valid.
            clients[0].drop()
            clients[0].connect(to: nodes[1], following: room, at: (epoch, 3))
            try await eventually("the subscription") { clients[0].isFollowing }
            #expect(clients[0].notes.last == .snapshot(seq: nodes[0].store.head(of: room)))
        }
    }

    @Test func `a rewrite of a long log is completed later wherever it was interrupted`() async throws {
        let store = FaultyEventStore()
        let calls = Dice(seed: TestSeed.fixed(7))
        try await withNodes(
            2, on: store,
            settings: {
                housekeeping(&$0); $0.eventsPerSnapshot = 500
            }
        ) { nodes in
            let (room, owner) = try await makeRoom(on: nodes[0])
            let answers = (0..<1_200).map { number in
                nodes[0].ask(.rename(name: number % 2 == 0 ? "Z" : Self.name), in: room, by: owner.actor)
            }
            for answer in answers { #expect(try await answer.outcome().seq != nil) }
            store.plan { method in
                guard method == .erasure else { return .works }
                return switch calls.number(in: 0..<4) {
                case 0: .fails(FaultyEventStore.unreachable)
                case 1: .losesAnswer
                default: .works
                }
            }
            #expect(try await nodes[1].tell(.closeRoom(forget: true), in: room, by: owner).seq != nil)
            try await eventually("the rewriting") { isRewritten(room, on: store) }
            store.plan(nil)
            try await eventually("its end") { try await store.streamsToForget(limit: 1).isEmpty }
            try await expectFoldOfLog(of: room, on: nodes)
        }
    }

    @Test func `any number of rooms whose logs cannot be read does not keep others from being forgotten`() async throws
    {
        let (store, clock) = (FaultyEventStore(), ManualClock())
        try await withNode(on: store, clock: clock) { node in
            for number in 0..<101 {
                clock.advance(milliseconds: 1)
                let (room, owner) = try await node.makeRoom()
                #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner).seq == 3)
                guard number < 100, var first = store.event(1, of: room) else { continue }
                first.payload = Array("{}".utf8)
                try await store.rewrite([first], of: room.uuid)
            }
        }
        try await withNode(on: store, clock: clock, settings: housekeeping) { node in
            try await eventually("the forgetting") { try await store.streamsToForget(limit: 200).count == 100 }
            #expect(
                node.log.messages(from: .error)
                    == Array(repeating: "A room cannot be forgotten: its log cannot be read", count: 100))
        }
    }

    @Test(arguments: [
        StorageFault.corrupt(.init(code: "XX001", message: "invalid page in block 3")),
        .rejected(.init(message: "a value that cannot be held")),
    ])
    func `a room that the store cannot read is reported once and not tried again`(fault: StorageFault) async throws {
        try await withNode(settings: housekeeping) { node in
            node.store.plan { $0 == .read ? .fails(fault) : .works }
            let (room, owner) = try await node.makeRoom()
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner).seq == 3)
            try await eventually("a try") { node.store.calls(.read) > 0 }
            let rounds = node.store.calls(.erasure)
            try await eventually("some rounds") { node.store.calls(.erasure) > rounds + 30 }
            #expect(node.store.calls(.read) == 1)
            #expect(
                node.log.messages(from: .error) == ["A room cannot be forgotten: its log cannot be read"])
        }
    }

    @Test func `an earlier snapshot cannot be saved afterwards`() async throws {
        try await withNode(settings: housekeeping) { node in
            let gate = Gate()
            defer { gate.open() }
            let (room, owner) = try await node.makeRoom()
            node.store.next(.save, .waits(gate))
            for name in ["A", "B", Self.name] { _ = try await node.tell(.rename(name: name), in: room, by: owner) }
            try await eventually("the snapshot") { gate.arrived == 1 }
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner).seq != nil)
            try await eventually("the end") { try await node.store.streamsToForget(limit: 1).isEmpty }
            gate.open()
            try await eventually("the failure") { node.store.calls(.save) >= 1 }
            await node.settle()
            #expect(try await node.store.snapshot(of: room.uuid, atMost: .max, reducerVersion: 1) == nil)
        }
    }

    @Test func `a retry of the closing finds it done, with its key or without`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, owner) = try await makeRoom(on: node)
            let first = try await node.tell(.closeRoom(forget: true), in: room, by: owner, key: "k")
            #expect(first.seq != nil)
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner, key: "k") == first)
            try await eventually("the end") { try await node.store.streamsToForget(limit: 1).isEmpty }
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner, key: "k") == first)
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner) == first)
            #expect(try await node.tell(.rename(name: "A"), in: room, by: owner) == .failed(.refused(.roomClosed)))
            for key in try await node.store.keys(of: room) { #expect(key.fingerprint == CommandKey.forgotten) }
        }
    }

    @Test func `a room that was closed before is forgotten when its owner asks`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, owner) = try await makeRoom(on: node)
            #expect(try await node.tell(.closeRoom, in: room, by: owner).seq != nil)
            #expect(try await hasName(node.state(of: room)))
            #expect(try await node.tell(.closeRoom(forget: true), in: room, by: owner).seq != nil)
            try await eventually("the rewriting") { isRewritten(room, on: node.store) }
            try await eventually("the end") { try await node.store.streamsToForget(limit: 1).isEmpty }
            try await expectFoldOfLog(of: room, on: [node])
        }
    }
}

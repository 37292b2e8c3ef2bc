import EventStorage
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Synchronization
import Testing

/// Two processes on one log send each other hints about changes, and read the changes.
@Suite struct HintTests {
    /// Two nodes on a bus that never compare with the log by themselves.
    private func withLinkedNodes(
        _ bus: SwitchedBus = SwitchedBus(), settings change: (inout RoomHostSettings) -> Void = { _ in },
        _ body: ([Node]) async throws -> Void
    ) async throws {
        try await withNodes(2, bus: bus, settings: change) { nodes in
            try await eventually("both to hear") { bus.receivers == 2 }
            try await body(nodes)
        }
    }

    @Test func `followers on one node see the events of another node, without any comparison`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            var comparisons = 0
            for name in ["Anna", "Anne", "Ana"] {
                let outcome = try await nodes[0].tell(.rename(name: name), in: room, by: owner)
                try await eventually("the delta") { client.seq == outcome.seq }
                // The one that follows a node's connecting may come as late as the first.
                if name == "Anna" { comparisons = nodes[1].store.calls(.heads) }
            }
            #expect(client.notes == [.snapshot(seq: 2)])
            #expect(nodes[1].store.calls(.heads) == comparisons)
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
        }
    }

    @Test func `changes in many rooms at once are announced in few messages and read by few queries`() async throws {
        let bus = SwitchedBus()
        try await withLinkedNodes(bus) { nodes in
            var rooms: [(room: RoomID, owner: Person, client: Client)] = []
            for _ in 0..<50 {
                let (room, owner) = try await nodes[0].makeRoom()
                let client = Client(.bob)
                client.connect(to: nodes[1], following: room)
                try await eventually("a snapshot") { client.isFollowing }
                rooms.append((room, owner, client))
            }
            let store = nodes[1].store
            // The nodes' own reads and those caused by hints are the same kind of call.
            let gate = Gate()
            defer { gate.open() }
            nodes[0].store.next(.append, .waits(gate), .waits(gate))
            let answers = rooms.map { nodes[0].ask(.rename(name: "Anna"), in: $0.room, by: $0.owner.actor) }
            try await eventually("the appends") { gate.arrived > 0 }
            await nodes[0].settle()
            let (reads, told) = (store.calls(.catchUp), bus.sent.count)
            gate.open()
            for answer in answers { #expect(try await answer.outcome().seq == 3) }
            for (_, _, client) in rooms { try await eventually("the delta") { client.seq == 3 } }
            #expect(store.calls(.catchUp) - reads < 25)
            #expect(bus.sent.count - told < 10)
        }
    }

    @Test func `a room that cannot be read does not keep others from being read`() async throws {
        try await withLinkedNodes { nodes in
            var rooms: [(room: RoomID, owner: Person)] = []
            for _ in 0..<4 {
                rooms.append(try await nodes[0].makeRoom())
                _ = try await nodes[1].state(of: rooms[rooms.count - 1].room)
            }
            let store = nodes[1].store
            let gate = Gate()
            defer { gate.open() }
            for (room, owner) in rooms[2...] {
                #expect(try await nodes[1].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            }
            // Two queries are under way; the next one is for the other two rooms, and is asked again for each of them.
            let unreadable = StorageFault.corrupt(.init(message: "a value is not of the expected type"))
            store.next(.catchUp, .waits(gate), .waits(gate), .fails(unreadable), .fails(unreadable))
            let reads = store.calls(.catchUp)
            let clients = rooms.map { _ in Client(.bob) }
            for number in 0..<2 {
                clients[number].connect(to: nodes[1], following: rooms[number].room)
                try await eventually("a query") { gate.arrived == number + 1 }
            }
            for number in 2..<4 { clients[number].connect(to: nodes[1], following: rooms[number].room) }
            await nodes[1].settle()
            gate.open()
            for client in clients { try await eventually("a snapshot") { client.isFollowing } }
            #expect(clients.map(\.seq) == [2, 2, 3, 3])
            #expect(store.calls(.catchUp) - reads == 5)
        }
    }

    @Test func `a room in memory that nobody follows is not read before it is used, and then first`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            let store = nodes[1].store
            let reads = store.calls(.catchUp)
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            // A hint about a followed room shows that earlier hints have arrived.
            try await bringsUpToDate(nodes)
            let appends = store.batches.count
            // The reads of the other room: when it was first followed, and when it moved.
            #expect(store.calls(.catchUp) - reads == 2)
            #expect(try await nodes[1].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
            #expect(store.batches.count == appends + 1, "an append was in vain")
            #expect(store.calls(.catchUp) - reads == 3)
        }
    }

    /// Sends a hint from the first node to the second, after all earlier ones.
    private func bringsUpToDate(_ nodes: [Node]) async throws {
        let (room, owner) = try await nodes[0].makeRoom()
        let client = Client(.bob)
        client.connect(to: nodes[1], following: room)
        try await eventually("a snapshot") { client.isFollowing }
        #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
        try await eventually("the delta") { client.seq == 3 }
        await nodes[1].settle()
    }

    @Test func `a hint that comes while the log is read is not lost`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let gate = Gate()
            defer { gate.open() }
            nodes[1].store.next(.catchUp, .answersLate(gate))
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            try await eventually("the read") { gate.arrived == 1 }
            #expect(try await nodes[0].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
            try await bringsUpToDate(nodes)
            gate.open()
            try await eventually("the delta") { client.seq == 4 }
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
        }
    }

    @Test func `a hint that comes while the room's own append is under way is not lost`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let gate = Gate()
            defer { gate.open() }
            nodes[1].store.next(.append, .answersLate(gate))
            let own = nodes[1].ask(.rename(name: "Anne"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            #expect(try await nodes[0].tell(.rename(name: "Ana"), in: room, by: owner).seq == 4)
            try await bringsUpToDate(nodes)
            gate.open()
            #expect(try await own.outcome().seq == 3)
            try await eventually("the delta") { client.seq == 4 }
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
        }
    }

    @Test func `a node that knows that it is behind reads before it appends`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let gate = Gate()
            defer { gate.open() }
            nodes[1].store.next(.append, .answersLate(gate))
            let first = nodes[1].ask(.rename(name: "1"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let second = nodes[1].ask(.rename(name: "2"), in: room, by: owner.actor)
            #expect(try await nodes[0].tell(.rename(name: "Ana"), in: room, by: owner).seq == 4)
            try await bringsUpToDate(nodes)
            let appends = nodes[1].store.batches.count
            gate.open()
            #expect(try await first.outcome().seq == 3)
            #expect(try await second.outcome().seq == 5)
            #expect(nodes[1].store.batches.count == appends + 1)
        }
    }

    @Test func `the comparison with the log makes up for a lost hint`() async throws {
        let bus = SwitchedBus()
        try await withLinkedNodes(bus, settings: { $0.comparisonInterval = .milliseconds(1) }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            bus.losesMessages(true)
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            try await eventually("the delta") { client.seq == 3 }
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
        }
    }

    @Test func `rooms that moved during a loss of the bus are read when it returns`() async throws {
        let bus = SwitchedBus()
        try await withLinkedNodes(bus) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            bus.tell(.disconnected)
            bus.losesMessages(true)
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            try await eventually("the hint") { !bus.sent.isEmpty }
            bus.losesMessages(false)
            #expect(client.seq == 2)
            bus.tell(.connected)
            try await eventually("the delta") { client.seq == 3 }
        }
    }

    @Test func `a hint that could not be sent is sent later`() async throws {
        let bus = SwitchedBus()
        try await withLinkedNodes(bus) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            bus.failsToSend(true)
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            #expect(try await nodes[0].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
            bus.failsToSend(false)
            try await eventually("the delta") { client.seq == 4 }
        }
    }

    @Test func `other nodes hear of an append whose answer its own node lost`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            nodes[0].store.next(.append, .losesAnswer)
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.outcomeUnknown))
            try await eventually("the delta") { client.seq == 3 }
        }
    }

    @Test func `a hint of events that are not in the log costs one read and changes nothing`() async throws {
        let bus = SwitchedBus()
        try await withLinkedNodes(bus) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let reads = nodes[1].store.calls(.catchUp)
            let notice = NodeNotice.moved([room: 1_000_000])
            try await bus.send([
                NodeMessage(
                    to: "node-1", payload: NodeEnvelope.encode(sender: "node-0", notices: [notice.encoded()]))
            ])
            try await eventually("the read") { nodes[1].store.calls(.catchUp) == reads + 1 }
            #expect(try await nodes[1].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            try await eventually("the delta") { client.seq == 3 }
            #expect(nodes[1].store.calls(.catchUp) == reads + 1)
        }
    }

    @Test func `a key that was used on one node is known on the other`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            let command = RoomCommand.addTracks([.named("Song")])
            let first = try await nodes[0].tell(command, in: room, by: owner, key: "once")
            #expect(first == .acknowledged(seq: 3, keyed: 1, result: .tracks([TrackID(rawValue: 1)])))
            #expect(try await nodes[1].tell(command, in: room, by: owner, key: "once") == first)
            #expect(try await nodes[1].tell(.closeRoom, in: room, by: owner, key: "once") == .keyReused)
            #expect(nodes[0].store.head(of: room) == 3)
        }
    }

    @Test func `a ban on one node ends the banned member's subscriptions on another`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let joined = try await nodes[0].tell(.join(name: nil), in: room, by: .bob)
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            guard case .member(let member)? = joined.result else { throw NeverHappened(description: "a member") }
            _ = try await nodes[0].tell(.kick(member: member, ban: true, note: nil), in: room, by: owner)
            try await eventually("the ban") { client.notes.last == .banned }
        }
    }

    @Test func `leaving and closing on one node are seen on the other`() async throws {
        try await withLinkedNodes { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[0].tell(.join(name: nil), in: room, by: .bob)
            let client = Client(.cyd)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            #expect(try await nodes[0].tell(.leave, in: room, by: .bob).seq == 4)
            #expect(try await nodes[0].tell(.closeRoom, in: room, by: owner).seq == 5)
            try await eventually("the end") { client.seq == 5 }
            #expect(
                try await nodes[1].tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.refused(.roomClosed)))
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
        }
    }

    @Test func `a session that ends on one node ends its connections on the other`() async throws {
        try await withLinkedNodes { nodes in
            let session = try await nodes[0].session("Ana")
            let told = Told()
            nodes[1].host.sessionEnding.whenEnded { told.note($0) }
            try await nodes[0].host.sessionEnding.end(session.id)
            try await eventually("the end") { told.sessions == [session.id] }
            #expect(nodes[1].host.sessions.hasEnded(session.id))
        }
    }
}

/// The sessions that a node reported as ended.
private final class Told: Sendable {
    private let state = Mutex<[SessionID]>([])

    var sessions: [SessionID] { state.withLock { $0 } }

    func note(_ session: SessionID) {
        state.withLock { $0.append(session) }
    }
}

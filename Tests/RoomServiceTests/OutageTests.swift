import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Testing

/// The log is out of reach, and comes back.
@Suite struct OutageTests {
    @Test func `loaded rooms are still shown, commands are unavailable, and all recovers by itself`() async throws {
        let store = FaultyEventStore()
        try await withNodes(2, on: store, settings: { $0.comparisonInterval = .milliseconds(1) }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 1)
            let clients = [Client(.bob), Client(.cyd)]
            for (client, node) in zip(clients, nodes) { client.connect(to: node, following: room) }
            try await eventually("snapshots") { clients.allSatisfy(\.isFollowing) }
            store.isDown(true)
            for node in nodes {
                for key in ["k", "l"] {
                    let outcome = try await node.tell(.addTracks([.named(key)]), in: room, by: owner, key: key)
                    #expect(outcome == .failed(.unavailable))
                    #expect(try await node.host.registry.view(room, for: owner.session).seq == 3)
                }
                let late = Client(.guest(7))
                late.connect(to: node, following: room)
                try await eventually("the subscription") { late.isFollowing }
                #expect(late.notes == [.snapshot(seq: 3)])
                await #expect(throws: FaultyEventStore.unreachable) { try await node.host.checkHealth() }
            }
            #expect(clients.allSatisfy { $0.deltas == 0 })
            #expect(store.head(of: room) == 3)
            store.isDown(false)
            // Nobody writes: each server notices by itself, within its interval.
            for node in nodes {
                while (try? await node.host.checkHealth()) == nil { await node.advance(by: .milliseconds(20)) }
            }
            for key in ["k", "l"] {
                for node in nodes {
                    let outcome = try await node.tell(.addTracks([.named(key)]), in: room, by: owner, key: key)
                    #expect(outcome.seq == (key == "k" ? 4 : 5))
                }
            }
            try await expectFoldOfLog(of: room, on: nodes, for: clients)
            #expect(try store.room(room).tracks.count == 3)
        }
    }

    @Test func `rooms that are not in memory are unavailable until they can be loaded`() async throws {
        let store = FaultyEventStore()
        try await withNode(on: store) { node in
            let (room, owner) = try await node.makeRoom()
            store.isDown(true)
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.unavailable))
            await #expect(throws: RoomFailure.unavailable) {
                try await node.host.registry.view(room, for: owner.session)
            }
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes == [.refused(.unavailable)] }
            store.isDown(false)
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
        }
    }

    @Test func `commands that wait for the log are bounded`() async throws {
        try await withNode(settings: { $0.waitingCommandsPerRoom = 3 }) { node in
            let (room, owner) = try await node.makeRoom()
            node.store.next(.append, .losesAnswer)
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.outcomeUnknown))
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.catchUp, .waits(gate))
            let answers = (0..<5).map { node.ask(.rename(name: "A\($0)"), in: room, by: owner.actor) }
            try await eventually("the read") { gate.arrived == 1 }
            #expect(try await answers[3].outcome() == .failed(.unavailable))
            #expect(try await answers[4].outcome() == .failed(.unavailable))
            gate.open()
            for (place, answer) in answers.prefix(3).enumerated() {
                #expect(try await answer.outcome().seq == place + 4)
            }
        }
    }

    @Test func `commands accepted before the stop are written, later ones are answered`() async throws {
        let store = FaultyEventStore()
        let gate = Gate()
        defer { gate.open() }
        var asked: [Answer] = []
        var made: RoomID?
        try await withNode(on: store) { node in
            let (room, owner) = try await node.makeRoom()
            let (other, _) = try await node.makeRoom()
            made = room
            _ = try await node.state(of: room)
            store.next(.append, .waits(gate))
            let flying = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let behind = node.ask(.rename(name: "Anne"), in: room, by: owner.actor)
            await node.settle()
            node.host.shutDown()
            gate.open()
            #expect(try await flying.outcome().seq == 3)
            #expect(try await behind.outcome().seq == 4)
            asked = [room, other].map { node.ask(.rename(name: "A"), in: $0, by: owner.actor) }
            for answer in asked { #expect(try await answer.outcome() == .failed(.unavailable)) }
        }
        #expect(store.head(of: try #require(made)) == 4)
    }

    @Test func `a host that has stopped answers every request`() async throws {
        try await onVirtualTime { _ in
            let store = FaultyEventStore()
            var made: (node: Node, room: RoomID, live: RoomID, owner: Person)?
            try await withNode(on: store) { node in
                let (room, owner) = try await node.makeRoom()
                let (live, _) = try await node.makeRoom()
                _ = try await node.state(of: live)
                made = (node, room, live, owner)
            }
            let (node, room, live, owner) = try #require(made)
            for room in [room, live] {
                #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.unavailable))
            }
            await #expect(throws: RoomFailure.unavailable) {
                try await node.host.registry.view(room, for: owner.session)
            }
            #expect(try await node.host.registry.view(live, for: owner.session).seq == 2)
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes == [.refused(.unavailable)] }
            let resolved = Gate()
            node.host.registry.resolve(.code(.zero)) { result in
                if result == .failure(.unavailable) { resolved.open() }
            }
            await resolved.pass()
        }
    }

    @Test func `a host that is cancelled stops`() async throws {
        try await onVirtualTime { time in
            let node = Node(store: FaultyEventStore(), settings: RoomHostSettings(), clock: ManualClock(), on: time)
            await withDiscardingTaskGroup { group in
                group.addTask { await node.host.run() }
                group.cancelAll()
            }
            let (room, owner) = try await node.makeRoom()
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.unavailable))
        }
    }
}

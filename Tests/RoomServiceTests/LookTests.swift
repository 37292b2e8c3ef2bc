import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Testing

/// A read shows at least everything that was acknowledged before, on any host.
@Suite struct LookTests {
    @Test func `a read on another host sees every acknowledged command`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            for number in 0..<50 {
                let outcome = try await nodes[number % 2].tell(.rename(name: "A\(number)"), in: room, by: owner)
                let view = try await nodes[(number + 1) % 2].host.registry.view(room, for: owner.session)
                #expect(view.seq == outcome.seq)
            }
        }
    }

    @Test func `a read that began earlier does not answer a later request`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let node = nodes[1]
            _ = try await node.state(of: room)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.catchUp, .answersLate(gate))
            async let early = node.host.registry.view(room, for: owner.session)
            try await eventually("the read") { gate.arrived == 1 }
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            async let late = node.host.registry.view(room, for: owner.session)
            await node.settle()
            gate.open()
            #expect(try await early.seq == 2)
            #expect(try await late.seq == 3)
        }
    }

    @Test func `an append that is under way does not answer a later request`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let node = nodes[1]
            _ = try await node.state(of: room)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .answersLate(gate))
            let answer = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            #expect(try await nodes[0].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
            async let view = node.host.registry.view(room, for: owner.session)
            await node.settle()
            gate.open()
            #expect(try await answer.outcome().seq == 3)
            #expect(try await view.seq == 4)
        }
    }

    @Test func `a client that saw more on another host does not go back in time`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let (client, other) = (Client(.bob), Client(.cyd))
            other.connect(to: nodes[1], following: room)
            client.connect(to: nodes[0], following: room)
            try await eventually("snapshots") { client.isFollowing && other.isFollowing }
            for number in 3...20 {
                _ = try await nodes[0].tell(.rename(name: "A\(number)"), in: room, by: owner)
                try await eventually("the delta") { client.seq == number }
                client.drop()
                client.connect(to: nodes[(number + 1) % 2], following: room)
                try await eventually("the subscription") { client.isFollowing }
                client.drop()
                client.connect(to: nodes[0], following: room)
                try await eventually("the subscription") { client.isFollowing }
            }
            #expect(client.notes.count { $0 == .snapshot(seq: 2) } == 1)
            #expect(client.notes.filter { if case .snapshot = $0 { true } else { false } }.count == 1)
            #expect(client.deltas == 18)
        }
    }

    @Test func `a client that saw more is sent away while the log is out of reach`() async throws {
        let store = FaultyEventStore()
        try await withNodes(2, on: store) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            let client = Client(.bob)
            client.connect(to: nodes[0], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            _ = try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner)
            try await eventually("the delta") { client.seq == 3 }
            client.drop()
            store.isDown(true)
            client.connect(to: nodes[1], following: room)
            try await eventually("an answer") { client.notes == [.snapshot(seq: 2), .refused(.unavailable)] }
            store.isDown(false)
            client.connect(to: nodes[1], following: room)
            try await eventually("the subscription") { client.isFollowing }
            #expect(client.notes.last == .resumed(seq: 3))
        }
    }

    @Test func `a page of the log ends where the log ended`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            for number in 3...12 { _ = try await node.tell(.rename(name: "A\(number)"), in: room, by: owner) }
            let events = try node.store.events(of: room)
            for after in 0...13 {
                let page = try await node.host.history.events(of: room, after: after, limit: 4, for: owner.asker)
                #expect(page.events == Array(events.dropFirst(after).prefix(4)))
                #expect(page.seq == 12)
            }
            #expect(
                try await node.host.history.events(of: room, after: .max, limit: .max, for: owner.asker).events == [])
            #expect(
                try await node.host.history.events(of: room, after: 0, limit: .max, for: owner.asker).events == events
            )
        }
    }

    @Test func `a room that was never made is not found`() async throws {
        try await withNode { node in
            let (room, _) = (RoomID(Person.bob.session.uuid), 0)
            await #expect(throws: RoomFailure.noSuchRoom) {
                try await node.host.registry.view(room, for: Person.bob.session)
            }
            await #expect(throws: RoomFailure.noSuchRoom) {
                try await node.host.history.events(of: room, after: 0, limit: 1, for: Person.bob.asker)
            }
            #expect(try await node.tell(.join(name: nil), in: room, by: .bob) == .failed(.noSuchRoom))
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes == [.refused(.noSuchRoom)] }
        }
    }

    @Test func `a room is found by its code, loaded or not`() async throws {
        let store = FaultyEventStore()
        try await withNode(on: store) { node in
            let (room, _) = try await node.makeRoom()
            let code = try store.room(room).code
            #expect(node.host.registry.liveRoom(code: code) == nil)
            #expect(try await node.host.registry.resolve(.code(code)) == room)
            _ = try await node.state(of: room)
            #expect(node.host.registry.liveRoom(code: code) == room)
            await #expect(throws: RoomFailure.noSuchRoom) { try await node.host.registry.resolve(.code(.zero)) }
            store.isDown(true)
            #expect(try await node.host.registry.resolve(.code(code)) == room)
            await #expect(throws: RoomFailure.unavailable) { try await node.host.registry.resolve(.code(.zero)) }
        }
    }

    /// Of 23 events: a snapshot of each, of some, of the last one alone, and none.
    @Test(arguments: [1, 2, 5, 11, 12, 22, 23, 24])
    func `a past state is the fold of the log up to its position`(eventsPerSnapshot: Int) async throws {
        try await withNode(settings: { $0.eventsPerSnapshot = eventsPerSnapshot }) { node in
            let (room, owner) = try await node.makeRoom(tracks: 2)
            for number in 0..<10 {
                let track = TrackID(rawValue: number % 2 + 1)
                _ = try await node.tell(.vote(track: track), in: room, by: owner)
                _ = try await node.tell(.unvote(track: track), in: room, by: owner)
            }
            let head = node.store.head(of: room)
            #expect(head == 23)
            for seq in 1...head {
                let then = try node.store.room(room, at: seq)
                let view = try await node.host.history.view(room, at: seq, for: owner.asker)
                #expect(view.seq == seq)
                #expect(view.state.json == StateJSON.encode(then))
                #expect(view.you == YouJSON.encode(then, owner.session))
                #expect(view.presence == nil)
            }
            for seq in [.min, -1, 0, head + 1, .max] {
                await #expect(throws: RoomFailure.noSuchRoom) {
                    try await node.host.history.view(room, at: seq, for: owner.asker)
                }
            }
        }
    }
}

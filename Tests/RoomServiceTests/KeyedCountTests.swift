import EventStorage
import NIOCore
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Testing

/// The count of a room's keyed commands, which clients are told: durable, and the same at every server.
@Suite struct KeyedCountTests {
    /// The count in the newest message that begins a subscription of a client.
    private func count(toldTo client: Client) throws -> Int? {
        let starts = client.heard.filter { bytes in
            let type = (try? JSONValue(parsing: bytes).object)?["type"]?.string
            return ["snapshot", "resumed"].contains(type)
        }
        return try JSONValue(parsing: try #require(starts.last)).object?["keyed"]?.integer.map(Int.init)
    }

    @Test func `a followed room tells the keyed commands of other servers that changed nothing`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let (follower, other) = (Client(.bob), Client(.cyd))
            follower.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { follower.isFollowing }
            #expect(try count(toldTo: follower) == 0)
            for number in 1...3 {
                let outcome = try await nodes[0].tell(.pause, in: room, by: owner, key: "\(number)")
                #expect(outcome == .acknowledged(seq: 2, keyed: number, result: nil))
            }
            other.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { other.isFollowing }
            #expect(try count(toldTo: other) == 3)
            #expect(try await nodes[1].host.registry.view(room, for: owner.session).keyed == 3)
            _ = try await nodes[0].tell(.pause, in: room, by: owner, key: "4")
            follower.drop()
            follower.connect(to: nodes[1], following: room)
            try await eventually("the resumption") { follower.notes.contains(.resumed(seq: 2)) }
            #expect(try count(toldTo: follower) == 4)
        }
    }

    @Test func `while the log is out of reach no count is told`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[0].tell(.pause, in: room, by: owner, key: "1")
            let client = Client(.bob)
            _ = try await nodes[0].state(of: room)
            nodes[0].store.isDown(true)
            client.connect(to: nodes[0], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            #expect(try count(toldTo: client) == nil)
            #expect(try await nodes[0].host.registry.view(room, for: owner.session).keyed == nil)
            nodes[0].store.isDown(false)
            #expect(try await nodes[0].host.registry.view(room, for: owner.session).keyed == 1)
            client.drop()
            client.connect(to: nodes[0], following: room)
            try await eventually("the resumption") { client.notes.contains(.resumed(seq: 2)) }
            #expect(try count(toldTo: client) == 1)
        }
    }

    @Test func `a view of the past has no count`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            _ = try await node.tell(.rename(name: "Anna"), in: room, by: owner, key: "1")
            #expect(try await node.host.history.view(room, at: 2, for: owner.asker).keyed == nil)
            #expect(try await node.host.registry.view(room, for: owner.session).keyed == 1)
        }
    }

    @Test func `commands that are written together are counted one by one`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            _ = try await node.state(of: room)
            let answers = (1...5).map { number in
                // Every other one has no key, and number 5 retries number 1.
                node.ask(
                    .pause, in: room, by: owner.actor,
                    key: number.isMultiple(of: 2) ? nil : "\(number == 5 ? 1 : number)")
            }
            var outcomes: [CommandOutcome] = []
            for answer in answers { outcomes.append(try await answer.outcome()) }
            #expect(outcomes == [1, 1, 2, 2, 1].map { .acknowledged(seq: 2, keyed: $0, result: nil) })
        }
    }
}

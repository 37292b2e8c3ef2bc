import EventStorage
import RoomDomain
import RoomService
import Testing

/// Many rooms share one flush, and nothing else.
@Suite(.timeLimit(.minutes(5))) struct GroupCommitTests {
    @Test func `what gathers behind an append goes in one call`() async throws {
        try await withNode { node in
            var rooms: [(room: RoomID, owner: Person)] = []
            for _ in 0..<20 { rooms.append(try await node.makeRoom()) }
            for (room, _) in rooms { _ = try await node.state(of: room) }
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let first = node.ask(.rename(name: "Anna"), in: rooms[0].room, by: rooms[0].owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let rest = rooms.dropFirst().map { room, owner in
                node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            }
            // A command's turn, and the turn in which its room hands over what it has.
            for _ in 0..<3 { try await node.turnLoops() }
            gate.open()
            for answer in [first] + rest { #expect(try await answer.outcome().seq != nil) }
            #expect(node.store.batches.map(\.count) == [1, 19])
        }
    }

    @Test(
        arguments: zip(
            [
                StorageFault.rejected(.init(message: "a value that cannot be held")),
                .corrupt(.init(code: "XX001", message: "invalid page in block 3")),
            ], [CommandOutcome.internalFault, .unavailable]))
    func `an append that the log refuses hurts its own room only`(
        fault: StorageFault, outcome: CommandOutcome
    ) async throws {
        try await withNode { node in
            var rooms: [(room: RoomID, owner: Person)] = []
            for _ in 0..<6 { rooms.append(try await node.makeRoom()) }
            for (room, _) in rooms { _ = try await node.state(of: room) }
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let first = node.ask(.rename(name: "Anna"), in: rooms[0].room, by: rooms[0].owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            node.store.refuse(rooms[3].room, with: fault)
            let rest = rooms.dropFirst().map { room, owner in
                node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            }
            for _ in 0..<3 { try await node.turnLoops() }
            gate.open()
            #expect(try await first.outcome().seq == 3)
            for (place, answer) in rest.enumerated() {
                let expected = place == 2 ? outcome : .acknowledged(seq: 3, result: nil)
                #expect(try await answer.outcome() == expected)
            }
            for (place, (room, _)) in rooms.enumerated() { #expect(node.store.head(of: room) == (place == 3 ? 2 : 3)) }
            #expect(node.store.batches.map(\.count) == [1, 5, 1, 1, 1, 1, 1])
        }
    }

    @Test func `flushes run side by side where the store can`() async throws {
        try await withNode(settings: { $0.flushesSideBySide = 2 }) { node in
            let (room, owner) = try await node.makeRoom()
            let (other, otherOwner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let held = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            #expect(try await node.tell(.rename(name: "Anna"), in: other, by: otherOwner).seq == 3)
            #expect(held.outcomeSoFar == nil)
            gate.open()
            #expect(try await held.outcome().seq == 3)
        }
    }
}

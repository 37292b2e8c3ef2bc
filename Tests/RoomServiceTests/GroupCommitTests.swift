import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomService
import Testing

/// Many rooms share one flush, and are otherwise independent.
@Suite struct GroupCommitTests {
    @Test func `commands gathered during an append go in one call`() async throws {
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
            await node.settle()
            gate.open()
            for answer in [first] + rest { #expect(try await answer.outcome().seq != nil) }
            #expect(node.store.batches.map(\.count) == [1, 19])
        }
    }

    /// A command with many changes, for which a room must wait: a queue of 300 entries.
    private static let long = RoomCommand.syncDeck(
        Deck(queue: (1...300).map { .track(TrackID(rawValue: $0)) }, playback: .stopped))

    @Test func `a room that writes little waits for one long append at most`() async throws {
        try await withNode { node in
            var short: [(room: RoomID, owner: Person)] = []
            for _ in 0..<6 { short.append(try await node.makeRoom()) }
            var long: [(room: RoomID, owner: Person)] = []
            for _ in 0..<3 { long.append(try await node.makeRoom(tracks: 300)) }
            for (room, _) in short + long { _ = try await node.state(of: room) }
            let (gate, second) = (Gate(), Gate())
            defer {
                gate.open()
                second.open()
            }
            let before = node.store.batches.count
            node.store.next(.append, .waits(gate))
            var answers = [node.ask(.rename(name: "Anna"), in: short[0].room, by: short[0].owner.actor)]
            try await eventually("the append") { gate.arrived == 1 }
            answers += short[1...3].map { node.ask(.rename(name: "Anna"), in: $0.room, by: $0.owner.actor) }
            answers += long.map { node.ask(Self.long, in: $0.room, by: $0.owner.actor) }
            // Rooms decide long commands in turns, with pauses between them.
            await node.advance(by: .milliseconds(20))
            node.store.next(.append, .waits(second))
            gate.open()
            try await eventually("the next append") { second.arrived == 1 }
            answers += short[4...5].map { node.ask(.rename(name: "Anna"), in: $0.room, by: $0.owner.actor) }
            await node.advance(by: .milliseconds(20))
            second.open()
            for answer in answers { #expect(try await answer.outcome().seq != nil) }
            // Two long ones go with the short ones, and the third one lets later short ones go first.
            #expect(node.store.batches.dropFirst(before).map(\.count) == [1, 5, 2, 1])
        }
    }

    @Test func `commands of one room are decided in their order, long ones and short ones`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            func tracks(_ name: String) -> RoomCommand { .addTracks((1...60).map { .named("\(name) \($0)") }) }
            let commands = [
                tracks("a"), .rename(name: "Anna"), tracks("b"), .rename(name: "Hannah"), .rename(name: "Anne"),
            ]
            let answers = commands.map { node.ask($0, in: room, by: owner.actor) }
            var seqs: [Int?] = []
            for answer in answers { seqs.append(try await answer.outcome().seq) }
            #expect(seqs == [3, 4, 5, 6, 7])
        }
    }

    @Test(
        arguments: zip(
            [
                StorageFault.rejected(.init(message: "a value that cannot be held")),
                .corrupt(.init(code: "XX001", message: "invalid page in block 3")),
            ], [CommandOutcome.failed(.internalFault), .failed(.unavailable)]))
    func `an append that the log refuses affects only its own room`(
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
            await node.settle()
            gate.open()
            #expect(try await first.outcome().seq == 3)
            for (place, answer) in rest.enumerated() {
                let expected = place == 2 ? outcome : .acknowledged(seq: 3, keyed: 0, result: nil)
                #expect(try await answer.outcome() == expected)
            }
            for (place, (room, _)) in rooms.enumerated() { #expect(node.store.head(of: room) == (place == 3 ? 2 : 3)) }
            #expect(node.store.batches.map(\.count) == [1, 5, 1, 1, 1, 1, 1])
        }
    }

    @Test func `writes that fail have a line a second`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            func lines() -> Int { node.log.messages(from: .error).filter { $0.contains("could not be written") }.count }
            func fail() async throws {
                node.store.next(.append, .fails(FaultyEventStore.unreachable))
                #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.unavailable))
            }
            for _ in 0..<5 { try await fail() }
            #expect(lines() == 1)
            await node.advance(by: .seconds(2))
            for _ in 0..<5 { try await fail() }
            #expect(lines() == 2)
            // What is wrong with one room is always told.
            node.store.refuse(room, with: .rejected(.init(message: "a value that cannot be held")))
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.internalFault))
            #expect(lines() == 3)
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

    @Test func `flushes that hang hold up nobody else`() async throws {
        try await withNode(settings: { $0.flushesSideBySide = 3 }) { node in
            var rooms: [(room: RoomID, owner: Person)] = []
            for _ in 0..<3 { rooms.append(try await node.makeRoom()) }
            for (room, _) in rooms { _ = try await node.state(of: room) }
            let gate = Gate()
            defer { gate.open() }
            var held: [Answer] = []
            for (place, (room, owner)) in rooms.prefix(2).enumerated() {
                node.store.next(.append, .waits(gate))
                held.append(node.ask(.rename(name: "Anna"), in: room, by: owner.actor))
                try await eventually("the append") { gate.arrived == place + 1 }
            }
            // Fewer wait than are under way.
            #expect(try await node.tell(.rename(name: "Anna"), in: rooms[2].room, by: rooms[2].owner).seq == 3)
            #expect(held.allSatisfy { $0.outcomeSoFar == nil })
            gate.open()
            for answer in held { #expect(try await answer.outcome().seq == 3) }
        }
    }

    @Test func `commands decided in many turns during an append form the next append`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            var answers = [node.ask(.rename(name: "0"), in: room, by: owner.actor)]
            try await eventually("the append") { gate.arrived == 1 }
            for number in 1...5 {
                answers.append(node.ask(.rename(name: "\(number)"), in: room, by: owner.actor, key: "\(number)"))
                await node.settle()
            }
            // A retry of a command that is under way has its outcome, and adds nothing.
            answers.append(node.ask(.rename(name: "3"), in: room, by: owner.actor, key: "3"))
            await node.settle()
            gate.open()
            var seqs: [Int?] = []
            for answer in answers { seqs.append(try await answer.outcome().seq) }
            #expect(seqs == [3, 4, 5, 6, 7, 8, 6])
            #expect(node.store.batches.map(\.count) == [1, 1])
            #expect(node.store.head(of: room) == 8)
        }
    }

    @Test func `a session that joins and leaves in one batch is not a member, and one that comes back is`()
        async throws
    {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            var answers = [node.ask(.rename(name: "0"), in: room, by: owner.actor)]
            try await eventually("the append") { gate.arrived == 1 }
            for (command, person) in [
                (RoomCommand.join(name: nil), Person.bob), (.join(name: nil), .cyd), (.leave, .bob), (.leave, .cyd),
                (.join(name: nil), .cyd),
            ] {
                answers.append(node.ask(command, in: room, by: person.actor))
                await node.settle()
            }
            gate.open()
            for answer in answers { #expect(try await answer.outcome().seq != nil) }
            #expect(node.store.batches.count == 2)
            #expect(try await node.store.memberships(of: Person.bob.session.uuid) == [])
            #expect(try await node.store.memberships(of: Person.cyd.session.uuid) == [room.uuid])
        }
    }

    @Test func `after an append that another server has overtaken nothing is written, even if it would fit`()
        async throws
    {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            let gate = Gate()
            defer { gate.open() }
            nodes[0].store.next(.append, .waits(gate))
            let first = nodes[0].ask(.rename(name: "1"), in: room, by: owner.actor, key: "1")
            try await eventually("the append") { gate.arrived == 1 }
            let second = nodes[0].ask(.rename(name: "2"), in: room, by: owner.actor, key: "2")
            await nodes[0].settle()
            // As many events and keys as the first one would have made.
            #expect(try await nodes[1].tell(.rename(name: "0"), in: room, by: owner, key: "0").seq == 3)
            gate.open()
            #expect(try await first.outcome().seq == 4)
            #expect(try await second.outcome().seq == 5)
            #expect(nodes[0].store.batches.count == 3)
            try await expectFoldOfLog(of: room, on: nodes, for: [])
        }
    }

    @Test func `of many commands at once the first half is written while the others are decided`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            var answers = [node.ask(.rename(name: "0"), in: room, by: owner.actor)]
            try await eventually("the append") { gate.arrived == 1 }
            for number in 1...400 {
                answers.append(node.ask(.rename(name: "\(number)"), in: room, by: owner.actor))
                if number % 100 == 0 { await node.settle() }
            }
            let next = Gate()
            defer { next.open() }
            node.store.next(.append, .works)
            node.store.next(.append, .waits(next))
            gate.open()
            try await eventually("an append behind the first half") { next.arrived == 1 }
            let written = node.store.head(of: room) - 3
            #expect((100...200).contains(written), "\(written)")
            next.open()
            for answer in answers { #expect(try await answer.outcome().seq != nil) }
        }
    }

    @Test func `everything handed over before the end is written, including waiting appends`() async throws {
        let store = FaultyEventStore()
        var made: RoomID?
        try await withNode(on: store, settings: { $0.flushesSideBySide = 3 }) { node in
            var rooms: [(room: RoomID, owner: Person)] = []
            for _ in 0..<4 { rooms.append(try await node.makeRoom()) }
            for (room, _) in rooms { _ = try await node.state(of: room) }
            made = rooms[3].room
            let gate = Gate()
            defer { gate.open() }
            store.next(.append, .waits(gate))
            var answers = [node.ask(.rename(name: "Anna"), in: rooms[0].room, by: rooms[0].owner.actor)]
            try await eventually("the append") { gate.arrived == 1 }
            for _ in 0..<3 {
                for (room, owner) in rooms {
                    answers.append(node.ask(.rename(name: "Anne"), in: room, by: owner.actor))
                }
                await node.settle()
            }
            node.host.shutDown()
            gate.open()
            for answer in answers { #expect(try await answer.outcome().seq != nil) }
        }
        #expect(store.head(of: try #require(made)) == 3)
    }
}

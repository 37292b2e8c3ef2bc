import EventStorage
import RoomDomain
import RoomService
import Testing

/// A key makes a retry safe: at the same host, at another, later, and concurrently.
@Suite struct KeyTests {
    private static let enqueue = RoomCommand.enqueue(track: TrackID(rawValue: 1), index: nil)
    private static let first = CommandOutcome.acknowledged(seq: 4, keyed: 1, result: .entry(EntryID(rawValue: 1)))

    @Test func `the same key gets the first outcome again, on this host, another, and after a restart`() async throws {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNodes(2, on: store) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 1)
            made = (room, owner)
            _ = try await nodes[1].state(of: room)
            for node in [nodes[0], nodes[0], nodes[1], nodes[0]] {
                #expect(try await node.tell(Self.enqueue, in: room, by: owner, key: "k") == Self.first)
            }
            _ = try await nodes[1].tell(.rename(name: "Anna"), in: room, by: owner)
            #expect(try await nodes[0].tell(Self.enqueue, in: room, by: owner, key: "k") == Self.first)
        }
        let (room, owner) = try #require(made)
        try await withNode(on: store) { node in
            let again = try await node.tell(Self.enqueue, in: room, by: owner, key: "k")
            #expect(again == Self.first)
            #expect(try store.room(room).queue.count == 1)
        }
    }

    @Test func `every result is given again as it was`() async throws {
        let store = FaultyEventStore()
        var commands: [(RoomCommand, Person)] = [(.join(name: nil), .bob)]
        var outcomes: [CommandOutcome] = []
        var made: RoomID?
        try await withNode(on: store) { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            made = room
            commands += [
                (.addTracks([.named("x"), .named("y")]), owner), (Self.enqueue, owner), (.play(entry: nil), owner),
                (.join(name: nil), owner),
            ]
            for (number, (command, person)) in commands.enumerated() {
                outcomes.append(try await node.tell(command, in: room, by: person, key: "\(number)"))
            }
        }
        #expect(
            outcomes == [
                .acknowledged(seq: 4, keyed: 1, result: .member(MemberID(rawValue: 2))),
                .acknowledged(seq: 5, keyed: 2, result: .tracks([2, 3].map(TrackID.init(rawValue:)))),
                .acknowledged(seq: 6, keyed: 3, result: .entry(EntryID(rawValue: 1))),
                .acknowledged(seq: 7, keyed: 4, result: nil),
                .acknowledged(seq: 7, keyed: 5, result: .member(MemberID(rawValue: 1))),
            ])
        let room = try #require(made)
        try await withNode(on: store) { node in
            for (number, (command, person)) in commands.enumerated() {
                let again = try await node.tell(command, in: room, by: person, key: "\(number)")
                #expect(again == outcomes[number])
            }
            #expect(store.head(of: room) == 7)
        }
    }

    @Test func `a key that was used for another command is a conflict, durable or under way`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 2)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let other = RoomCommand.enqueue(track: TrackID(rawValue: 2), index: nil)
            let flying = node.ask(Self.enqueue, in: room, by: owner.actor, key: "k")
            try await eventually("the append") { gate.arrived == 1 }
            let gathering = node.ask(other, in: room, by: owner.actor, key: "k")
            await node.settle()
            gate.open()
            #expect(try await flying.outcome() == Self.first)
            #expect(try await gathering.outcome() == .keyReused)
            #expect(try await node.tell(other, in: room, by: owner, key: "k") == .keyReused)
            #expect(try node.store.room(room).queue.count == 1)
        }
    }

    @Test func `keys of different sessions are independent`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            #expect(try await node.tell(Self.enqueue, in: room, by: owner, key: "k").seq == 4)
            #expect(try await node.tell(.join(name: nil), in: room, by: .bob, key: "k").seq == 5)
        }
    }

    @Test func `a key that is under way twice is carried out once`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            // Two in the turn that is appended first, one that is gathered after it.
            let together = [0, 1].map { _ in node.ask(Self.enqueue, in: room, by: owner.actor, key: "k") }
            try await eventually("the append") { gate.arrived == 1 }
            let behind = node.ask(Self.enqueue, in: room, by: owner.actor, key: "k")
            await node.settle()
            #expect(behind.outcomeSoFar == nil)
            gate.open()
            for answer in together + [behind] { #expect(try await answer.outcome() == Self.first) }
            #expect(try node.store.room(room).queue.count == 1)
        }
    }

    @Test func `a key that is under way on two hosts is carried out once`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 1)
            for node in nodes { _ = try await node.state(of: room) }
            let gate = Gate()
            defer { gate.open() }
            nodes[0].store.next(.append, .waits(gate), .waits(gate))
            let answers = nodes.map { $0.ask(Self.enqueue, in: room, by: owner.actor, key: "k") }
            try await eventually("both appends") { gate.arrived == 2 }
            gate.open()
            for answer in answers { #expect(try await answer.outcome() == Self.first) }
            #expect(try nodes[0].store.room(room).queue.count == 1)
        }
    }

    @Test func `a refusal is not remembered`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let refused = try await node.tell(Self.enqueue, in: room, by: owner, key: "k")
            #expect(refused == .failed(.refused(.notFound("no track 1"))))
            #expect(try await node.tell(.addTracks([.named("Song")]), in: room, by: owner).seq == 3)
            #expect(try await node.tell(Self.enqueue, in: room, by: owner, key: "k") == Self.first)
        }
    }

    @Test func `a command that changed nothing is remembered without an event`() async throws {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNode(on: store) { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            made = (room, owner)
            #expect(
                try await node.tell(.pause, in: room, by: owner, key: "k")
                    == .acknowledged(seq: 3, keyed: 1, result: nil))
            #expect(store.head(of: room) == 3)
            _ = try await node.tell(Self.enqueue, in: room, by: owner)
            _ = try await node.tell(.play(entry: nil), in: room, by: owner)
            #expect(
                try await node.tell(.pause, in: room, by: owner, key: "k")
                    == .acknowledged(seq: 3, keyed: 1, result: nil))
        }
        let (room, owner) = try #require(made)
        try await withNode(on: store) { node in
            let again = try await node.tell(.pause, in: room, by: owner, key: "k")
            #expect(again == .acknowledged(seq: 3, keyed: 1, result: nil))
            #expect(try store.room(room).onAir?.isPaused == false)
        }
    }

    @Test func `the newest thousand keyed commands of a room are remembered, everywhere`() async throws {
        let store = FaultyEventStore()
        try await withNodes(2, on: store) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            func add(_ number: Int, on node: Node) -> Answer {
                node.ask(.addTracks([.named("\(number)")]), in: room, by: owner.actor, key: "\(number)")
            }
            // The other host knows the first of them, and then falls behind by more than a window.
            #expect(try await add(1, on: nodes[1]).outcome().seq == 3)
            let answers = (2...2_001).map { add($0, on: nodes[0]) }
            for (place, answer) in answers.enumerated() { #expect(try await answer.outcome().seq == place + 4) }
            #expect(store.head(of: room) == 2_003)
            try await withNodes(1, on: store) { fresh in
                // They are verified first, so that each host is as current as the log.
                for node in nodes + fresh {
                    _ = try await node.host.registry.view(room, for: owner.session)
                    #expect(try await add(1_002, on: node).outcome().seq == 1_004)
                    #expect(try await add(2_001, on: node).outcome().seq == 2_003)
                }
            }
            #expect(store.head(of: room) == 2_003)
            // Outside the window: a new command, on every host. It pushes out the oldest remaining one.
            #expect(try await add(1_001, on: nodes[1]).outcome().seq == 2_004)
            _ = try await nodes[0].host.registry.view(room, for: owner.session)
            #expect(try await add(1_001, on: nodes[0]).outcome().seq == 2_004)
            #expect(try await add(1_002, on: nodes[0]).outcome().seq == 2_005)
            _ = try await nodes[1].host.registry.view(room, for: owner.session)
            #expect(try await add(1, on: nodes[1]).outcome().seq == 2_006)
        }
    }

    @Test func `commands without a key are commands of their own`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            #expect(try await node.tell(Self.enqueue, in: room, by: owner).seq == 4)
            #expect(try await node.tell(Self.enqueue, in: room, by: owner).seq == 5)
            #expect(try await node.store.keys(of: room) == [])
        }
    }
}

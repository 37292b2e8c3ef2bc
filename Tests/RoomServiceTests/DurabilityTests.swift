import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Testing

/// An event is shown only after it is durable, or never.
@Suite struct DurabilityTests {
    @Test(arguments: [true, false]) func `nothing is seen or acknowledged before the log has answered`(
        isWritten: Bool
    ) async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, isWritten ? .answersLate(gate) : .waits(gate))
            let answer = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            await node.settle()
            #expect(answer.outcomeSoFar == nil)
            #expect(client.deltas == 0)
            let before = try await node.host.registry.view(room, for: owner.session)
            #expect(before.seq == 2)
            gate.open()
            #expect(try await answer.outcome() == .acknowledged(seq: 3, keyed: 0, result: nil))
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    @Test(arguments: [
        FaultyEventStore.unreachable, .transient(.init(message: "")), .exhausted(.init(message: "")),
    ]) func `events that cannot be appended are never shown`(fault: StorageFault) async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            node.store.next(.append, .fails(fault))
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.unavailable))
            #expect(client.deltas == 0)
            #expect(node.store.head(of: room) == 2)
            #expect(try await node.tell(.rename(name: "Anne"), in: room, by: owner).seq == 3)
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    /// What the store refuses: for a reason of its own, or because nobody may ask that of it.
    private func refusal(mayPass: Bool) -> StorageFault {
        var cause = StorageFault.Cause(code: mayPass ? "54000" : "23514", message: "no")
        cause.mayPass = mayPass
        return .rejected(cause)
    }

    @Test(arguments: [(true, .unavailable), (false, .internalFault)] as [(Bool, RoomFailure)])
    func `what the store refuses for now is unavailable, and what it never takes is a fault of this program`(
        mayPass: Bool, failure: RoomFailure
    ) async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let session = try await node.session("Bob")
            node.store.next(.create, .fails(refusal(mayPass: mayPass)))
            await #expect(throws: CreationFailure.failed(failure)) {
                try await node.host.creation.create(.named("Cellar"), by: session, key: nil)
            }
            node.store.next(.directory, .fails(refusal(mayPass: mayPass)))
            await #expect(throws: failure) { try await node.host.registry.resolve(.code(.zero)) }
            node.store.next(.append, .fails(refusal(mayPass: mayPass)))
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(failure))
            #expect(node.store.head(of: room) == 2)
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
        }
    }

    @Test func `a room whose log is corrupt is a fault and told as damage, and one that is refused is unavailable`()
        async throws
    {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNode(on: store) { made = try await $0.makeRoom() }
        let (room, owner) = try #require(made)
        let faults: [(StorageFault, RoomFailure)] = [
            (.corrupt(.init(message: "a page is torn")), .internalFault), (FaultyEventStore.unreachable, .unavailable),
            (refusal(mayPass: true), .unavailable), (refusal(mayPass: false), .unavailable),
        ]
        try await withNode(on: store) { node in
            for (fault, failure) in faults {
                store.next(.load, .fails(fault))
                let refused = try await node.tell(.rename(name: "Anna"), in: room, by: owner)
                #expect(refused == .failed(failure))
            }
            #expect(node.log.messages(from: .error) == ["A room's log cannot be read"])
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            let loads = [#"{outcome="corrupt"}"#: 1.0, #"{outcome="unavailable"}"#: 3, #"{outcome="loaded"}"#: 1]
            #expect(node.nonzero("backline_room_loads_total") == loads)
        }
    }

    @Test func `decisions based on a lost append are dropped with it`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let first = node.ask(.enqueue(track: TrackID(rawValue: 1), index: nil), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let rest = [.play(entry: EntryID(rawValue: 1)), .pause, .skip].map {
                node.ask($0, in: room, by: owner.actor)
            }
            await node.settle()
            node.store.isDown(true)
            gate.open()
            for answer in [first] + rest { #expect(try await answer.outcome() == .failed(.unavailable)) }
            #expect(node.store.batches.count == 2)
            node.store.isDown(false)
            let again = try await node.tell(.enqueue(track: TrackID(rawValue: 1), index: nil), in: room, by: owner)
            #expect(again == .acknowledged(seq: 4, keyed: 0, result: .entry(EntryID(rawValue: 1))))
            try await expectFoldOfLog(of: room, on: [node])
        }
    }

    @Test func `after a lost answer everybody gets the event once, and the retry the first outcome`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            node.store.next(.append, .losesAnswer)
            let command = RoomCommand.enqueue(track: TrackID(rawValue: 1), index: nil)
            #expect(try await node.tell(command, in: room, by: owner, key: "k") == .failed(.outcomeUnknown))
            #expect(client.deltas == 0)
            let outcome = CommandOutcome.acknowledged(seq: 4, keyed: 1, result: .entry(EntryID(rawValue: 1)))
            #expect(try await node.tell(command, in: room, by: owner, key: "k") == outcome)
            #expect(try await node.tell(command, in: room, by: owner, key: "k") == outcome)
            #expect(node.store.head(of: room) == 4)
            #expect(client.deltas == 1)
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    @Test func `after a lost answer followers get the event although nobody retries`() async throws {
        try await withNode(settings: { $0.comparisonInterval = .milliseconds(1) }) { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            node.store.next(.append, .losesAnswer)
            #expect(try await node.tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.outcomeUnknown))
            try await expectFoldOfLog(of: room, on: [node], for: [client])
            #expect(client.seq == 3)
        }
    }

    @Test func `an append that lands after its answer was lost is found by the retry`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let command = RoomCommand.enqueue(track: TrackID(rawValue: 1), index: nil)
            node.store.next(.append, .writesLate)
            #expect(try await node.tell(command, in: room, by: owner, key: "k") == .failed(.outcomeUnknown))
            // The retry reads the log, finds nothing, decides again; only then is the first one written.
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let retry = node.ask(command, in: room, by: owner.actor, key: "k")
            try await eventually("the second append") { gate.arrived == 1 }
            await node.store.writeLate()
            gate.open()
            #expect(try await retry.outcome() == .acknowledged(seq: 4, keyed: 1, result: .entry(EntryID(rawValue: 1))))
            #expect(node.store.head(of: room) == 4)
            try await expectFoldOfLog(of: room, on: [node])
        }
    }

    @Test func `pipelined commands are decided against each other`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let (track, entry) = (TrackID(rawValue: 1), EntryID(rawValue: 1))
            let first = node.ask(.enqueue(track: track, index: nil), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let rest = [.play(entry: entry), .pause, .pause, .removeTracks([track])].map {
                node.ask($0, in: room, by: owner.actor)
            }
            await node.settle()
            #expect(rest.allSatisfy { $0.outcomeSoFar == nil })
            gate.open()
            #expect(try await first.outcome() == .acknowledged(seq: 4, keyed: 0, result: .entry(entry)))
            #expect(try await rest[0].outcome() == .acknowledged(seq: 5, keyed: 0, result: nil))
            #expect(try await rest[1].outcome() == .acknowledged(seq: 6, keyed: 0, result: nil))
            #expect(try await rest[2].outcome() == .acknowledged(seq: 6, keyed: 0, result: nil))
            #expect(try await rest[3].outcome() == .failed(.refused(.conflict("track 1 is on air"))))
            #expect(node.store.batches.count == 3)
        }
    }
}

import EventStorage
import NIOCore
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Testing

/// A room's log is replaced while people follow it: a backup was restored, or the room rewritten.
@Suite struct EpochTests {
    @Test func `followers get a new snapshot, and then the events after it`() async throws {
        try await withNodes(2, settings: { $0.comparisonInterval = .milliseconds(1) }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let clients = [Client(.bob), Client(.cyd)]
            for client in clients { client.connect(to: nodes[0], following: room) }
            for client in clients { try await eventually("a snapshot") { client.isFollowing } }
            let renewed = try await nodes[0].store.renewEpoch(of: room)
            for client in clients { try await eventually("the other log") { client.epoch == renewed } }
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            #expect(try await nodes[1].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
            try await expectFoldOfLog(of: room, on: nodes, for: clients)
            for client in clients { #expect(client.notes == [.snapshot(seq: 2), .snapshot(seq: 2)]) }
        }
    }

    @Test func `a log that ends earlier is shown as it is, and later events of the old log are not`() async throws {
        try await withNode(settings: { $0.comparisonInterval = .milliseconds(1) }) { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(.bob)
            client.connect(to: node, following: room)
            for name in ["Anna", "Anne", "Ana"] {
                _ = try await node.tell(.rename(name: name), in: room, by: owner)
            }
            try await eventually("the deltas") { client.seq == 5 }
            let epoch = client.epoch
            node.store.damage(room, .restored(epoch: "restored", seq: 3))
            try await eventually("the other log") { client.epoch == "restored" }
            #expect(client.seq == 3)
            #expect(client.fold.stateValue == (try JSONValue(parsing: StateJSON.encode(node.store.room(room, at: 3)))))
            // A position in the old log is not valid in the new one.
            let late = Client(.cyd)
            late.connect(to: node, following: room, at: (epoch, 5))
            try await eventually("a snapshot") { late.isFollowing }
            #expect(late.notes == [.snapshot(seq: 3)])
        }
    }

    @Test func `commands that wait for the other log are decided against it`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[0], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let renewed = try await nodes[0].store.renewEpoch(of: room)
            let gate = Gate()
            defer { gate.open() }
            nodes[0].store.next(.load, .waits(gate))
            async let view = nodes[0].host.registry.view(room, for: owner.session)
            try await eventually("the load") { gate.arrived == 1 }
            let answers = ["1", "2", "3"].map { nodes[0].ask(.rename(name: $0), in: room, by: owner.actor) }
            await nodes[0].settle()
            #expect(answers.allSatisfy { $0.outcomeSoFar == nil })
            gate.open()
            #expect(try await view.epoch == renewed)
            for (place, answer) in answers.enumerated() { #expect(try await answer.outcome().seq == 3 + place) }
            try await eventually("the deltas") { client.seq == 5 }
            #expect(client.notes == [.snapshot(seq: 2), .snapshot(seq: 2)])
        }
    }

    @Test func `while the other log cannot be read, commands are told so and followers wait`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let renewed = try await node.store.renewEpoch(of: room)
            node.store.next(.append, .fails(FaultyEventStore.unreachable))
            node.store.next(.load, .fails(FaultyEventStore.unreachable))
            // The room does not know whether it was written: it reads before the next command.
            #expect(try await node.tell(.rename(name: "1"), in: room, by: owner) == .failed(.unavailable))
            #expect(try await node.tell(.rename(name: "2"), in: room, by: owner) == .failed(.unavailable))
            #expect(client.notes == [.snapshot(seq: 2)])
            #expect(try await node.tell(.rename(name: "3"), in: room, by: owner).seq == 3)
            try await eventually("the delta") { client.seq == 3 }
            #expect(client.epoch == renewed)
        }
    }

    @Test func `a resume that began reading one log does not continue in another`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            // More events than the room keeps in memory.
            for _ in 0..<21 {
                for number in 0..<100 { _ = node.ask(.rename(name: "\(number)"), in: room, by: owner.actor) }
                _ = try await node.tell(.rename(name: "end"), in: room, by: owner)
            }
            let epoch = try await node.host.registry.view(room, for: owner.session).epoch
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.read, .answersLate(gate))
            let client = Client(.bob)
            client.connect(to: node, following: room, at: (epoch, 1))
            try await eventually("the read") { gate.arrived == 1 }
            let renewed = try await node.store.renewEpoch(of: room)
            node.store.next(.append, .fails(FaultyEventStore.unreachable))
            #expect(try await node.tell(.rename(name: "1"), in: room, by: owner) == .failed(.unavailable))
            _ = try await node.tell(.rename(name: "2"), in: room, by: owner)
            gate.open()
            try await eventually("a snapshot") { client.isFollowing }
            #expect(client.notes == [.snapshot(seq: node.store.head(of: room))])
            #expect(client.epoch == renewed)
        }
    }

    /// The database has gone back: a standby was promoted that lacked the last commits.
    ///
    /// `others` are commands of a server that has not noticed, since it did not have the room in memory.
    @Test(arguments: [0, 1, 2, 5])
    func `a log that has lost events is noticed, however far it has grown since`(others: Int) async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[0], following: room)
            for number in 1...3 { _ = try await nodes[0].tell(.rename(name: "A\(number)"), in: room, by: owner) }
            try await eventually("the deltas") { client.seq == 5 }
            let epoch = client.epoch
            await nodes[0].store.lose(after: 3, of: room)
            for number in 0..<others {
                let outcome = try await nodes[1].tell(.rename(name: "B\(number)"), in: room, by: owner)
                #expect(outcome.seq == 4 + number)
            }
            // The first command finds it, and is decided on what the log has.
            #expect(try await nodes[0].tell(.rename(name: "C"), in: room, by: owner).seq == 4 + others)
            try await eventually("the other history") { client.epoch != epoch && client.seq == 4 + others }
            #expect(client.notes.last == .snapshot(seq: 3 + others))
            #expect(try await nodes[1].tell(.rename(name: "D"), in: room, by: owner).seq == 5 + others)
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
            #expect(nodes[0].nonzero("backline_rooms_gone_back_total") == ["": 1])
            #expect(nodes[0].nonzero("backline_events_lost_total") == ["": 2])
            #expect(nodes[1].nonzero("backline_rooms_gone_back_total") == [:])
            // Nothing of the lost history is resumed.
            let late = Client(.cyd)
            late.connect(to: nodes[1], following: room, at: (epoch, 4))
            try await eventually("a snapshot") { late.isFollowing }
            #expect(late.notes == [.snapshot(seq: 5 + others)])
        }
    }

    @Test func `followers learn it without a command, as soon as the server looks at the log`() async throws {
        try await withNode(settings: { $0.comparisonInterval = .milliseconds(1) }) { node in
            let (room, owner) = try await node.makeRoom()
            let client = Client(.bob)
            client.connect(to: node, following: room)
            for number in 1...3 { _ = try await node.tell(.rename(name: "A\(number)"), in: room, by: owner) }
            try await eventually("the deltas") { client.seq == 5 }
            let epoch = client.epoch
            // The epoch cannot be renewed at first.
            node.store.next(.renew, .fails(FaultyEventStore.unreachable))
            await node.store.lose(after: 4, of: room)
            try await eventually("the other history") { client.epoch != epoch }
            #expect(client.notes.suffix(1) == [.snapshot(seq: 4)])
            #expect(node.store.calls(.renew) == 2)
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    @Test func `a snapshot of the old log is not saved in the new one`() async throws {
        let store = FaultyEventStore()
        var made: RoomID?
        try await withNode(on: store, settings: { $0.eventsPerSnapshot = 4 }) { node in
            let (room, owner) = try await node.makeRoom()
            made = room
            let gate = Gate()
            defer { gate.open() }
            store.next(.save, .waits(gate))
            for name in ["Anna", "Anne", "Ana"] {
                _ = try await node.tell(.rename(name: name), in: room, by: owner)
            }
            try await eventually("a snapshot on its way") { gate.arrived == 1 }
            _ = try await store.renewEpoch(of: room)
        }
        // The node has finished the work that it began.
        #expect(store.calls(.save) == 1)
        #expect(try store.snapshots(of: #require(made)).isEmpty)
    }

    @Test func `a command decided on the old log is decided again on the new one`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            for node in nodes { _ = try await node.state(of: room) }
            let renewed = try await nodes[0].store.renewEpoch(of: room)
            // Nobody follows, and only the append itself tells the room.
            let appends = nodes[0].store.batches.count
            #expect(try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner).seq == 3)
            #expect(nodes[0].store.batches.count == appends + 2)
            #expect(try await nodes[1].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
            #expect(try await nodes[1].host.registry.view(room, for: owner.session).epoch == renewed)
        }
    }
}

import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomLog
import RoomService
import RoomWire
import Testing

/// Rooms are loaded into memory and leave it unchanged.
@Suite struct LifeTests {
    private func housekeeping(_ settings: inout RoomHostSettings) {
        settings.comparisonInterval = .milliseconds(1)
        settings.evictAfter = .milliseconds(0)
        settings.eventsPerSnapshot = 4
    }

    @Test func `an idle room leaves memory and comes back as it was`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, owner) = try await node.makeRoom(tracks: 3)
            let code = try node.store.room(room).code
            for number in 0..<30 {
                let track = TrackID(rawValue: number % 3 + 1)
                _ = try await node.tell(
                    number % 2 == 0 ? .vote(track: track) : .unvote(track: track), in: room, by: owner)
                try await eventually("the room's leaving") { node.host.registry.liveRoom(code: code) == nil }
                try await expectFoldOfLog(of: room, on: [node])
            }
            #expect(node.store.calls(.load) > 30)
            #expect(!node.store.snapshots(of: room).isEmpty)
        }
    }

    @Test func `a room that often leaves memory keeps one snapshot for each span of events`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, owner) = try await node.makeRoom()
            let code = try node.store.room(room).code
            for number in 3...11 {
                #expect(try await node.tell(.rename(name: "A\(number)"), in: room, by: owner).seq == number)
                try await eventually("the room's leaving") { node.host.registry.liveRoom(code: code) == nil }
                try await eventually("its snapshot") { node.store.snapshots(of: room).last?.seq == number }
            }
            var kept: [Int?] = []
            for seq in 1...11 {
                let version = StoredStateJSON.reducerVersion
                kept.append(try await node.store.snapshot(of: room.uuid, atMost: seq, reducerVersion: version)?.seq)
            }
            #expect(kept == [nil, nil, 3, 3, 3, 3, 7, 7, 7, 7, 11])
        }
    }

    @Test func `every snapshot that is kept is the fold of the log up to it`() async throws {
        try await withNode(settings: { $0.eventsPerSnapshot = 3 }) { node in
            let (room, owner) = try await node.makeRoom(tracks: 3)
            for track in [1, 2, 3, 1, 2, 3] {
                let track = TrackID(rawValue: track)
                _ = try await node.tell(.vote(track: track), in: room, by: owner)
                _ = try await node.tell(.enqueue(track: track, index: 0), in: room, by: owner)
            }
            try await eventually("snapshots") { node.store.snapshots(of: room).count > 3 }
            for snapshot in node.store.snapshots(of: room) {
                let state = try StoredStateJSON.decode(snapshot.state)
                #expect(try state == node.store.room(room, at: snapshot.seq))
            }
        }
    }

    @Test func `a snapshot of another version is ignored, and replaced when the room leaves memory`() async throws {
        let store = FaultyEventStore()
        var made: RoomID?
        try await withNode(on: store) { node in made = try await node.makeRoom(tracks: 3).room }
        let (room, ours) = (try #require(made), StoredStateJSON.reducerVersion)
        let foreign = StoredSnapshot(seq: 3, reducerVersion: ours + 1, state: Array("what another fold made".utf8))
        try await store.save(foreign, of: room.uuid)
        try await withNode(on: store, settings: housekeeping) { node in
            try await expectFoldOfLog(of: room, on: [node])
            try await eventually("a snapshot of our own") {
                store.snapshots(of: room).contains { $0.reducerVersion == ours }
            }
        }
        let kept = try #require(try await store.snapshot(of: room.uuid, atMost: 3, reducerVersion: ours))
        #expect(try StoredStateJSON.decode(kept.state) == store.room(room))
        #expect(try await store.snapshot(of: room.uuid, atMost: 3, reducerVersion: ours + 1) == nil)
    }

    @Test(arguments: [true, false])
    func `a damaged snapshot is not used, and replaced when the room leaves memory`(isReadable: Bool) async throws {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNode(on: store) { node in made = try await node.makeRoom(tracks: 3) }
        let (room, owner) = try #require(made)
        var damaged = StoredSnapshot(of: try store.room(room))
        if isReadable {
            let text = String(decoding: damaged.state, as: UTF8.self)
            damaged.state = Array(text.split(separator: "Kitchen").joined(separator: "Kitchem").utf8)
            #expect(try StoredStateJSON.decode(damaged.state).name == "Kitchem")
        } else {
            damaged.state.removeLast()
            damaged.checksum = nil
        }
        try await store.save(damaged, of: room.uuid)
        try await withNode(on: store) { node in
            try await expectFoldOfLog(of: room, on: [node])
            let past = try await node.host.history.view(room, at: 3, for: owner.asker)
            #expect(try past.state.json == StateJSON.encode(store.room(room)))
            let warning = "A snapshot is damaged and is not used: delete its row, nothing is lost with it"
            #expect(node.log.messages(from: .info) == [warning, warning])
            #expect(try await node.tell(.vote(track: TrackID(rawValue: 1)), in: room, by: owner).seq == 4)
        }
        try await withNode(on: store, settings: housekeeping) { node in
            try await expectFoldOfLog(of: room, on: [node])
            let code = try store.room(room).code
            try await eventually("the room's leaving") { node.host.registry.liveRoom(code: code) == nil }
            try await eventually("a whole snapshot") {
                let kept = try await store.snapshot(
                    of: room.uuid, atMost: .max, reducerVersion: StoredStateJSON.reducerVersion)
                return try kept == StoredSnapshot(of: store.room(room))
            }
        }
    }

    @Test func `a room that somebody follows stays in memory`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, _) = try await node.makeRoom()
            let (other, _) = try await node.makeRoom()
            let codes = try [room, other].map { try node.store.room($0).code }
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("the subscription") { client.isFollowing }
            for _ in 0..<20 {
                _ = try await node.state(of: other)
                try await eventually("the other room's leaving") { node.host.registry.liveRoom(code: codes[1]) == nil }
            }
            #expect(node.host.registry.liveRoom(code: codes[0]) == room)
            client.drop()
            try await eventually("the room's leaving") { node.host.registry.liveRoom(code: codes[0]) == nil }
        }
    }

    @Test func `a room with an append under way stays in memory`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, owner) = try await node.makeRoom()
            let (other, _) = try await node.makeRoom()
            let codes = try [room, other].map { try node.store.room($0).code }
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let answer = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            for _ in 0..<5 {
                _ = try await node.state(of: other)
                try await eventually("the other room's leaving") { node.host.registry.liveRoom(code: codes[1]) == nil }
            }
            #expect(node.host.registry.liveRoom(code: codes[0]) == room)
            gate.open()
            #expect(try await answer.outcome().seq == 3)
        }
    }

    @Test func `requests that arrive while a room is loading share the load`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.load, .waits(gate))
            let answers = (0..<20).map { node.ask(.rename(name: "A\($0)"), in: room, by: owner.actor) }
            try await eventually("the load") { gate.arrived == 1 }
            gate.open()
            for (place, answer) in answers.enumerated() { #expect(try await answer.outcome().seq == place + 3) }
            #expect(node.store.calls(.load) == 1)
        }
    }

    @Test func `a failed snapshot changes nothing but the time that loading takes`() async throws {
        let store = FaultyEventStore()
        store.plan { $0 == .save ? .fails(FaultyEventStore.unreachable) : .works }
        try await withNode(on: store, settings: housekeeping) { node in
            let (room, owner) = try await node.makeRoom()
            for number in 0..<12 { _ = try await node.tell(.rename(name: "A\(number)"), in: room, by: owner) }
            try await expectFoldOfLog(of: room, on: [node])
            #expect(store.snapshots(of: room).isEmpty)
        }
    }

    // MARK: Damaged logs

    @Test(arguments: [1, 2, 5, 7]) func `a log with a hole is not folded`(seq: Int) async throws {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNode(on: store) { node in
            let (room, owner) = try await node.makeRoom()
            made = (room, owner)
            for number in 3...7 { _ = try await node.tell(.rename(name: "A\(number)"), in: room, by: owner) }
        }
        let (room, owner) = try #require(made)
        try await withNode(on: store) { node in
            store.damage(room, .lacks(seq: seq))
            let refused = try await node.tell(.rename(name: "B"), in: room, by: owner)
            #expect(refused == .failed(.internalFault))
            await #expect(throws: RoomFailure.internalFault) {
                try await node.host.registry.view(room, for: owner.session)
            }
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes == [.refused(.unavailable)] }
            store.damage(room, nil)
            #expect(try await node.tell(.rename(name: "B"), in: room, by: owner).seq == 8)
            // The room is in memory: only a read of the past finds the gap.
            store.damage(room, .lacks(seq: seq))
            await #expect(throws: RoomFailure.internalFault) {
                try await node.host.history.events(of: room, after: 0, limit: 100, for: owner.asker)
            }
            await #expect(throws: RoomFailure.internalFault) {
                try await node.host.history.events(of: room, after: seq - 1, limit: 1, for: owner.asker)
            }
            await #expect(throws: RoomFailure.internalFault) {
                try await node.host.history.view(room, at: 8, for: owner.asker)
            }
        }
    }

    @Test func `a room that reads a gap in the log says so and recovers when the gap is gone`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("the subscription") { client.isFollowing }
            for number in 3...6 { _ = try await nodes[0].tell(.rename(name: "A\(number)"), in: room, by: owner) }
            for seq in 3...6 {
                nodes[1].store.damage(room, .lacks(seq: seq))
                #expect(try await nodes[1].tell(.rename(name: "B"), in: room, by: owner) == .failed(.internalFault))
                #expect(client.seq == 2)
            }
            nodes[1].store.damage(room, nil)
            #expect(try await nodes[1].tell(.rename(name: "B"), in: room, by: owner).seq == 7)
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
        }
    }

    @Test func `followers of a room that is gone are told, and later requests get the current state`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let node = nodes[1]
            let client = Client(owner)
            client.connect(to: node, following: room)
            try await eventually("the subscription") { client.isFollowing }
            let epoch = client.epoch
            node.store.damage(room, .gone)
            await #expect(throws: RoomFailure.noSuchRoom) {
                try await node.host.registry.view(room, for: owner.session)
            }
            #expect(client.notes == [.snapshot(seq: 2), .forgotten])
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes.last == .refused(.noSuchRoom) }
            node.store.damage(room, nil)
            client.connect(to: node, following: room)
            try await eventually("the subscription") { client.isFollowing }
            #expect(client.epoch == epoch)
        }
    }

    @Test func `commands that wait for a removed room are answered`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            _ = try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner)
            nodes[1].store.damage(room, .gone)
            #expect(try await nodes[1].tell(.rename(name: "Anne"), in: room, by: owner) == .failed(.noSuchRoom))
        }
    }
}

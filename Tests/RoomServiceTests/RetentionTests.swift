import EventStorage
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomService
import RoomWire
import SimulatedTime
import Testing

/// The removal of rooms that were closed long ago.
@Suite struct RetentionTests {
    private func housekeeping(_ settings: inout RoomHostSettings) {
        settings.comparisonInterval = .milliseconds(1)
        settings.retainClosedRoomsMs = 60_000
    }

    @Test func `a room is removed when it has been closed for long enough, and no other`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, settings: housekeeping) { node in
            let (open, _) = try await node.makeRoom()
            let (old, owner) = try await node.makeRoom()
            let (young, other) = try await node.makeRoom()
            #expect(try await node.tell(.closeRoom, in: old, by: owner).seq == 3)
            clock.advance(milliseconds: 30_000)
            #expect(try await node.tell(.closeRoom, in: young, by: other).seq == 3)
            clock.advance(milliseconds: 30_001)
            try await eventually("the removal") { try await node.store.heads(of: [old.uuid]).isEmpty }
            await #expect(throws: RoomFailure.noSuchRoom) { try await node.host.registry.view(old, for: owner.session) }
            #expect(try await node.tell(.closeRoom(forget: true), in: old, by: owner) == .failed(.noSuchRoom))
            #expect(Set(try await node.store.heads(of: [open.uuid, young.uuid]).keys) == [open.uuid, young.uuid])
            try await expectFoldOfLog(of: young, on: [node])
            try await expectFoldOfLog(of: open, on: [node])
        }
    }

    @Test func `however many rooms are to be removed, forgetting continues in between`() async throws {
        let (store, clock) = (FaultyEventStore(), ManualClock())
        try await withNode(on: store, clock: clock) { node in
            for _ in 0..<201 {
                let (room, owner) = try await node.makeRoom()
                #expect(try await node.tell(.closeRoom, in: room, by: owner).seq == 3)
            }
        }
        clock.advance(milliseconds: 60_001)
        try await withNode(on: store, clock: clock, settings: housekeeping) { node in
            try await eventually("the removal") { store.erasures.count { $0 == .removeStreams } >= 3 }
        }
        let rounds = store.erasures.split(separator: .streamsToForget)
        #expect(rounds.allSatisfy { $0.count { $0 == .removeStreams } <= 1 })
    }

    @Test func `without a setting no room is ever removed`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, settings: { $0.comparisonInterval = .milliseconds(1) }) { node in
            let (room, owner) = try await node.makeRoom()
            #expect(try await node.tell(.closeRoom, in: room, by: owner).seq == 3)
            clock.advance(milliseconds: 100 * 365 * 86_400_000)
            let rounds = node.store.calls(.erasure)
            try await eventually("some rounds") { node.store.calls(.erasure) > rounds + 30 }
            try await expectFoldOfLog(of: room, on: [node])
        }
    }

    @Test func `followers of a removed room are told, on every server`() async throws {
        let clock = ManualClock()
        try await withNodes(2, clock: clock, settings: housekeeping) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let code = try nodes[0].store.room(room).code
            let clients = nodes.map { node in
                let client = Client(.bob)
                client.connect(to: node, following: room)
                return client
            }
            for client in clients { try await eventually("the subscription") { client.isFollowing } }
            #expect(try await nodes[0].tell(.closeRoom, in: room, by: owner).seq == 3)
            for client in clients { try await eventually("the closing") { client.seq == 3 } }
            clock.advance(milliseconds: 60_001)
            for client in clients { try await eventually("the end") { client.notes.last == .forgotten } }
            for (node, client) in zip(nodes, clients) {
                client.connect(to: node, following: room)
                try await eventually("an answer") { client.notes.last == .refused(.noSuchRoom) }
                await #expect(throws: RoomFailure.noSuchRoom) {
                    try await node.host.registry.view(room, for: owner.session)
                }
                #expect(try await node.tell(.rename(name: "A"), in: room, by: owner) == .failed(.noSuchRoom))
                await #expect(throws: RoomFailure.noSuchRoom) { try await node.host.registry.resolve(.code(code)) }
            }
        }
    }

    @Test func `a room that was found to be gone leaves memory, also if it is removed only later`() async throws {
        let clock = ManualClock()
        try await withNode(
            clock: clock,
            settings: {
                housekeeping(&$0)
                $0.evictAfter = .milliseconds(200)
                $0.logIsShared = true
            }
        ) { node in
            let (room, owner) = try await node.makeRoom()
            let code = try node.store.room(room).code
            #expect(try await node.tell(.closeRoom, in: room, by: owner).seq == 3)
            node.store.damage(room, .gone)
            await #expect(throws: RoomFailure.noSuchRoom) {
                try await node.host.registry.view(room, for: owner.session)
            }
            clock.advance(milliseconds: 60_001)
            try await eventually("the removal") { node.store.isRemoved(room) }
            try await eventually("the room's leaving") { node.host.registry.liveRoom(code: code) == nil }
        }
    }

    @Test(arguments: [60_000, nil] as [Int64?])
    func `an interrupted removal is finished, also by a server that removes nothing itself`(age: Int64?) async throws {
        let store = FaultyEventStore()
        let clock = ManualClock()
        let dice = Dice(seed: TestSeed.fixed(3))
        try await withNode(on: store, clock: clock, settings: housekeeping) { node in
            var rooms: [RoomID] = []
            for _ in 0..<20 {
                let (room, owner) = try await node.makeRoom()
                #expect(try await node.tell(.closeRoom, in: room, by: owner).seq == 3)
                rooms.append(room)
            }
            // No call succeeds, so it never goes on to what is left of the rooms.
            store.plan { method in
                guard method == .erasure else { return .works }
                return dice.once(in: 2) ? .losesAnswer : .fails(FaultyEventStore.unreachable)
            }
            clock.advance(milliseconds: 60_001)
            try await eventually("the removal") { try await store.heads(of: rooms.map(\.uuid)).isEmpty }
        }
        #expect(store.remains == 20)
        let removals = store.erasures.count { $0 == .removeStreams }
        store.plan { method in
            guard method == .erasure, dice.once(in: 2) else { return .works }
            return dice.once(in: 2) ? .losesAnswer : .fails(FaultyEventStore.unreachable)
        }
        try await withNode(
            on: store, clock: clock,
            settings: {
                housekeeping(&$0)
                $0.retainClosedRoomsMs = age
            }
        ) { _ in
            try await eventually("the end of the remains") { store.remains == 0 }
        }
        if age == nil { #expect(store.erasures.count { $0 == .removeStreams } == removals) }
    }
}

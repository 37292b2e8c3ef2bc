import EventStorage
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import Testing

/// Owners who are away, and the right to look at a room, at one server and across several.
@Suite struct ModerationTests {
    private func settings(_ change: (inout SettingsUpdate) -> Void) -> RoomCommand {
        var update = RoomUpdate()
        change(&update.settings)
        return .updateRoom(update)
    }

    /// A person who joined.
    private func member(_ number: UInt8, of room: RoomID, at node: Node) async throws -> Client {
        let client = Client(.guest(number))
        _ = try await node.tell(.join(name: nil), in: room, by: client.person)
        return client
    }

    private func follow(_ room: RoomID, _ client: Client, at node: Node) async throws {
        client.connect(to: node, following: room)
        try await eventually("the subscription") { client.isFollowing }
    }

    private func changes(of room: RoomID, at node: Node) throws -> [RoomEvent] {
        try node.store.events(of: room).map(\.event).filter { if case .roleChanged = $0 { true } else { false } }
    }

    private func replaced(by heir: Int, from owner: Int = 1) -> [RoomEvent] {
        [
            .roleChanged(member: MemberID(rawValue: heir), role: .owner, note: RoomState.ownerAway),
            .roleChanged(member: MemberID(rawValue: owner), role: .dj, note: RoomState.ownerAway),
        ]
    }

    // MARK: Owners

    @Test func `an owner who stays away is replaced, once`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (device, bob) = (Client(owner), try await member(2, of: room, at: node))
            for client in [device, bob] { try await follow(room, client, at: node) }
            _ = try await node.tell(settings { $0.ownerAwayMs = 50 }, in: room, by: owner)
            device.drop()
            try await eventually("another owner") { try changes(of: room, at: node) == replaced(by: 2) }
            // The new owner is online.
            await node.settle()
            try await expectFoldOfLog(of: room, on: [node], for: [bob])
        }
    }

    @Test func `an owner who comes back in time, or may be away, stays`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (device, bob) = (Client(owner), try await member(2, of: room, at: node))
            for client in [device, bob] { try await follow(room, client, at: node) }
            _ = try await node.tell(settings { $0.ownerAwayMs = 3_600_000 }, in: room, by: owner)
            device.drop()
            await node.settle()
            _ = try await node.tell(settings { $0.ownerAwayMs = 0 }, in: room, by: owner)
            try await follow(room, device, at: node)
            _ = try await node.tell(settings { $0.ownerAwayMs = 1 }, in: room, by: owner)
            await node.settle()
            #expect(try changes(of: room, at: node) == [])
        }
    }

    @Test func `somebody who comes later finds the owner away for long enough`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let bob = try await member(2, of: room, at: node)
            _ = try await node.tell(settings { $0.ownerAwayMs = 1 }, in: room, by: owner)
            await node.settle()
            #expect(try changes(of: room, at: node) == [])
            try await follow(room, bob, at: node)
            try await eventually("another owner") { try changes(of: room, at: node) == replaced(by: 2) }
        }
    }

    @Test func `a time that is shortened while the owner is away counts from when it went`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (device, bob) = (Client(owner), try await member(2, of: room, at: node))
            for client in [device, bob] { try await follow(room, client, at: node) }
            _ = try await node.tell(settings { $0.ownerAwayMs = 3_600_000 }, in: room, by: owner)
            device.drop()
            await node.settle()
            _ = try await node.tell(settings { $0.ownerAwayMs = 1 }, in: room, by: owner)
            try await eventually("another owner") { try changes(of: room, at: node) == replaced(by: 2) }
        }
    }

    @Test func `an owner is replaced later if the log was out of reach`() async throws {
        try await withNode(settings: { $0.comparisonInterval = .milliseconds(20) }) { node in
            let (room, owner) = try await node.makeRoom()
            let bob = try await member(2, of: room, at: node)
            _ = try await node.tell(settings { $0.ownerAwayMs = 1 }, in: room, by: owner)
            node.store.next(.append, .fails(FaultyEventStore.unreachable))
            try await follow(room, bob, at: node)
            try await eventually("another owner") { try changes(of: room, at: node) == replaced(by: 2) }
        }
    }

    @Test func `of servers that notice at once, one replaces the owner`() async throws {
        // Both know who is there: no lease ends.
        let knowing = { (settings: inout RoomHostSettings) in
            settings.presence.beat = .milliseconds(100)
            settings.presence.lease = .hours(1)
        }
        try await withNodes(2, bus: MemoryNodeBus(), settings: knowing) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let device = Client(owner)
            try await follow(room, device, at: nodes[0])
            let bob = try await member(2, of: room, at: nodes[0])
            let cyd = try await member(3, of: room, at: nodes[1])
            for (client, node) in [(bob, nodes[0]), (cyd, nodes[1])] { try await follow(room, client, at: node) }
            try await eventually("everybody, at both servers") {
                [bob, cyd].allSatisfy { $0.live.members == [1, 2, 3] }
            }
            _ = try await nodes[0].tell(settings { $0.ownerAwayMs = 50 }, in: room, by: owner)
            device.drop()
            try await eventually("another owner") { try changes(of: room, at: nodes[0]) == replaced(by: 2) }
            for node in nodes { await node.settle() }
            try await expectFoldOfLog(of: room, on: nodes, for: [bob, cyd])
            #expect(try changes(of: room, at: nodes[0]) == replaced(by: 2))
        }
    }

    // MARK: Bans

    @Test func `the banned see nothing of a room until their ban is over`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            let (room, owner) = try await node.makeRoom()
            _ = try await node.tell(.join(name: nil), in: room, by: .bob)
            let kick = RoomCommand.kick(member: MemberID(rawValue: 2), ban: true, durationMs: 1_000, note: nil)
            _ = try await node.tell(kick, in: room, by: owner)
            clock.advance(milliseconds: 400)
            let refused = RoomFailure.refused(.banned(retryAfterMs: 600))
            let bob = Person.bob.session
            await #expect(throws: refused) { try await node.host.registry.view(room, for: bob) }
            let asker = Asker(bob, from: nil)
            await #expect(throws: refused) { try await node.host.history.view(room, at: 1, for: asker) }
            await #expect(throws: refused) {
                try await node.host.history.events(of: room, after: 0, limit: 9, for: asker)
            }
            await #expect(throws: refused) {
                try await node.host.registry.pool(
                    of: room, PoolQuery(start: .first(.title), text: "", limit: 9), for: asker)
            }
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes == [.refused(refused)] }
            let join = try await node.tell(.join(name: nil), in: room, by: .bob)
            #expect(join == .failed(.refused(.banned(retryAfterMs: 600))))
            clock.advance(milliseconds: 600)
            #expect(try await node.host.registry.view(room, for: bob).seq == 5)
            try await follow(room, client, at: node)
            #expect(try await node.tell(.join(name: nil), in: room, by: .bob).seq == 7)
            let events = try node.store.events(of: room).suffix(2).map(\.event)
            #expect(events.first == .memberUnbanned(member: MemberID(rawValue: 2), by: nil))
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    @Test func `slow mode counts what another server has let in`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[0].tell(.join(name: nil), in: room, by: .bob)
            let slow = settings {
                $0.guestsMayAdd = true
                $0.slowModeMs = 1_000
            }
            _ = try await nodes[0].tell(slow, in: room, by: owner)
            let added = try await nodes[0].tell(.addTracks([.named("One")]), in: room, by: .bob)
            #expect(added.seq == 5)
            let refused = try await nodes[1].tell(.addTracks([.named("Two")]), in: room, by: .bob)
            guard case .failed(.refused(.rateLimited(_, retryAfterMs: 1_000))) = refused else {
                Issue.record("\(refused)")
                return
            }
        }
    }
}

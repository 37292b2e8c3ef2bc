import EventStorage
import FoundationEssentials
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Synchronization
import Testing

/// Presence, reactions and signals, at one server and across several.
@Suite struct EphemeralTests {
    private func quickly(_ settings: inout RoomHostSettings) {
        settings.presence.beat = .milliseconds(100)
        // No lease ends, except in the test that is about leases.
        settings.presence.lease = .hours(1)
    }

    /// A person who joined, and follows.
    private func member(
        _ number: UInt8, of room: RoomID, at node: Node
    ) async throws -> (client: Client, member: MemberID) {
        let client = Client(.guest(number))
        let outcome = try await node.tell(.join(name: nil), in: room, by: client.person)
        guard case .member(let member)? = outcome.result else { throw NeverHappened(description: "\(outcome)") }
        client.connect(to: node, following: room)
        try await eventually("the subscription") { client.isFollowing }
        return (client, member)
    }

    private func relayed(_ json: String) throws -> RelayedJSON {
        try #require(RelayedJSON(Array(json.utf8)))
    }

    private func react(_ emoji: String, by person: Person, in room: RoomID, at node: Node) async -> EphemeralOutcome {
        await withCheckedContinuation { continuation in
            node.host.registry.react(emoji, in: room, by: person.session) { continuation.resume(returning: $0) }
        }
    }

    private func signal(
        _ data: RelayedJSON, to member: MemberID, by person: Person, in room: RoomID, at node: Node
    ) async -> EphemeralOutcome {
        await withCheckedContinuation { continuation in
            node.host.registry.signal(data, to: member, in: room, by: person.session) {
                continuation.resume(returning: $0)
            }
        }
    }

    // MARK: Presence

    @Test func `joining, leaving and losing the connection change who is online`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let watcher = Client(owner)
            watcher.connect(to: node, following: room)
            try await eventually("the owner itself") { watcher.live.members == [1] }
            // He looks before he joins: he is a member from then on.
            let bob = Client(.bob)
            bob.connect(to: node, following: room)
            try await eventually("the subscription") { bob.isFollowing }
            #expect(bob.live.members == [1])
            _ = try await node.tell(.join(name: nil), in: room, by: bob.person)
            try await eventually("Bob") { watcher.live.members == [1, 2] && bob.live.members == [1, 2] }
            _ = try await node.tell(.leave, in: room, by: bob.person)
            try await eventually("not Bob") { watcher.live.members == [1] && bob.live.members == [1] }
            let (cyd, _) = try await member(3, of: room, at: node)
            try await eventually("Cyd") { watcher.live.members == [1, 3] }
            cyd.drop()
            try await eventually("not Cyd") { watcher.live.members == [1] }
            _ = try await node.tell(.kick(member: MemberID(rawValue: 3), ban: false, note: nil), in: room, by: owner)
            #expect(
                try await node.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first?
                    .listeners == 1)
            #expect(watcher.complaints + bob.complaints == [])
        }
    }

    @Test func `a member is online at all servers as long as it is connected to one`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let watchers = nodes.map { _ in Client(owner) }
            for (watcher, node) in zip(watchers, nodes) { watcher.connect(to: node, following: room) }
            try await eventually("the owner itself") { watchers.allSatisfy { $0.live.members == [1] } }
            let (bob, _) = try await member(2, of: room, at: nodes[1])
            try await eventually("Bob") { watchers.allSatisfy { $0.live.members == [1, 2] } }
            for node in nodes {
                #expect(try await node.host.registry.view(room, for: owner.session).presence?.online == 2)
                #expect(
                    try await node.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first?
                        .listeners == 2)
            }
            watchers[1].drop()
            bob.drop()
            try await eventually("not Bob") { watchers[0].live.members == [1] }
            watchers[0].drop()
            for node in nodes {
                try await eventually("nobody") {
                    try await node.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first?
                        .listeners == 0
                }
            }
        }
    }

    @Test func `a server that begins later knows who is online, and a goodbye takes effect at once`() async throws {
        let (bus, store, clock) = (MemoryNodeBus(), FaultyEventStore(), ManualClock())
        func settings(_ settings: inout RoomHostSettings) {
            quickly(&settings)
            settings.logIsShared = true
        }
        try await withNode(on: store, clock: clock, bus: bus, name: "first", settings: settings) { first in
            let (room, owner) = try await first.makeRoom()
            let watcher = Client(owner)
            watcher.connect(to: first, following: room)
            try await withNode(on: store, clock: clock, bus: bus, name: "second", settings: settings) { second in
                // No request for the room came here.
                try await eventually("the owner in the listing") {
                    try await second.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first?
                        .listeners == 1
                }
                let (bob, _) = try await member(2, of: room, at: second)
                #expect(bob.live.members == [1, 2])
                try await eventually("Bob") { watcher.live.members == [1, 2] }
            }
            try await eventually("not Bob") { watcher.live.members == [1] }
        }
    }

    @Test func `members at a server that dies are offline when its lease ends`() async throws {
        let (bus, store, clock) = (DeafeningBus(), FaultyEventStore(), ManualClock())
        func settings(_ settings: inout RoomHostSettings) {
            quickly(&settings)
            settings.presence.lease = .milliseconds(500)
        }
        try await withNodes(2, on: store, clock: clock, bus: bus, settings: settings) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let watcher = Client(owner)
            watcher.connect(to: nodes[0], following: room)
            _ = try await member(2, of: room, at: nodes[1])
            try await eventually("Bob") { watcher.live.members == [1, 2] }
            bus.isDeaf.store(true, ordering: .relaxed)
            try await eventually("not Bob") { watcher.live.members == [1] }
            bus.isDeaf.store(false, ordering: .relaxed)
            try await eventually("Bob again") { watcher.live.members == [1, 2] }
        }
    }

    @Test func `a kicked member is not online, whatever the member's own server knows`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let watcher = Client(owner)
            watcher.connect(to: nodes[0], following: room)
            let (_, bob) = try await member(2, of: room, at: nodes[1])
            try await eventually("Bob") { watcher.live.members == [1, 2] }
            _ = try await nodes[0].tell(.kick(member: bob, ban: false, note: nil), in: room, by: owner)
            try await eventually("not Bob") { watcher.live.members == [1] }
            #expect(
                try await nodes[0].host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first?
                    .listeners == 1)
        }
    }

    @Test func `in a room of more than a thousand, presence is a number`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let watcher = Client(owner)
            watcher.connect(to: nodes[0], following: room)
            let deaf = DeafFeed()
            var joining: Answer?
            for number in 1...1_000 {
                let session = SessionID(UUID())
                joining = nodes[1].ask(.join(name: nil), in: room, by: .session(session, name: "Guest \(number)"))
                nodes[1].host.registry.subscribe(
                    SubscriptionRequest(
                        connection: ConnectionID(rawValue: -number), asker: Asker(session, from: nil),
                        .begin(id: nil, from: nil),
                        feed: deaf), to: room)
            }
            _ = try await joining?.outcome()
            let there = Client(.guest(99))
            there.connect(to: nodes[1], following: room)
            for client in [watcher, there] {
                try await eventually("all of them") { client.live.online == 1_001 && client.live.members == nil }
            }
            nodes[1].host.registry.unsubscribe(ConnectionID(rawValue: -1_000), from: room, because: .asked)
            for client in [watcher, there] {
                try await eventually("one less, all named") { client.live.members?.count == 1_000 }
            }
            #expect(watcher.live.members == there.live.members)
        }
    }

    // MARK: Reactions

    @Test func `a reaction is shown to all who follow, at every server`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            var clients: [Client] = []
            for (number, node) in nodes.enumerated() {
                clients.append(try await member(UInt8(2 + number), of: room, at: node).client)
            }
            // A member need not follow to react.
            #expect(await react("👍", by: owner, in: room, at: nodes[0]) == .done)
            #expect(await react("🎉", by: clients[1].person, in: room, at: nodes[1]) == .done)
            for client in clients {
                try await eventually("the reactions") { Set(client.live.reactions) == ["1 👍", "3 🎉"] }
            }
            #expect(await react("👍", by: .guest(9), in: room, at: nodes[1]) == .failed(.refused(.notMember)))
            #expect(await react("👍", by: owner, in: RoomID(owner.session.uuid), at: nodes[0]) == .failed(.noSuchRoom))
        }
    }

    @Test func `five reactions a second are shown, counted over all servers`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let clients = nodes.map { _ in Client(owner) }
            for (client, node) in zip(clients, nodes) { client.connect(to: node, following: room) }
            try await eventually("the subscriptions") { clients.allSatisfy { $0.isFollowing } }
            // Repeated until it happens within a second.
            try await eventually("a refusal at the server at which there were fewer") {
                let before = clients[1].live.reactions.count
                for _ in 1...3 {
                    try await eventually("a reaction") { await react("x", by: owner, in: room, at: nodes[0]) == .done }
                }
                try await eventually("three") { clients[1].live.reactions.count == before + 3 }
                await nodes[1].advance(by: .milliseconds(1))
                for _ in 1...3 {
                    guard case .rateLimited(let wait) = await react("y", by: owner, in: room, at: nodes[1]) else {
                        continue
                    }
                    #expect((1...1_000).contains(wait))
                    return true
                }
                return false
            }
            try await eventually("another one is let") {
                await react("y", by: owner, in: room, at: nodes[1]) == .done
            }
        }
    }

    @Test func `a reaction right after joining is a member's`() async throws {
        try await withNode { node in
            let (room, _) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let answer = node.ask(.join(name: nil), in: room, by: Person.bob.actor)
            try await eventually("the append") { gate.arrived == 1 }
            async let outcome = react("👍", by: .bob, in: room, at: node)
            await node.settle()
            gate.open()
            #expect(await outcome == .done)
            #expect(try await answer.outcome().seq == 3)
        }
    }

    @Test func `the banned and those in a closed room cannot react`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (_, bob) = try await member(2, of: room, at: node)
            _ = try await node.tell(.kick(member: bob, ban: true, note: nil), in: room, by: owner)
            #expect(await react("👍", by: .bob, in: room, at: node) == .failed(.refused(.banned)))
            _ = try await node.tell(.closeRoom, in: room, by: owner)
            #expect(await react("👍", by: owner, in: room, at: node) == .failed(.refused(.roomClosed)))
        }
    }

    // MARK: Signals

    @Test func `a signal reaches all connections of the one it is for, at every server, and nobody else`() async throws
    {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let (bob, number) = try await member(2, of: room, at: nodes[0])
            let (cyd, _) = try await member(3, of: room, at: nodes[1])
            try await eventually("the other server knows") { cyd.live.members == [2, 3] }
            let other = Client(bob.person)
            other.connect(to: nodes[1], following: room)
            try await eventually("the subscription") { other.isFollowing }
            let data = try relayed(#""an offer""#)
            #expect(await signal(data, to: number, by: cyd.person, in: room, at: nodes[1]) == .done)
            for client in [bob, other] {
                try await eventually("the signal") { client.live.signals == ["3 an offer"] }
            }
            #expect(cyd.live.signals == [])
            // Only at the other server.
            bob.drop()
            try await eventually("an answer") {
                await signal(data, to: number, by: owner, in: room, at: nodes[0]) == .done
                    && other.live.signals.last == "1 an offer"
            }
            other.drop()
            try await eventually("nobody is there") {
                let outcome = await signal(data, to: number, by: owner, in: room, at: nodes[0])
                return outcome == .failed(.refused(.notFound("this member is not connected")))
            }
            for stranger in [99, 4] {
                let outcome = await signal(
                    data, to: MemberID(rawValue: stranger), by: owner, in: room, at: nodes[1])
                #expect(outcome == .failed(.refused(.notFound("this member is not connected"))))
            }
            #expect(
                await signal(data, to: number, by: .guest(9), in: room, at: nodes[1]) == .failed(.refused(.notMember)))
        }
    }

    @Test func `a signal's data arrives unchanged, at another server too`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let (bob, number) = try await member(2, of: room, at: nodes[1])
            let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
            let texts = [
                #"{"b":1.0e0, "a":[12345678901234567890123,-0.0],"b":"\u0000\ud83d\ude00é\/"}"#, "null", deep,
                "\"" + String(repeating: "\\\"", count: 32_767) + "\"",
            ]
            try await eventually("Bob") {
                try await nodes[0].host.registry.view(room, for: owner.session).presence?.members?.contains(number)
                    == true
            }
            for text in texts {
                #expect(await signal(try relayed(text), to: number, by: owner, in: room, at: nodes[0]) == .done)
            }
            let expected = texts.map { "{\"type\":\"signal\",\"room\":\"\(room)\",\"from\":1,\"data\":\($0)}" }
            try await eventually("all of them") { bob.signalTexts.count == texts.count }
            #expect(bob.signalTexts == expected)
        }
    }

    // MARK: Everything

    @Test(arguments: TestSeed.fixed(1...6)) func `after any comings and goings all servers are right`(
        seed: UInt64
    )
        async throws
    {
        print("comings and goings, seed \(seed)")
        var random = SeededRandom(seed: seed)
        let bus = DeafeningBus()
        try await withNodes(3, bus: bus, settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let clients = (10..<22).map { Client(.guest($0)) }
            let watchers = nodes.map { _ in Client(.guest(99)) }
            for (watcher, node) in zip(watchers, nodes) { watcher.connect(to: node, following: room) }
            for _ in 0..<150 {
                guard let client = clients.randomElement(using: &random),
                    let node = nodes.randomElement(using: &random)
                else { continue }
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    client.drop()
                    client.connect(to: node, following: room)
                case 4..<6: client.drop()
                case 6..<8: _ = try await node.tell(.join(name: nil), in: room, by: client.person)
                case 8: _ = try await node.tell(.leave, in: room, by: client.person)
                default: bus.isDeaf.store(random.once(in: 4), ordering: .relaxed)
                }
            }
            bus.isDeaf.store(false, ordering: .relaxed)
            let members = try nodes[0].store.room(room).memberOfSession
            let truth = Set(clients.filter(\.isConnected).compactMap { members[$0.person.session]?.rawValue })
            for (node, watcher) in zip(nodes, watchers) {
                // A read makes the room catch up with the log.
                try await eventually("the truth, seed \(seed)") {
                    let seen = try await node.host.registry.view(room, for: owner.session).presence
                    return Set((seen?.members ?? []).map(\.rawValue)) == truth && seen?.online == truth.count
                }
                try await eventually("the truth for who follows, seed \(seed)") {
                    Set((watcher.live.members ?? []).map(Int.init)) == truth
                }
            }
        }
    }
}

/// Followers that ignore everything.
private final class DeafFeed: RoomFeed {
    func tell(_ news: RoomNews) {}
}

/// A bus that now and then delivers nothing to anybody.
private final class DeafeningBus: NodeBus {
    let isDeaf = Atomic(false)
    private let bus = MemoryNodeBus()

    func send(_ messages: [NodeMessage]) async throws(StorageFault) {
        guard !isDeaf.load(ordering: .relaxed) else { return }
        try await bus.send(messages)
    }

    func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async {
        await bus.run(as: node, receive)
    }
}

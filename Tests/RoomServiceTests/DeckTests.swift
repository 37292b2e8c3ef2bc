import EventStorage
import NIOCore
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Testing

/// The deck of a room: one connection of the owner or a DJ, known to all who follow, at one server and across several.
@Suite struct DeckTests {
    private func quickly(_ settings: inout RoomHostSettings) {
        settings.presence.beat = .milliseconds(100)
        // No lease ends, except in the test that is about leases.
        settings.presence.lease = .hours(1)
    }

    private func claim(_ isOn: Bool, by client: Client, in room: RoomID, at node: Node) async throws -> EphemeralOutcome
    {
        let connection = try #require(client.connection)
        return await withCheckedContinuation { continuation in
            node.host.registry.claimDeck(isOn, in: room, by: client.person.session, on: connection) {
                continuation.resume(returning: $0)
            }
        }
    }

    private func follow(_ room: RoomID, by person: Person, at node: Node) async throws -> Client {
        let client = Client(person)
        client.connect(to: node, following: room)
        try await eventually("the subscription") { client.isFollowing }
        return client
    }

    /// A person who joined as a DJ, and follows.
    private func dj(_ number: UInt8, of room: RoomID, by owner: Person, at node: Node) async throws -> Client {
        let person = Person.guest(number)
        let outcome = try await node.tell(.join(name: nil), in: room, by: person)
        guard case .member(let member)? = outcome.result else { throw NeverHappened(description: "\(outcome)") }
        _ = try await node.tell(.setRole(member: member, role: .dj, note: nil), in: room, by: owner)
        return try await follow(room, by: person, at: node)
    }

    @Test func `all followers are told the deck, and its own connection that it is here`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (deck, same, guest) = (
                try await follow(room, by: owner, at: node), try await follow(room, by: owner, at: node),
                try await follow(room, by: .bob, at: node)
            )
            #expect(try await claim(true, by: deck, in: room, at: node) == .done)
            try await eventually("the deck") { [deck, same, guest].allSatisfy { $0.live.deck == 1 } }
            #expect([deck, same, guest].map(\.live.isDeck) == [true, false, false])
            // Again changes nothing, and is not told.
            #expect(try await claim(true, by: deck, in: room, at: node) == .done)
            let late = try await follow(room, by: .cyd, at: node)
            #expect(late.live.deck == 1 && !late.live.isDeck)
            #expect([deck, same, guest, late].map(\.live.decks) == [1, 1, 1, 0])
            // Another device of the same member: only the two devices learn something.
            #expect(try await claim(true, by: same, in: room, at: node) == .done)
            try await eventually("the other device") { same.live.isDeck && !deck.live.isDeck }
            #expect([deck, same, guest, late].map(\.live.decks) == [2, 2, 1, 0])
            // Who is not the deck ends nothing.
            #expect(try await claim(false, by: deck, in: room, at: node) == .done)
            #expect(same.live.isDeck)
            #expect(try await claim(false, by: same, in: room, at: node) == .done)
            try await eventually("no deck") { [deck, same, guest, late].allSatisfy { $0.live.deck == nil } }
        }
    }

    @Test func `a resumption tells the deck too`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (deck, guest) = (
                try await follow(room, by: owner, at: node), try await follow(room, by: .bob, at: node)
            )
            guest.drop()
            #expect(try await claim(true, by: deck, in: room, at: node) == .done)
            guest.connect(to: node, following: room)
            try await eventually("the resumption") { guest.notes.contains(.resumed(seq: 2)) }
            #expect(guest.live.deck == 1 && !guest.live.isDeck)
        }
    }

    @Test func `only the owner and DJs who follow the room may be the deck`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let bob = try await follow(room, by: .bob, at: node)
            #expect(try await claim(true, by: bob, in: room, at: node) == .failed(.refused(.notMember)))
            _ = try await node.tell(.join(name: nil), in: room, by: .bob)
            let forbidden = EphemeralOutcome.failed(.refused(.forbidden("only the owner or a DJ may be the deck")))
            #expect(try await claim(true, by: bob, in: room, at: node) == forbidden)
            #expect(try await claim(false, by: bob, in: room, at: node) == forbidden)
            _ = try await node.tell(.setRole(member: MemberID(rawValue: 2), role: .dj, note: nil), in: room, by: owner)
            #expect(try await claim(true, by: bob, in: room, at: node) == .done)
            // A connection that does not follow, here of another room.
            let (other, _) = try await node.makeRoom()
            let elsewhere = try await follow(other, by: owner, at: node)
            let conflict = EphemeralOutcome.failed(
                .refused(.conflict("this connection is not subscribed to the room")))
            #expect(try await claim(true, by: elsewhere, in: room, at: node) == conflict)
            _ = try await node.tell(.closeRoom, in: room, by: owner)
            #expect(try await claim(true, by: bob, in: room, at: node) == .failed(.refused(.roomClosed)))
            try await eventually("no deck of a closed room") { bob.live.deck == nil && !bob.live.isDeck }
        }
    }

    enum End: CaseIterable {
        case lost, unsubscribed, demoted, kicked, banned, left
    }

    @Test(arguments: End.allCases, [false, true])
    func `the claim ends at once with its connection and its role`(end: End, otherConnection: Bool) async throws {
        try await withNode(settings: { $0.presence.grace = .hours(1) }) { node in
            let (room, owner) = try await node.makeRoom()
            let watcher = try await follow(room, by: owner, at: node)
            let deck = try await dj(2, of: room, by: owner, at: node)
            // Another connection of the same member does not keep the claim.
            if otherConnection { _ = try await follow(room, by: deck.person, at: node) }
            #expect(try await claim(true, by: deck, in: room, at: node) == .done)
            try await eventually("the deck") { watcher.live.deck == 2 && deck.live.isDeck }
            let member = MemberID(rawValue: 2)
            switch end {
            case .lost: deck.drop()
            case .unsubscribed: deck.unsubscribe()
            case .demoted:
                _ = try await node.tell(.setRole(member: member, role: .guest, note: nil), in: room, by: owner)
            case .kicked: _ = try await node.tell(.kick(member: member, ban: false, note: nil), in: room, by: owner)
            case .banned: _ = try await node.tell(.kick(member: member, ban: true, note: nil), in: room, by: owner)
            case .left: _ = try await node.tell(.leave, in: room, by: deck.person)
            }
            try await eventually("no deck") { watcher.live.deck == nil }
        }
    }

    @Test func `the newest claim counts, and when it ends there is none`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let first = try await follow(room, by: owner, at: node)
            let second = try await dj(2, of: room, by: owner, at: node)
            #expect(try await claim(true, by: first, in: room, at: node) == .done)
            #expect(try await claim(true, by: second, in: room, at: node) == .done)
            try await eventually("the second") { first.live.deck == 2 && second.live.isDeck && !first.live.isDeck }
            second.drop()
            try await eventually("none") { first.live.deck == nil && !first.live.isDeck }
        }
    }

    @Test func `a member may claim five times a second`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let clients = [try await follow(room, by: owner, at: node), try await follow(room, by: owner, at: node)]
            var outcomes: [EphemeralOutcome] = []
            for number in 0..<6 { outcomes.append(try await claim(true, by: clients[number % 2], in: room, at: node)) }
            #expect(outcomes.prefix(5).allSatisfy { $0 == .done })
            guard case .rateLimited(let wait) = outcomes[5] else {
                Issue.record("\(outcomes)")
                return
            }
            await node.advance(by: .milliseconds(Int64(wait)))
            #expect(try await claim(true, by: clients[1], in: room, at: node) == .done)
        }
    }

    // MARK: Several servers

    @Test func `servers agree on the deck, and a newer claim at another server takes it over`() async throws {
        try await withNodes(2, bus: MemoryNodeBus(), settings: quickly) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let first = try await follow(room, by: owner, at: nodes[0])
            let second = try await dj(2, of: room, by: owner, at: nodes[1])
            let guest = try await follow(room, by: .cyd, at: nodes[1])
            let all = [first, second, guest]
            #expect(try await claim(true, by: first, in: room, at: nodes[0]) == .done)
            try await eventually("the first") { all.allSatisfy { $0.live.deck == 1 } }
            #expect(all.map(\.live.isDeck) == [true, false, false])
            #expect(try await claim(true, by: second, in: room, at: nodes[1]) == .done)
            try await eventually("the second") { all.allSatisfy { $0.live.deck == 2 } }
            #expect(all.map(\.live.isDeck) == [false, true, false])
            // And back: the clocks of the servers show the same time.
            #expect(try await claim(true, by: first, in: room, at: nodes[0]) == .done)
            try await eventually("the first again") { all.allSatisfy { $0.live.deck == 1 } }
            first.drop()
            try await eventually("none") { second.live.deck == nil && guest.live.deck == nil }
            // Two devices of one member at two servers.
            let other = try await follow(room, by: second.person, at: nodes[0])
            #expect(try await claim(true, by: second, in: room, at: nodes[1]) == .done)
            try await eventually("the DJ") { other.live.deck == 2 && second.live.isDeck }
            #expect(try await claim(true, by: other, in: room, at: nodes[0]) == .done)
            try await eventually("the other device") { other.live.isDeck && !second.live.isDeck }
            #expect(second.live.deck == 2 && guest.live.deck == 2)
        }
    }

    @Test func `a server that begins later knows the deck, and one that dies takes its claim with it`() async throws {
        let (bus, store, clock) = (MemoryNodeBus(), FaultyEventStore(), ManualClock())
        func settings(_ settings: inout RoomHostSettings) {
            settings.logIsShared = true
            settings.presence.beat = .milliseconds(100)
            settings.presence.lease = .milliseconds(400)
        }
        try await withNode(on: store, clock: clock, bus: bus, name: "second", settings: settings) { second in
            let (room, owner) = try await second.makeRoom()
            let watcher = try await follow(room, by: owner, at: second)
            try await withNode(on: store, clock: clock, bus: bus, name: "first", settings: settings) { first in
                let deck = try await dj(2, of: room, by: owner, at: first)
                #expect(try await claim(true, by: deck, in: room, at: first) == .done)
                try await eventually("the deck") { watcher.live.deck == 2 }
                try await withNode(on: store, clock: clock, bus: bus, name: "third", settings: settings) { third in
                    // It asks the others for what they know.
                    try await eventually("the deck from the beginning") {
                        let client = try await follow(room, by: .cyd, at: third)
                        defer { client.drop() }
                        return client.live.deck == 2
                    }
                }
                #expect(watcher.live.deck == 2)
            }
            // It has stopped without closing the connection of the deck.
            try await eventually("none") { watcher.live.deck == nil }
        }
    }
}

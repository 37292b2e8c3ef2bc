import EventStorage
import NIOCore
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import Testing

/// A client that comes back gets all missed events, none of them twice, or a snapshot.
@Suite struct ResumeTests {
    /// A room with this number of events in a process that has just loaded it from a snapshot near its end.
    private func withLoadedRoom(
        events: Int, settings: @escaping (inout RoomHostSettings) -> Void = { _ in },
        _ body: (Node, RoomID, Person) async throws -> Void
    ) async throws {
        let store = FaultyEventStore()
        var made: (room: RoomID, owner: Person)?
        try await withNode(on: store, settings: { $0.eventsPerSnapshot = 10 }) { node in
            let (room, owner) = try await node.makeRoom()
            made = (room, owner)
            for number in 3...events { _ = try await node.tell(.rename(name: "A\(number)"), in: room, by: owner) }
        }
        let (room, owner) = try #require(made)
        #expect(store.snapshots(of: room).map(\.seq).max() == events / 10 * 10)
        try await withNode(on: store, settings: settings) { node in try await body(node, room, owner) }
    }

    /// A client that has the first `seq` events.
    private func client(at seq: Int, of room: RoomID, on node: Node) async throws -> Client {
        let client = Client(.bob)
        client.receive(
            try node.store.events(of: room).prefix(seq), of: room, epoch: try await epoch(of: room, on: node))
        return client
    }

    private func epoch(of room: RoomID, on node: Node) async throws -> String {
        try await node.host.history.events(of: room, after: 0, limit: 1, for: Person.guest(99).asker).epoch
    }

    /// Before the first event and after the last, and on both sides of each snapshot.
    @Test(arguments: [0, 1, 9, 10, 11, 19, 20, 21, 23])
    func `a client resumes at any position, whether it is in memory or not`(seq: Int) async throws {
        try await withLoadedRoom(events: 23) { node, room, owner in
            let client = try await client(at: seq, of: room, on: node)
            let reads = node.store.calls(.read)
            client.connect(to: node, following: room)
            try await eventually("the subscription") { client.isFollowing }
            #expect(client.notes == [.resumed(seq: 23)])
            #expect(node.store.calls(.read) - reads == (seq < 20 ? 1 : 0))
            _ = try await node.tell(.rename(name: "Zoe"), in: room, by: owner)
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    @Test func `events during the reading of the past follow it`() async throws {
        try await withLoadedRoom(events: 23) { node, room, owner in
            let client = try await client(at: 3, of: room, on: node)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.read, .answersLate(gate))
            client.connect(to: node, following: room)
            try await eventually("the read") { gate.arrived == 1 }
            for number in 0..<5 { _ = try await node.tell(.rename(name: "B\(number)"), in: room, by: owner) }
            #expect(client.deltas == 0)
            gate.open()
            try await expectFoldOfLog(of: room, on: [node], for: [client])
            #expect(client.notes == [.resumed(seq: 28)])
            #expect(client.deltas == 0)
        }
    }

    @Test func `if the past cannot be read there is a snapshot, never a part`() async throws {
        try await withLoadedRoom(events: 23) { node, room, _ in
            for damage in [nil, FaultyEventStore.Damage.lacks(seq: 4), .lacks(seq: 12), .lacks(seq: 23)] {
                let client = try await client(at: 3, of: room, on: node)
                if damage == nil { node.store.next(.read, .fails(FaultyEventStore.unreachable)) }
                node.store.damage(room, damage)
                client.connect(to: node, following: room)
                try await eventually("the subscription") { client.isFollowing }
                #expect(client.notes == [.snapshot(seq: 23)])
                node.store.damage(room, nil)
                try await expectFoldOfLog(of: room, on: [node], for: [client])
            }
        }
    }

    @Test func `a position of another epoch, ahead, before the first, or too far back gets a snapshot`() async throws {
        try await withLoadedRoom(events: 23, settings: { $0.answers.resumableEvents = 5 }) { node, room, _ in
            let epoch = try await epoch(of: room, on: node)
            for (epoch, seq, isResumed) in [
                ("another", 22, false), (epoch, 24, false), (epoch, -1, false), (epoch, Int.min, false),
                (epoch, Int.max, false), (epoch, 17, false), (epoch, 18, true), (epoch, 23, true),
            ] {
                let client = try await client(at: isResumed ? seq : 0, of: room, on: node)
                client.connect(to: node, following: room, at: (epoch, seq))
                try await eventually("the subscription") { client.isFollowing }
                #expect(client.notes == [isResumed ? .resumed(seq: 23) : .snapshot(seq: 23)], "\(epoch) \(seq)")
                try await expectFoldOfLog(of: room, on: [node], for: [client])
            }
        }
    }

    @Test func `more events than go into one delta come in several`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let early = try await client(at: 2, of: room, on: node)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let client = Client(.cyd)
            client.connect(to: node, following: room)
            try await eventually("a snapshot") { client.isFollowing }
            let answers = (0..<450).map { node.ask(.rename(name: "A\($0)"), in: room, by: owner.actor) }
            try await eventually("the append") { gate.arrived == 1 }
            await node.settle()
            gate.open()
            for answer in answers { #expect(try await answer.outcome().seq != nil) }
            early.connect(to: node, following: room)
            try await expectFoldOfLog(of: room, on: [node], for: [client, early])
            #expect(client.deltas >= 3)
            #expect(client.longestDelta <= 200)
            // One delta for each append, and one more for an append longer than a delta.
            #expect(client.deltas <= node.store.batches.count + 2)
        }
    }

    @Test func `a client that has gone while the past is read is not taken for one that follows`() async throws {
        try await withLoadedRoom(events: 23) { node, room, owner in
            let client = try await client(at: 3, of: room, on: node)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.read, .answersLate(gate))
            client.connect(to: node, following: room)
            try await eventually("the read") { gate.arrived == 1 }
            client.unsubscribe()
            await node.settle()
            gate.open()
            try await eventually("an answer") { client.notes == [.refused(.unavailable)] }
            _ = try await node.tell(.rename(name: "Zoe"), in: room, by: owner)
            #expect(try await node.host.registry.view(room, for: owner.session).presence?.online == 0)
            #expect(client.deltas == 0)
        }
    }

    @Test func `a session banned while the past is read does not follow`() async throws {
        try await withLoadedRoom(events: 23) { node, room, owner in
            _ = try await node.tell(.join(name: nil), in: room, by: .bob)
            let client = try await client(at: 3, of: room, on: node)
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.read, .answersLate(gate))
            client.connect(to: node, following: room)
            try await eventually("the read") { gate.arrived == 1 }
            let kick = RoomCommand.kick(member: MemberID(rawValue: 2), ban: true, note: nil)
            #expect(try await node.tell(kick, in: room, by: owner).seq == 26)
            gate.open()
            try await eventually("an answer") { client.notes.contains(.banned) }
            await node.settle()
            #expect(!client.isFollowing)
            #expect(client.deltas == 0)
        }
    }
}

/// The right to follow, and the members who count as online.
@Suite struct AudienceTests {
    private func online(_ room: RoomID, on node: Node) async throws -> [Int] {
        let presence = try await node.host.registry.view(room, for: Person.guest(99).session).presence
        let members = presence?.members?.map(\.rawValue) ?? []
        #expect(presence?.online == members.count)
        return members
    }

    @Test func `a ban ends the subscriptions of the banned, and only theirs`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            for person in [Person.bob, .cyd] { _ = try await node.tell(.join(name: nil), in: room, by: person) }
            let clients = [Client(.bob), Client(.bob), Client(.cyd)]
            for client in clients { client.connect(to: node, following: room) }
            try await eventually("snapshots") { clients.allSatisfy(\.isFollowing) }
            let kick = RoomCommand.kick(member: MemberID(rawValue: 2), ban: true, note: nil)
            #expect(try await node.tell(kick, in: room, by: owner).seq == 6)
            #expect(clients[0].notes == [.snapshot(seq: 4), .banned])
            #expect(clients[1].notes == [.snapshot(seq: 4), .banned])
            // They see that they are banned, and nothing after it.
            #expect(clients[0].seq == 6)
            _ = try await node.tell(.rename(name: "Anna"), in: room, by: owner)
            try await expectFoldOfLog(of: room, on: [node], for: [clients[2]])
            #expect(clients[0].seq == 6)
            #expect(try await online(room, on: node) == [3])
            #expect(try await isBanned(.bob, from: room, on: node))
            #expect(try await !isBanned(.cyd, from: room, on: node))
        }
    }

    private func isBanned(_ person: Person, from room: RoomID, on node: Node) async throws -> Bool {
        let answer = await withCheckedContinuation { continuation in
            node.host.registry.admit(person.session, to: room) { continuation.resume(returning: $0) }
        }
        do throws(RoomFailure) {
            try answer.get()
            return false
        } catch {
            guard error == .refused(.banned) else { throw error }
            return true
        }
    }

    @Test func `the banned may not follow until they are unbanned`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            _ = try await node.tell(.join(name: nil), in: room, by: .bob)
            _ = try await node.tell(.kick(member: MemberID(rawValue: 2), ban: true, note: nil), in: room, by: owner)
            let client = Client(.bob)
            client.connect(to: node, following: room)
            try await eventually("an answer") { client.notes == [.refused(.refused(.banned))] }
            #expect(try await node.tell(.join(name: nil), in: room, by: .bob) == .failed(.refused(.banned)))
            _ = try await node.tell(.unban(member: MemberID(rawValue: 2)), in: room, by: owner)
            client.connect(to: node, following: room)
            try await eventually("the subscription") { client.isFollowing }
            try await expectFoldOfLog(of: room, on: [node], for: [client])
        }
    }

    @Test func `a member is online as long as one of its connections follows`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let (phone, laptop, stranger) = (Client(owner), Client(owner), Client(.bob))
            #expect(try await online(room, on: node) == [])
            for client in [phone, laptop, stranger] {
                client.connect(to: node, following: room)
                try await eventually("the subscription") { client.isFollowing }
            }
            #expect(try await online(room, on: node) == [1])
            _ = try await node.tell(.join(name: nil), in: room, by: .bob)
            #expect(try await online(room, on: node) == [1, 2])
            phone.drop()
            await node.settle()
            #expect(try await online(room, on: node) == [1, 2])
            laptop.drop()
            await node.settle()
            #expect(try await online(room, on: node) == [2])
            _ = try await node.tell(.leave, in: room, by: .bob)
            #expect(try await online(room, on: node) == [])
            #expect(stranger.isFollowing)
        }
    }
}

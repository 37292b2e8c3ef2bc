import EventStorage
import Foundation
import NIOCore
import RoomDomain
import RoomService
import Synchronization
import Testing

/// Sessions last as long as they are used, and their memberships as long as the sessions.
@Suite struct SessionTests {
    private static let day: Int64 = 24 * 3_600_000

    private func housekeeping(_ settings: inout RoomHostSettings) {
        settings.comparisonInterval = .milliseconds(1)
    }

    /// The reason why the member's membership ended, from the log.
    private func leaving(_ member: Int, of room: RoomID, in store: FaultyEventStore) throws -> LeaveReason? {
        for case .memberLeft(let left) in try store.events(of: room).map(\.event) where left.member.rawValue == member {
            return left.reason
        }
        return nil
    }

    @Test func `announcing an ended session costs the same however many have ended`() async throws {
        try await withNode { node in
            let deepest = Mutex(0)
            node.host.sessionEnding.whenEnded { _ in
                let depth = Thread.callStackReturnAddresses.count
                deepest.withLock { $0 = max($0, depth) }
            }
            let session = try await node.session("Ana").id
            for _ in 0..<300 { try await node.host.sessionEnding.end(session) }
            #expect((1..<100).contains(deepest.withLock { $0 }))
        }
    }

    @Test func `the end of a session ends its memberships`() async throws {
        try await withNode { node in
            let (room, _) = try await node.makeRoom()
            let (other, owner) = try await node.makeRoom()
            let bob = try await node.session("Bob")
            for room in [room, other] {
                _ = try await node.tell(.join(name: nil), in: room, by: Person(session: bob.id, name: bob.name))
            }
            try await node.host.sessionEnding.end(bob.id)
            #expect(try leaving(2, of: room, in: node.store) == .sessionEnded)
            #expect(try leaving(2, of: other, in: node.store) == .sessionEnded)
            // Another member becomes the owner, or the room is closed.
            try await node.host.sessionEnding.end(owner.session)
            #expect(try leaving(1, of: other, in: node.store) == .sessionEnded)
            #expect(try node.store.room(other).closedAt != nil)
        }
    }

    @Test func `the log knows in which open rooms a session is a member`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            func rooms(of person: Person) async throws -> [RoomID] {
                try await node.store.memberships(of: person.session.uuid).map { RoomID($0) }
            }
            // Commands sent together are appended together.
            func tellTogether(_ commands: RoomCommand...) async throws {
                let appends = node.store.batches.count
                let gate = Gate()
                defer { gate.open() }
                node.store.next(.append, .waits(gate))
                let first = node.ask(.pause, in: room, by: owner.actor)
                try await eventually("the append") { gate.arrived == 1 }
                let answers = commands.map { node.ask($0, in: room, by: Person.bob.actor) }
                await node.settle()
                gate.open()
                for answer in [first] + answers { #expect(try await answer.outcome().seq != nil) }
                #expect(node.store.batches.count == appends + 2)
            }
            #expect(try await rooms(of: owner) == [room])
            try await tellTogether(.join(name: nil))
            #expect(try await rooms(of: .bob) == [room])
            try await tellTogether(.leave, .join(name: nil))
            #expect(try await rooms(of: .bob) == [room])
            try await tellTogether(.leave)
            #expect(try await rooms(of: .bob) == [])
            try await tellTogether(.join(name: nil), .leave)
            #expect(try await rooms(of: .bob) == [])
            try await tellTogether(.join(name: nil))
            #expect(try await node.tell(.closeRoom, in: room, by: owner).seq != nil)
            #expect(try await rooms(of: .bob) == [])
            #expect(try await rooms(of: owner) == [])
        }
    }

    @Test func `a session that is not used expires, and its memberships with it`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, settings: housekeeping) { node in
            let hash: [UInt8] = Array(repeating: 7, count: 32)
            let bob = try await node.host.sessions.create(name: "Bob", tokenHash: hash)
            let (room, owner) = try await node.makeRoom()
            _ = try await node.tell(.join(name: nil), in: room, by: Person(session: bob.id, name: bob.name))
            clock.advance(milliseconds: 29 * Self.day)
            #expect(try await node.host.sessions.authenticate(tokenHash: hash)?.id == bob.id)
            clock.advance(milliseconds: Self.day)
            // The owner's month is over, Bob's has begun anew.
            try await eventually("the owner's leaving") { try leaving(1, of: room, in: node.store) == .expired }
            #expect(try node.store.room(room).members.values.map(\.role) == [.owner])
            #expect(try node.store.room(room).memberOfSession[owner.session] == nil)
            #expect(try await node.host.sessions.authenticate(tokenHash: hash)?.id == bob.id)
            clock.advance(milliseconds: 30 * Self.day)
            #expect(try await node.host.sessions.authenticate(tokenHash: hash) == nil)
            try await eventually("Bob's leaving") { try leaving(2, of: room, in: node.store) == .expired }
            clock.advance(milliseconds: 60_001)
            try await eventually("the end of Bob's row") {
                try await node.store.session(tokenHash: hash) == nil
            }
            #expect(try node.store.room(room).closedAt != nil)
        }
    }

    @Test func `memberships that an outage kept from ending end after it`() async throws {
        let store = FaultyEventStore()
        try await withNode(on: store, settings: housekeeping) { node in
            let (room, _) = try await node.makeRoom()
            let bob = try await node.session("Bob")
            _ = try await node.tell(.join(name: nil), in: room, by: Person(session: bob.id, name: bob.name))
            store.plan { $0 == .append ? .fails(FaultyEventStore.unreachable) : .works }
            try await node.host.sessionEnding.end(bob.id)
            #expect(try leaving(2, of: room, in: store) == nil)
            store.plan(nil)
            try await eventually("Bob's leaving") { try leaving(2, of: room, in: store) == .sessionEnded }
        }
    }

    @Test func `a member who joins while its session ends remains one only until the next housekeeping`() async throws {
        try await withNode(settings: housekeeping) { node in
            let (room, _) = try await node.makeRoom()
            let session = try await node.session("Bob")
            let bob = Person(session: session.id, name: session.name)
            try await node.host.sessionEnding.end(session.id)
            // It was under way.
            #expect(try await node.tell(.join(name: nil), in: room, by: bob).seq == 3)
            try await eventually("Bob's leaving") { try leaving(2, of: room, in: node.store) == .sessionEnded }
        }
    }

    @Test func `the registered handler is told which sessions are over`() async throws {
        let clock = ManualClock()
        let over = Over()
        try await withNode(clock: clock, settings: housekeeping) { node in
            node.host.sessionEnding.whenEnded { over.add($0) }
            let (bob, cyd) = (try await node.session("Bob"), try await node.session("Cyd"))
            try await node.host.sessionEnding.end(bob.id)
            #expect(over.sessions == [bob.id])
            clock.advance(milliseconds: 30 * Self.day)
            try await eventually("the end of Cyd's session") { over.sessions.contains(cyd.id) }
        }
    }

    @Test func `a token is invalid when its session has ended`() async throws {
        try await withNodes(2) { nodes in
            let hash: [UInt8] = Array(repeating: 7, count: 32)
            let bob = try await nodes[0].host.sessions.create(name: "Bob", tokenHash: hash)
            #expect(try await nodes[0].host.sessions.authenticate(tokenHash: hash) == bob)
            try await nodes[0].host.sessionEnding.end(bob.id)
            #expect(try await nodes[0].host.sessions.authenticate(tokenHash: hash) == nil)
            #expect(try await nodes[1].host.sessions.authenticate(tokenHash: hash) == nil)
            #expect(try await nodes[0].host.sessions.authenticate(tokenHash: [1]) == nil)
        }
    }

    @Test func `another host's ending of a session is known at once`() async throws {
        try await withNodes(2) { nodes in
            let hash: [UInt8] = Array(repeating: 7, count: 32)
            let bob = try await nodes[0].host.sessions.create(name: "Bob", tokenHash: hash)
            #expect(try await nodes[1].host.sessions.authenticate(tokenHash: hash) == bob)
            try await nodes[0].host.sessionEnding.end(bob.id)
            #expect(try await nodes[1].host.sessions.authenticate(tokenHash: hash) == nil)
        }
    }

    @Test func `a host finds out which sessions another has ended, and takes none for ended if it cannot ask`()
        async throws
    {
        let store = FaultyEventStore()
        try await withNodes(2, on: store) { nodes in
            let (bob, cyd) = (try await nodes[0].session("Bob"), try await nodes[0].session("Cyd"))
            // It is not deleted yet, because its membership cannot be ended.
            let (room, _) = try await nodes[0].makeRoom()
            _ = try await nodes[0].tell(.join(name: nil), in: room, by: Person(session: bob.id, name: bob.name))
            store.plan { $0 == .append ? .fails(FaultyEventStore.unreachable) : .works }
            try await nodes[0].host.sessionEnding.end(bob.id)
            #expect(await nodes[1].host.sessionEnding.endedElsewhere([bob.id, cyd.id]) == [bob.id])
            store.plan(nil)
            try await nodes[0].host.sessionEnding.end(bob.id)
            #expect(await nodes[1].host.sessionEnding.endedElsewhere([bob.id, cyd.id]) == [bob.id])
            store.isDown(true)
            #expect(await nodes[1].host.sessionEnding.endedElsewhere([bob.id, cyd.id]) == [])
        }
    }

    @Test func `a known session is accepted while the log is out of reach`() async throws {
        let clock = ManualClock()
        let store = FaultyEventStore()
        try await withNode(on: store, clock: clock) { node in
            let hash: [UInt8] = Array(repeating: 7, count: 32)
            let bob = try await node.host.sessions.create(name: "Bob", tokenHash: hash)
            store.isDown(true)
            clock.advance(milliseconds: 60_000)
            #expect(try await node.host.sessions.authenticate(tokenHash: hash) == bob)
            await #expect(throws: FaultyEventStore.unreachable) {
                try await node.host.sessions.authenticate(tokenHash: [1])
            }
        }
    }

    @Test func `a session that nobody uses is not remembered for ever`() async throws {
        let clock = ManualClock()
        let store = FaultyEventStore()
        try await withNode(on: store, clock: clock, settings: housekeeping) { node in
            let hashes: [[UInt8]] = [7, 8].map { Array(repeating: $0, count: 32) }
            for hash in hashes { _ = try await node.host.sessions.create(name: "Bob", tokenHash: hash) }
            for _ in 0..<10 {
                clock.advance(milliseconds: 60_000)
                #expect(try await node.host.sessions.authenticate(tokenHash: hashes[0]) != nil)
                let calls = store.calls(.sessions)
                try await eventually("housekeeping") { store.calls(.sessions) > calls + 1 }
            }
            store.isDown(true)
            #expect(try await node.host.sessions.authenticate(tokenHash: hashes[0]) != nil)
            await #expect(throws: FaultyEventStore.unreachable) {
                try await node.host.sessions.authenticate(tokenHash: hashes[1])
            }
            // While the log is out of reach, no session is forgotten.
            clock.advance(milliseconds: 3_600_000)
            let calls = store.calls(.sessions)
            try await eventually("housekeeping") { store.calls(.sessions) > calls + 1 }
            #expect(try await node.host.sessions.authenticate(tokenHash: hashes[0]) != nil)
        }
    }

    @Test(arguments: [30 * day, 60_000]) func `using a session moves its end, however long it lasts`(
        lifetime: Int64
    ) async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, settings: { $0.sessionLifetimeMs = lifetime }) { node in
            let hash: [UInt8] = Array(repeating: 7, count: 32)
            _ = try await node.host.sessions.create(name: "Bob", tokenHash: hash)
            for _ in 0..<10 {
                clock.advance(milliseconds: lifetime / 2)
                let session = try await node.host.sessions.authenticate(tokenHash: hash)
                #expect(session?.expiresAt.milliseconds == clock.now + lifetime)
            }
        }
    }

    @Test func `a provider's session that was ended stays ended, and one that expired begins anew`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            let sessions = node.host.sessions
            let (ended, away): ([UInt8], [UInt8]) = (Array(repeating: 7, count: 32), Array(repeating: 8, count: 32))
            let bob = try #require(try await sessions.session(of: ended, name: "Bob"))
            #expect(try await sessions.session(of: ended, name: "Rob") == bob)
            let cyd = try #require(try await sessions.session(of: away, name: "Cyd"))
            try await node.host.sessionEnding.end(bob.id)
            #expect(try await sessions.session(of: ended, name: "Bob") == nil)
            clock.advance(milliseconds: 30 * Self.day)
            #expect(try await sessions.authenticate(tokenHash: away) == nil)
            let again = try #require(try await sessions.session(of: away, name: "Cyd"))
            #expect(again.id == cyd.id && again.expiresAt.milliseconds == clock.now + 30 * Self.day)
            #expect(try await sessions.authenticate(tokenHash: away)?.id == cyd.id)
            // Its row is still there.
            #expect(try await sessions.session(of: ended, name: "Bob") == nil)
        }
    }

    @Test func `a new name is known at once`() async throws {
        try await withNode { node in
            let hash: [UInt8] = Array(repeating: 7, count: 32)
            let bob = try await node.host.sessions.create(name: "Bob", tokenHash: hash)
            #expect(try await node.host.sessions.rename(bob, to: "Bobby")?.name == "Bobby")
            #expect(try await node.host.sessions.authenticate(tokenHash: hash)?.name == "Bobby")
            try await withNode { other in
                let nobody = try await other.host.sessions.rename(bob, to: "Rob")
                #expect(nobody == nil)
            }
        }
    }
}

/// The sessions that a host has found to be over.
private final class Over: Sendable {
    private let found = Mutex<Set<SessionID>>([])

    var sessions: Set<SessionID> { found.withLock { $0 } }

    func add(_ session: SessionID) {
        found.withLock { _ = $0.insert(session) }
    }
}

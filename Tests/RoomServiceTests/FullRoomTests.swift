import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomLog
import RoomWire
import Synchronization
import Testing

@testable import RoomService

/// A full room on a server.
@Suite struct FullRoomTests {
    /// Lets this number of guests join in one append, as if they had come one after the other.
    private func fill(_ room: RoomID, _ node: Node) async throws -> [Person] {
        let guests = (2...RoomLimits.members).map { number in
            let id = UUID.makeV7(at: Timestamp(milliseconds: 1), random: (7, UInt64(number)))
            return Person(session: SessionID(id), name: "Guest \(number)")
        }
        let events = guests.enumerated().map { place, guest in
            RecordedEvent(
                seq: 3 + place, at: node.host.clock.now,
                event: .memberJoined(
                    member: MemberID(rawValue: 2 + place), name: guest.name, role: .guest, session: guest.session))
        }
        let part = StreamAppend(
            stream: room.uuid, expected: StreamVersion(seq: 2, keyed: 0),
            events: events.map { EventJSON.stored($0, in: room) }, joined: guests.map(\.session.uuid))
        #expect(try await node.store.append([part]) == [.appended])
        return guests
    }

    @Test func `the guest who has been offline for longest makes room for a newcomer`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            let (room, owner) = try await node.makeRoom()
            let guests = try await fill(room, node)
            clock.advance(milliseconds: 1_000)
            let clients = [owner, guests[0], guests[1]].map { Client($0) }
            for client in clients { client.connect(to: node, following: room) }
            for client in clients { try await eventually("a snapshot") { client.isFollowing } }
            // Member 2 stays, 3 leaves only now, and 4 was never seen.
            clients[2].drop()
            try await eventually("member 3 is offline") { clients[0].live.members == [1, 2] }
            let late = Person.guest(1)
            #expect(
                try await node.tell(.join(name: nil), in: room, by: late)
                    == .acknowledged(seq: RoomLimits.members + 3, keyed: 0, result: .member(MemberID(rawValue: 10_001)))
            )
            try await eventually("both events") { clients[1].seq == RoomLimits.members + 3 }
            let events = (1...2).compactMap { node.store.event(RoomLimits.members + 1 + $0, of: room) }
            let recorded = try events.map { try FaultyEventStore.recorded($0).event }
            #expect(
                recorded == [
                    .memberLeft(MemberLeft(member: MemberID(rawValue: 4), reason: .expired)),
                    .memberJoined(
                        member: MemberID(rawValue: 10_001), name: late.name, role: .guest, session: late.session),
                ])
            #expect(try await node.store.memberships(of: guests[2].session.uuid) == [])
            #expect(try await node.store.memberships(of: late.session.uuid) == [room.uuid])
            // A member who has gone comes back like anybody else.
            let back = try await node.tell(.join(name: nil), in: room, by: guests[2])
            #expect(
                back
                    == .acknowledged(seq: RoomLimits.members + 5, keyed: 0, result: .member(MemberID(rawValue: 10_002)))
            )
            #expect(clients.flatMap(\.complaints) == [])
        }
    }

    @Test func `a server that has only just started sends nobody away`() async throws {
        try await withNode(settings: { $0.presence.grace = .hours(1) }) { node in
            let (room, _) = try await node.makeRoom()
            _ = try await fill(room, node)
            #expect(
                try await node.tell(.join(name: nil), in: room, by: .bob)
                    == .failed(.refused(.limitReached("a room has at most 10000 members"))))
        }
    }

    private final class Count: Sendable {
        let value = Atomic(0)
    }

    @Test func `a newcomer is counted once, a member not at all, and one too many is refused`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let counted = Count()
            func join(_ person: Person, key: String? = nil) async -> CommandOutcome {
                await node.host.registry.command(.join(name: nil), to: room, by: person.actor, key: key) {
                    counted.value.add(1, ordering: .relaxed).oldValue < 2 ? nil : 7_000
                }
            }
            for _ in 0..<3 {
                #expect(await join(owner) == .acknowledged(seq: 2, keyed: 0, result: .member(MemberID(rawValue: 1))))
            }
            #expect(await join(.bob, key: "1").seq == 3)
            #expect(await join(.bob, key: "1").seq == 3)
            #expect(await join(.bob, key: "2").seq == 3)
            #expect(await join(.cyd).seq == 4)
            let refusal = await join(.guest(9))
            guard case .failed(.refused(.rateLimited(_, retryAfterMs: 7_000))) = refusal else {
                Issue.record("\(refusal)")
                return
            }
            #expect(counted.value.load(ordering: .relaxed) == 3)
        }
    }
}

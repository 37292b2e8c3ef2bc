import RoomDomain
import RoomTestSupport
import Testing

/// A full room: the guest who makes room for one more member.
@Suite struct FullRoomTests {
    /// Ana's room with Bob, its DJ, and guests who joined one per millisecond, up to the limit of members.
    private static let full: RoomState = {
        var room = RoomScenario.given(RoomScenario.people).room
        for number in 5...RoomLimits.members {
            let joined = RoomEvent.memberJoined(
                member: MemberID(rawValue: number), name: "N", role: .guest, session: .numbered(number + 100))
            let at = Timestamp(milliseconds: room.lastEventAt.milliseconds + 1)
            room.evolve(RecordedEvent(seq: room.seq + 1, at: at, event: joined))
        }
        return room
    }()

    private func decide(
        online: Set<MemberID>, lastSeen: [MemberID: Timestamp]?, in room: RoomState = full
    ) throws(RoomRefusal) -> [RoomEvent] {
        try room.decide(.join(name: nil), by: .eve, at: room.lastEventAt, online: online, lastSeen: lastSeen)
    }

    /// The guest who makes room, if exactly one expires just before Eve joins.
    private func expired(
        online: Set<MemberID> = [], lastSeen: [MemberID: Timestamp] = [:], in room: RoomState = full
    ) -> MemberID? {
        guard let events = try? decide(online: online, lastSeen: lastSeen, in: room), events.count == 2,
            case .memberLeft(let left) = events[0], left.reason == .expired, left.by == nil,
            events[1] == .memberJoined(member: 10_001, name: "Eve", role: .guest, session: .eve)
        else { return nil }
        return left.member
    }

    private func seen(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: Self.full.lastEventAt.milliseconds + milliseconds)
    }

    @Test func `the guest who has been offline for longest expires`() {
        #expect(Self.full.members.count == 10_000)
        // Cyd was the first guest to join; nobody has been online since.
        #expect(expired() == 3)
        #expect(expired(online: [3]) == 4)
        #expect(expired(online: [3], lastSeen: [4: seen(1)]) == 5)
        let all = Set(Self.full.members.keys)
        #expect(expired(online: all.subtracting([700, 900]), lastSeen: [700: seen(2), 900: seen(1)]) == 900)
        #expect(expired(online: all.subtracting([700, 900]), lastSeen: [700: seen(1), 900: seen(1)]) == 700)
        // It was seen before it joined, by a clock that was behind.
        #expect(expired(online: all.subtracting([700, 900]), lastSeen: [900: .init(milliseconds: 0)]) == 700)
    }

    @Test func `owners, DJs and those who are online stay`() {
        let refusal = RoomRefusal.limitReached("a room has at most 10000 members")
        let guests = Set(Self.full.members.keys).subtracting([1, 2])
        #expect(throws: refusal) { try decide(online: guests, lastSeen: [:]) }
        // Without presence, nobody is known to be offline.
        #expect(throws: refusal) { try decide(online: [], lastSeen: nil) }
        var promoted = Self.full
        promoted.evolve(
            RecordedEvent(seq: promoted.seq + 1, at: seen(0), event: .roleChanged(member: 3, role: .dj)))
        #expect(expired(in: promoted) == 4)
    }

    @Test func `a member joins again without making room, and a room that is not full keeps everybody`() throws {
        let room = Self.full
        #expect(try room.decide(.join(name: nil), by: .cyd, at: room.lastEventAt, lastSeen: [:]) == [])
        var fewer = room
        for recorded in fewer.recorded(try room.decide(.leave, by: .dan, at: room.lastEventAt), at: seen(0)) {
            fewer.evolve(recorded)
        }
        let joined = RoomEvent.memberJoined(member: 10_001, name: "Eve", role: .guest, session: .eve)
        #expect(try decide(online: [], lastSeen: [:], in: fewer) == [joined])
    }

    @Test func `the room stays full, newcomers after newcomers`() throws {
        var room = Self.full
        for number in 1...50 {
            let actor = Actor.session(.numbered(50_000 + number), name: "New")
            let events = try room.decide(
                .join(name: nil), by: actor, at: seen(Int64(number)), online: [3], lastSeen: [:])
            for recorded in room.recorded(events, at: seen(Int64(number))) { room.evolve(recorded) }
            #expect(room.members.count == RoomLimits.members)
            #expect(room.members[MemberID(rawValue: number + 3)] == nil)
        }
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
    }
}

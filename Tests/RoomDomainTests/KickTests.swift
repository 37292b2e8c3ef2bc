import RoomDomain
import RoomTestSupport
import Testing

/// Kicks of several members at once, and the right to lift a ban.
@Suite struct KickTests {
    private let people = RoomScenario.given(RoomScenario.people)

    private func kick(_ members: [MemberID], ban: Bool = false, note: String? = nil) -> RoomCommand {
        .kick(members: members, ban: ban, note: note)
    }

    @Test func `several are kicked in the order in which they are named`() {
        people.when(
            kick([4, 3], note: " loud "), by: .bob,
            then: .memberLeft(MemberLeft(member: 4, reason: .kicked, by: 2, note: "loud")),
            .memberLeft(MemberLeft(member: 3, reason: .kicked, by: 2, note: "loud")))
    }

    @Test func `a ban of several is a ban of each`() {
        people.when(
            .kick(members: [2, 3], ban: true, durationMs: 1_000, note: nil),
            then: .memberLeft(MemberLeft(member: 2, reason: .banned, by: 1)),
            .memberBanned(member: 2, by: 1, session: .bob, until: .start(plus: 1_000), role: .dj),
            .memberLeft(MemberLeft(member: 3, reason: .banned, by: 1)),
            .memberBanned(member: 3, by: 1, session: .cyd, until: .start(plus: 1_000))
        ).refuses(.join(name: nil), by: .bob, with: .banned).refuses(.join(name: nil), by: .cyd, with: .banned)
    }

    @Test func `each kick is decided on the room that the earlier ones leave`() {
        let room = RoomScenario.given(RoomScenario.playing).after(.vote(track: 4), by: .cyd)
            .after(.vote(track: 4), by: .dan).after(.voteSkip(entry: 1), by: .cyd, online: [1, 2, 3, 4])
        guard let seq = room.room.tracks[4]?.requestedSeq else {
            Issue.record("no request")
            return
        }
        room.when(
            kick([3, 4]), online: [1, 2, 3, 4],
            then: .memberLeft(
                MemberLeft(
                    member: 3, reason: .kicked, by: 1, votes: [.init(track: 4, votes: 1, requestedSeq: seq)],
                    skipVotes: 0)),
            .memberLeft(
                MemberLeft(
                    member: 4, reason: .kicked, by: 1, votes: [.init(track: 4, votes: 0, requestedSeq: nil)])))
    }

    @Test func `one member who may not be kicked refuses the whole command`() {
        people.refuses(kick([3, 1]), with: .forbidden)
        people.refuses(kick([3, 2]), by: .bob, with: .forbidden)
        people.refuses(kick([3, 9]), with: .notFound)
        people.refuses(kick([3, 4]), by: .cyd, with: .forbidden)
    }

    @Test func `each is named once, and they are 1 to 500`() {
        people.refuses(kick([3, 3]), with: .badRequest)
        people.refuses(kick([]), with: .badRequest)
        people.refuses(kick((3...503).map { MemberID(rawValue: $0) }), with: .limitReached)
        // Values are checked before existence, roles before values.
        people.refuses(kick([9, 9]), with: .badRequest)
        people.refuses(kick([1, 1]), with: .forbidden)
        let joined = (5...502).map { number in
            RoomEvent.memberJoined(
                member: MemberID(rawValue: number), name: "N", role: .guest, session: .numbered(number))
        }
        let all = RoomScenario.given(RoomScenario.people + joined).after(
            kick((3...502).map { MemberID(rawValue: $0) }, ban: true))
        #expect(all.room.members.count == 2)
        #expect(all.room.bans.count == 500)
    }

    @Test func `if the bans do not all fit, nobody is kicked`() {
        let banned = (5..<RoomLimits.bans + 4).map { number in
            RoomEvent.memberBanned(member: MemberID(rawValue: number), by: 1, session: .numbered(number))
        }
        let scenario = RoomScenario.given(RoomScenario.people + banned)
        scenario.refuses(kick([3, 4], ban: true), with: .limitReached)
        #expect(scenario.after(kick([3], ban: true)).room.bans.count == RoomLimits.bans)
    }

    @Test func `members with very many votes leave one by one`() {
        var room = people.room
        // More votes than one command may withdraw.
        for number in 1...RoomLimits.votesPerKick / 2 + 1 {
            room.votesOfMember[3, default: []].insert(TrackID(rawValue: number))
            room.votesOfMember[4, default: []].insert(TrackID(rawValue: number))
        }
        #expect(throws: RoomRefusal.limitReached("members who are kicked at once have at most 50000 votes together")) {
            try room.decide(kick([3, 4]), by: .ana, at: room.lastEventAt)
        }
        #expect(throws: Never.self) { try room.decide(kick([3]), by: .ana, at: room.lastEventAt) }
    }

    // MARK: - Unbanning

    @Test func `a DJ lifts the ban of a guest, whoever imposed it`() {
        let banned = people.after(kick([3], ban: true)).after(kick([4], ban: true), by: .bob)
        banned.when(.unban(member: 3, note: "sorry"), by: .bob, then: .memberUnbanned(member: 3, by: 2, note: "sorry"))
            .changesNothing(.unban(member: 3), by: .bob)
        banned.when(.unban(member: 4), by: .bob, then: .memberUnbanned(member: 4, by: 2))
    }

    @Test func `only the owner lifts the ban of a DJ`() {
        let banned = people.after(.setRole(member: 3, role: .dj)).after(kick([3], ban: true))
        banned.refuses(.unban(member: 3), by: .bob, with: .forbidden)
        banned.refuses(.unban(member: 3, note: ""), by: .bob, with: .forbidden)
        banned.refuses(.unban(member: 3), by: .dan, with: .forbidden)
        banned.when(.unban(member: 3), then: .memberUnbanned(member: 3, by: 1))
    }

    @Test func `a ban without a role in the log counts as a guest's`() {
        RoomScenario.given(RoomScenario.people + [.memberBanned(member: 9, by: 1, session: .eve)])
            .when(.unban(member: 4), by: .bob).refuses(.unban(member: 9), by: .bob, with: .notFound)
    }
}

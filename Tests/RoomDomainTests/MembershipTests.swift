import RoomDomain
import RoomTestSupport
import Testing

@Suite struct MembershipTests {
    let people = RoomScenario.given(RoomScenario.people)

    @Test func `a stranger joins as a guest with the session's name`() {
        people.when(
            .join(name: nil), by: .eve, then: .memberJoined(member: 5, name: "Eve", role: .guest, session: .eve))
    }

    @Test func `a name given for joining is trimmed and counts before the session's`() {
        people.when(
            .join(name: "  Evi \n"), by: .eve,
            then: .memberJoined(member: 5, name: "Evi", role: .guest, session: .eve))
    }

    @Test func `joining twice changes nothing and gives the same member`() {
        let room = people.changesNothing(.join(name: "Other"), by: .cyd).room
        #expect(room.result(of: .join(name: nil), by: .cyd, causing: []) == .member(3))
    }

    @Test func `the result of joining is the new member, before the fold and after`() throws {
        let events = try people.room.decide(.join(name: nil), by: .eve, at: RoomScenario.start)
        #expect(people.room.result(of: .join(name: nil), by: .eve, causing: events) == .member(5))
        let after = people.after(.join(name: nil), by: .eve).room
        #expect(after.result(of: .join(name: nil), by: .eve, causing: events) == .member(5))
    }

    @Test func `a member number is not given out again`() {
        people.after(.leave, by: .dan).when(
            .join(name: nil), by: .dan, then: .memberJoined(member: 5, name: "Dan", role: .guest, session: .dan))
    }

    @Test(arguments: ["", "   ", "a\u{7}b", "a\nb", "a\u{2028}b", String(repeating: "x", count: 41)])
    func `a name that breaks the rule is refused`(name: String) {
        people.refuses(.join(name: name), by: .eve, with: .badRequest)
        people.refuses(.rename(name: name), by: .cyd, with: .badRequest)
    }

    @Test func `renaming oneself`() {
        people.when(.rename(name: " Cydney "), by: .cyd, then: .memberRenamed(member: 3, name: "Cydney"))
            .changesNothing(.rename(name: "Cydney"), by: .cyd)
    }

    @Test func `a full room refuses newcomers, but answers a member who joins again`() {
        var room = people.room
        for number in 5...RoomLimits.members {
            let joined = RoomEvent.memberJoined(
                member: MemberID(rawValue: number), name: "N", role: .guest, session: .numbered(number + 100))
            room.evolve(RecordedEvent(seq: room.seq + 1, at: room.lastEventAt, event: joined))
        }
        #expect(room.members.count == 10_000)
        #expect(throws: RoomRefusal.limitReached("a room has at most 10000 members")) {
            try room.decide(.join(name: nil), by: .eve, at: room.lastEventAt)
        }
        #expect(throws: Never.self) { try room.decide(.join(name: nil), by: .cyd, at: room.lastEventAt) }
    }

    // MARK: - Leaving

    @Test func `a guest leaves`() {
        let left = people.when(.leave, by: .cyd, then: .memberLeft(MemberLeft(member: 3, reason: .left)))
        left.refuses(.leave, by: .cyd, with: .notMember)
    }

    @Test func `a leaver's votes are withdrawn with their new counts`() {
        let voted = RoomScenario.given(RoomScenario.songs)
            .after(.vote(track: 2), by: .cyd).after(.vote(track: 1), by: .cyd).after(.vote(track: 2), by: .dan)
        let seq = voted.room.tracks[2]?.requestedSeq
        let left = MemberLeft(
            member: 3, reason: .left,
            votes: [
                .init(track: 1, votes: 0, requestedSeq: nil), .init(track: 2, votes: 1, requestedSeq: seq),
            ])
        let room = voted.when(.leave, by: .cyd, then: .memberLeft(left)).room
        #expect(room.requestOrder() == [2])
        #expect(room.voters == [2: [4]])
        #expect(room.votesOfMember == [4: [2]])
    }

    @Test func `an owner who leaves hands the room to the DJ first`() {
        let room = people.when(
            .leave, by: .ana, then: .roleChanged(member: 2, role: .owner, note: "ownerLeft"),
            .memberLeft(MemberLeft(member: 1, reason: .left))
        ).room
        #expect(room.members[2]?.role == .owner)
        #expect(room.isOpen)
    }

    @Test func `of two DJs the one who joined first becomes owner, not the first appointed`() {
        people.after(.setRole(member: 4, role: .dj)).after(.setRole(member: 2, role: .guest))
            .after(.setRole(member: 3, role: .dj))
            .when(
                .leave, by: .ana, then: .roleChanged(member: 3, role: .owner, note: "ownerLeft"),
                .memberLeft(MemberLeft(member: 1, reason: .left)))
    }

    @Test func `without a DJ the longest-standing member becomes owner`() {
        let spaced = RoomScenario.given(RoomScenario.people, spacing: 1_000)
        spaced.after(.setRole(member: 2, role: .guest)).after(.leave, by: .bob).after(.join(name: nil), by: .bob)
            .when(
                .leave, by: .ana, then: .roleChanged(member: 3, role: .owner, note: "ownerLeft"),
                .memberLeft(MemberLeft(member: 1, reason: .left)))
    }

    @Test func `among members of one instant the lower number stands longer`() {
        people.after(.setRole(member: 2, role: .guest))
            .when(
                .leave, by: .ana, then: .roleChanged(member: 2, role: .owner, note: "ownerLeft"),
                .memberLeft(MemberLeft(member: 1, reason: .left)))
    }

    @Test func `the last to leave closes the room`() {
        let room = RoomScenario.given(RoomScenario.founded)
            .when(.leave, after: 7, then: .memberLeft(MemberLeft(member: 1, reason: .left)), .roomClosed).room
        #expect(room.closedAt == .start(plus: 7))
        #expect(!room.isOpen)
    }

    // MARK: - Sessions that end

    @Test func `an expired session's membership ends`() {
        people.when(
            .endMembership(session: .cyd, reason: .expired), by: .server,
            then: .memberLeft(MemberLeft(member: 3, reason: .expired)))
    }

    @Test func `an owner's ended session hands the room on`() {
        people.when(
            .endMembership(session: .ana, reason: .sessionEnded), by: .server,
            then: .roleChanged(member: 2, role: .owner, note: "ownerLeft"),
            .memberLeft(MemberLeft(member: 1, reason: .sessionEnded)))
    }

    @Test func `the last member's ended session closes the room`() {
        RoomScenario.given(RoomScenario.founded).when(
            .endMembership(session: .ana, reason: .expired), by: .server,
            then: .memberLeft(MemberLeft(member: 1, reason: .expired)), .roomClosed)
    }

    @Test func `ending the session of somebody who is not in the room changes nothing`() {
        people.changesNothing(.endMembership(session: .eve, reason: .expired), by: .server)
        people.after(.closeRoom).changesNothing(.endMembership(session: .cyd, reason: .expired), by: .server)
    }

    @Test(arguments: [LeaveReason.left, .kicked, .banned])
    func `a session does not end for a reason of the room`(reason: LeaveReason) {
        people.refuses(.endMembership(session: .cyd, reason: reason), by: .server, with: .badRequest)
    }

    // MARK: - Kicking and banning

    @Test func `a DJ kicks a guest`() {
        people.when(
            .kick(member: 3, ban: false, note: " loud "), by: .bob,
            then: .memberLeft(MemberLeft(member: 3, reason: .kicked, by: 2, note: "loud"))
        ).when(
            .join(name: nil), by: .cyd, then: .memberJoined(member: 5, name: "Cyd", role: .guest, session: .cyd))
    }

    @Test func `a banned member leaves, and cannot come back`() {
        let banned = people.when(
            .kick(member: 3, ban: true, note: nil), by: .bob,
            then: .memberLeft(MemberLeft(member: 3, reason: .banned, by: 2)),
            .memberBanned(member: 3, by: 2, session: .cyd))
        banned.refuses(.join(name: nil), by: .cyd, with: .banned)
        banned.after(.closeRoom).refuses(.join(name: nil), by: .cyd, with: .banned)
    }

    @Test func `a kicked member's votes are withdrawn`() {
        RoomScenario.given(RoomScenario.songs).after(.vote(track: 1), by: .cyd).when(
            .kick(member: 3, ban: true, note: nil),
            then: .memberLeft(
                MemberLeft(
                    member: 3, reason: .banned, by: 1, votes: [.init(track: 1, votes: 0, requestedSeq: nil)])),
            .memberBanned(member: 3, by: 1, session: .cyd))
    }

    @Test func `a DJ kicks guests only`() {
        let twoDJs = people.after(.setRole(member: 3, role: .dj))
        twoDJs.refuses(.kick(member: 3, ban: false, note: nil), by: .bob, with: .forbidden)
        twoDJs.refuses(.kick(member: 2, ban: false, note: nil), by: .bob, with: .forbidden)
        twoDJs.refuses(.kick(member: 1, ban: false, note: nil), by: .bob, with: .forbidden)
    }

    @Test func `the owner kicks anyone but the owner`() {
        people.when(
            .kick(member: 2, ban: false, note: nil), then: .memberLeft(MemberLeft(member: 2, reason: .kicked, by: 1)))
        people.refuses(.kick(member: 1, ban: false, note: nil), with: .forbidden)
    }

    @Test func `an absent member cannot be kicked`() {
        people.refuses(.kick(member: 9, ban: false, note: nil), with: .notFound)
        people.after(.leave, by: .cyd).refuses(.kick(member: 3, ban: true, note: nil), with: .notFound)
    }

    @Test func `an unbanned session may join again`() {
        people.after(.kick(member: 3, ban: true, note: nil))
            .when(.unban(member: 3), then: .memberUnbanned(member: 3, by: 1))
            .changesNothing(.unban(member: 3))
            .when(.join(name: nil), by: .cyd, then: .memberJoined(member: 5, name: "Cyd", role: .guest, session: .cyd))
    }

    @Test func `unbanning a member who is not banned changes nothing, and an unknown number is not found`() {
        people.changesNothing(.unban(member: 4))
        for number in [0, -1, 5, Int.max] {
            people.refuses(.unban(member: MemberID(rawValue: number)), with: .notFound)
        }
    }

    // MARK: - Roles

    @Test func `the owner makes a DJ and unmakes one`() {
        people.when(.setRole(member: 3, role: .dj), then: .roleChanged(member: 3, role: .dj, by: 1))
            .changesNothing(.setRole(member: 3, role: .dj))
            .when(.setRole(member: 3, role: .guest), then: .roleChanged(member: 3, role: .guest, by: 1))
    }

    @Test func `the owner's role changes only by a transfer`() {
        people.refuses(.setRole(member: 1, role: .dj), with: .conflict)
        people.refuses(.setRole(member: 2, role: .owner), with: .badRequest)
        people.refuses(.setRole(member: 9, role: .dj), with: .notFound)
    }

    @Test func `a transfer makes the old owner a DJ`() {
        let room = people.when(
            .transferOwnership(member: 3), then: .roleChanged(member: 3, role: .owner, by: 1),
            .roleChanged(member: 1, role: .dj, by: 1)
        ).refuses(.closeRoom, by: .ana, with: .forbidden).room
        #expect(room.members[3]?.role == .owner)
    }

    @Test func `a transfer to oneself changes nothing, and an unknown number is not found`() {
        people.changesNothing(.transferOwnership(member: 1))
        people.refuses(.transferOwnership(member: 9), with: .notFound)
    }
}

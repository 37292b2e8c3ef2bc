import RoomDomain
import RoomTestSupport
import Testing

/// Members vote to skip the entry on air.
@Suite struct SkippingTests {
    private let playing = RoomScenario.given(RoomScenario.playing)

    private func finished(after milliseconds: Int64) -> RoomEvent {
        .entryFinished(
            entry: 1, track: 1, reason: .skipped, startedAt: .start(plus: 0), playedMs: milliseconds)
    }

    private func next(after milliseconds: Int64) -> RoomEvent {
        .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: milliseconds), by: nil)
    }

    @Test func `half of the online members skip, as set`() {
        playing.when(
            .voteSkip(entry: 1), by: .cyd, online: [1, 2, 3, 4], then: .skipVoteCast(entry: 1, by: 3, skipVotes: 1)
        ).changesNothing(.voteSkip(entry: 1), by: .cyd, online: [1, 2, 3, 4]).when(
            .voteSkip(entry: 1), by: .dan, after: 10, online: [1, 2, 3, 4],
            then: .skipVoteCast(entry: 1, by: 4, skipVotes: 2), finished(after: 10), next(after: 10))
    }

    @Test(arguments: [(0.0, 1), (0.1, 1), (0.25, 1), (0.26, 2), (0.5, 2), (0.75, 3), (1, 4)])
    func `the part is rounded up, and at least one`(ratio: Double, votes: Int) {
        var update = RoomUpdate()
        update.settings.skipRatio = ratio
        var room = playing.after(.updateRoom(update))
        for (count, voter) in [Actor.ana, .bob, .cyd, .dan].prefix(votes).enumerated() {
            #expect(room.room.onAir?.entry == 1)
            #expect(room.room.onAir?.skipVoters.count == count)
            room = room.after(.voteSkip(entry: 1), by: voter, online: [1, 2, 3, 4])
        }
        #expect(room.room.onAir?.entry == 2)
    }

    @Test func `a fraction that is a whole number is not rounded up because of rounding errors`() {
        var events = RoomScenario.playing
        for number in 5...30 {
            events.append(
                .memberJoined(
                    member: MemberID(rawValue: number), name: "G", role: .guest, session: .numbered(number)))
        }
        var update = RoomUpdate()
        update.settings.skipRatio = 0.1
        let online = Set((1...30).map(MemberID.init(rawValue:)))
        let room = RoomScenario.given(events).after(.updateRoom(update))
            .after(.voteSkip(entry: 1), by: .ana, online: online).after(.voteSkip(entry: 1), by: .bob, online: online)
        #expect(room.room.onAir?.entry == 1)
        #expect(room.after(.voteSkip(entry: 1), by: .cyd, online: online).room.onAir?.entry == 2)
    }

    @Test func `votes count and suffice as the table says, for the server and for clients`() throws {
        let rows = try SkipVotesCase.all()
        #expect(!rows.isEmpty)
        for row in rows {
            let here = row.here.map(Set.init)
            let counted = SkipVotes.counted(row.voters, of: row.voters.count, online: here, me: row.me)
            #expect(counted == row.counted, "\(row)")
            if let here, row.me == nil { #expect(SkipVotes.counted(row.voters, online: here) == row.counted, "\(row)") }
            let online = row.here?.count ?? row.online ?? 0
            #expect(SkipVotes.needed(ratio: row.ratio, online: online) == row.needed, "\(row)")
        }
        // A server that tells only how many votes there are.
        #expect(SkipVotes.counted([Int](), of: 2, online: [1], me: 1) == 2)
    }

    @Test func `if nobody is online, one vote skips`() {
        playing.when(
            .voteSkip(entry: 1), by: .cyd, then: .skipVoteCast(entry: 1, by: 3, skipVotes: 1), finished(after: 0),
            next(after: 0))
    }

    @Test func `an entry that is not on air is not skipped`() {
        playing.changesNothing(.voteSkip(entry: 2), by: .cyd)
        playing.changesNothing(.voteSkip(entry: 99), by: .cyd)
        RoomScenario.given(RoomScenario.waiting).changesNothing(.voteSkip(entry: 1), by: .cyd)
        playing.refuses(.voteSkip(entry: 1), by: .eve, with: .notMember)
    }

    @Test func `a member who leaves takes the vote along`() {
        let voted = playing.after(.voteSkip(entry: 1), by: .cyd, online: [1, 2, 3, 4])
        voted.when(
            .leave, by: .cyd, online: [1, 2, 3, 4],
            then: .memberLeft(MemberLeft(member: 3, reason: .left, skipVotes: 0)))
    }

    @Test func `the votes may suffice after a member without a vote leaves`() {
        let voted = playing.after(.voteSkip(entry: 1), by: .cyd, online: [1, 3, 4])
        #expect(voted.room.onAir?.entry == 1)
        voted.when(
            .leave, by: .dan, after: 7, online: [3, 4],
            then: .memberLeft(MemberLeft(member: 4, reason: .left)), finished(after: 7), next(after: 7))
    }

    @Test func `the server counts again when fewer are online`() {
        let voted = playing.after(.voteSkip(entry: 1), by: .cyd, online: [1, 3, 4])
        voted.changesNothing(.countSkipVotes, by: .server, online: [1, 3, 4])
        #expect(!voted.room.isVotedOut(online: [1, 3, 4]))
        #expect(voted.room.isVotedOut(online: [1, 3]))
        voted.when(
            .countSkipVotes, by: .server, after: 5, online: [1, 3], then: finished(after: 5), next(after: 5))
        voted.refuses(.countSkipVotes, by: .ana, with: .forbidden)
    }

    @Test func `the votes of members who are away do not count`() {
        var events = RoomScenario.playing
        for number in 5...10 {
            events.append(
                .memberJoined(
                    member: MemberID(rawValue: number), name: "G", role: .guest, session: .numbered(number)))
        }
        let everybody = Set((1...10).map(MemberID.init(rawValue:)))
        let voted = RoomScenario.given(events).after(.voteSkip(entry: 1), by: .cyd, online: everybody)
            .after(.voteSkip(entry: 1), by: .dan, online: everybody)
        // Six go, the two voters among them: nobody who is there wants another song.
        #expect(!voted.room.isVotedOut(online: [1, 2, 5, 6]))
        voted.changesNothing(.countSkipVotes, by: .server, online: [1, 2, 5, 6])
        voted.when(
            .leave, by: .bob, online: [1, 5, 6], then: .memberLeft(MemberLeft(member: 2, reason: .left)))
        // Their votes stand, and count again when they are back.
        #expect(voted.room.onAir?.skipVoters == [3, 4])
        #expect(voted.room.isVotedOut(online: [1, 3, 4, 5]))
        #expect(!voted.room.isVotedOut(online: []))
    }

    @Test func `whoever votes counts as present`() {
        playing.when(
            .voteSkip(entry: 1), by: .cyd, after: 3, online: [1, 2, 4],
            then: .skipVoteCast(entry: 1, by: 3, skipVotes: 1)
        ).when(
            .voteSkip(entry: 1), by: .dan, after: 4, online: [1, 3],
            then: .skipVoteCast(entry: 1, by: 4, skipVotes: 2), finished(after: 7), next(after: 7))
    }

    @Test func `a vote to skip is taken back, and may be given again`() {
        let online: Set<MemberID> = [1, 2, 3, 4]
        let voted = playing.after(.voteSkip(entry: 1), by: .cyd, online: online)
        let withdrawn = voted.when(
            .unvoteSkip(entry: 1), by: .cyd, online: online, then: .skipVoteWithdrawn(entry: 1, by: 3, skipVotes: 0))
        #expect(withdrawn.room.onAir?.skipVoters == [])
        withdrawn.changesNothing(.unvoteSkip(entry: 1), by: .cyd, online: online)
        withdrawn.when(
            .voteSkip(entry: 1), by: .cyd, online: online, then: .skipVoteCast(entry: 1, by: 3, skipVotes: 1))
        voted.after(.voteSkip(entry: 1), by: .ana, online: [1, 2, 3, 4, 99])
            .changesNothing(.unvoteSkip(entry: 1), by: .dan)
        for entry in [2, 99] { voted.changesNothing(.unvoteSkip(entry: EntryID(rawValue: entry)), by: .cyd) }
        RoomScenario.given(RoomScenario.waiting).changesNothing(.unvoteSkip(entry: 1), by: .cyd)
        voted.refuses(.unvoteSkip(entry: 1), by: .eve, with: .notMember)
    }

    @Test func `the next song begins without votes`() {
        let skipped = playing.after(.voteSkip(entry: 1), by: .cyd)
        #expect(skipped.room.onAir?.entry == 2)
        #expect(skipped.room.onAir?.skipVoters == [])
    }
}

import RoomDomain
import RoomTestSupport
import Testing

@Suite struct VoteTests {
    let songs = RoomScenario.given(RoomScenario.songs)
    /// The number of the first event after ``songs``.
    let first = RoomScenario.songs.count + 1

    @Test func `the first vote gives the track its place among the requests`() {
        let room =
            songs
            .when(.vote(track: 2), by: .cyd, then: .voteCast(track: 2, by: 3, votes: 1, requestedSeq: first))
            .when(.vote(track: 2), by: .dan, then: .voteCast(track: 2, by: 4, votes: 2, requestedSeq: first)).room
        #expect(room.tracks[2]?.votes == 2)
        #expect(room.tracks[2]?.requestedSeq == first)
    }

    @Test func `voting twice changes nothing`() {
        songs.after(.vote(track: 2), by: .cyd).changesNothing(.vote(track: 2), by: .cyd)
    }

    @Test func `owner and DJ vote like everybody`() {
        songs.when(.vote(track: 1), by: .ana, then: .voteCast(track: 1, by: 1, votes: 1, requestedSeq: first))
            .when(.vote(track: 1), by: .bob, then: .voteCast(track: 1, by: 2, votes: 2, requestedSeq: first))
    }

    @Test func `withdrawing a vote keeps the other votes and the place`() {
        songs.after(.vote(track: 2), by: .cyd).after(.vote(track: 2), by: .dan)
            .when(.unvote(track: 2), by: .cyd, then: .voteWithdrawn(track: 2, by: 3, votes: 1, requestedSeq: first))
            .changesNothing(.unvote(track: 2), by: .cyd)
            .when(.unvote(track: 2), by: .dan, then: .voteWithdrawn(track: 2, by: 4, votes: 0, requestedSeq: nil))
    }

    @Test func `a track that lost all votes starts again at the end`() {
        let room = songs.after(.vote(track: 2), by: .cyd).after(.vote(track: 3), by: .cyd)
            .after(.unvote(track: 2), by: .cyd)
            .when(.vote(track: 2), by: .dan, then: .voteCast(track: 2, by: 4, votes: 1, requestedSeq: first + 3)).room
        #expect(room.requestOrder() == [3, 2])
    }

    @Test func `unvoting what one did not vote for changes nothing`() {
        songs.after(.vote(track: 2), by: .dan).changesNothing(.unvote(track: 2), by: .cyd)
    }

    @Test func `a track that is not in the pool is not found`() {
        for number in [0, -1, 5, Int.max] {
            songs.refuses(.vote(track: TrackID(rawValue: number)), by: .cyd, with: .notFound)
            songs.refuses(.unvote(track: TrackID(rawValue: number)), by: .cyd, with: .notFound)
        }
    }

    @Test func `requests are ordered by votes, then by who asked first`() {
        let room = songs.after(.vote(track: 3), by: .cyd).after(.vote(track: 1), by: .cyd)
            .after(.vote(track: 4), by: .cyd).after(.vote(track: 4), by: .dan).room
        #expect(room.requestOrder() == [4, 3, 1])
    }
}

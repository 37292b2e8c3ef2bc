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

    @Test func `a track that is on air or waits cannot be asked for`() {
        let playing = RoomScenario.given(RoomScenario.playing)
        for (track, text) in [(1, "track 1 is on air"), (2, "track 2 is waiting in the queue")] {
            #expect(throws: RoomRefusal.conflict(text)) {
                try playing.room.decide(
                    .vote(track: TrackID(rawValue: track)), by: .cyd, at: playing.room.lastEventAt)
            }
        }
        playing.when(
            .vote(track: 4), by: .cyd,
            then: .voteCast(track: 4, by: 3, votes: 1, requestedSeq: RoomScenario.playing.count + 1))
        // It may be asked for again when it is over, or taken from the queue.
        _ = playing.after(.skip).after(.vote(track: 1), by: .cyd)
        _ = playing.after(.dequeue(entry: 2)).after(.vote(track: 2), by: .cyd)
    }

    @Test func `votes that an older log has for a track that waits stand until it goes on air`() {
        let seq = RoomScenario.playing.count + 1
        let old = RoomScenario.given(
            RoomScenario.playing + [
                .voteCast(track: 1, by: 3, votes: 1, requestedSeq: seq),
                .voteCast(track: 2, by: 3, votes: 1, requestedSeq: seq + 1),
                .voteCast(track: 3, by: 4, votes: 1, requestedSeq: seq + 2),
            ])
        old.changesNothing(.vote(track: 1), by: .cyd).changesNothing(.vote(track: 2), by: .cyd)
        old.refuses(.vote(track: 2), by: .dan, with: .conflict)
        old.when(.unvote(track: 2), by: .cyd, then: .voteWithdrawn(track: 2, by: 3, votes: 0, requestedSeq: nil))
        let finished = RoomEvent.entryFinished(
            entry: 1, track: 1, reason: .skipped, startedAt: .start(plus: 0), playedMs: 0, by: 1)
        old.when(
            .skip, then: finished, .votesCleared(track: 2),
            .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 0), by: 1))
        let replaced = RoomEvent.entryFinished(
            entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 0, by: 1)
        old.when(
            .play(entry: 3), then: replaced, .votesCleared(track: 3),
            .playbackStarted(entry: 3, track: 3, positionMs: 0, at: .start(plus: 0), by: 1))
    }

    @Test func `what a device has on air, and has played, spends the votes that an older log has for it`() {
        let seq = RoomScenario.playing.count + 1
        let old = RoomScenario.given(
            RoomScenario.playing + [
                .voteCast(track: 2, by: 3, votes: 1, requestedSeq: seq),
                .voteCast(track: 3, by: 4, votes: 1, requestedSeq: seq + 1),
            ])
        let end = Timestamp.start(plus: 100)
        let played = [
            Deck.Played(item: .entry(1), startedAt: .start(plus: 0), playedMs: 10, reason: .ended),
            Deck.Played(item: .entry(2), startedAt: .start(plus: 20), playedMs: 10, reason: .ended),
        ]
        let playback = Deck.Playback.onAir(.entry(3), isPaused: false, positionMs: 0, at: end)
        let room = old.after(.syncDeck(Deck(played: played, queue: [], playback: playback)), after: 100).room
        #expect(room.onAir?.entry == 3)
        #expect(room.requestOrder() == [])
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

import RoomDomain
import RoomTestSupport
import Testing

@Suite struct PlaybackTests {
    let waiting = RoomScenario.given(RoomScenario.waiting)
    let playing = RoomScenario.given(RoomScenario.playing)

    // MARK: - Starting

    @Test func `playing starts the head of the queue`() {
        let room = waiting.when(
            .play(entry: nil), by: .bob, after: 10,
            then: .playbackStarted(entry: 1, track: 1, positionMs: 0, at: .start(plus: 10), by: 2)
        ).room
        #expect(
            room.onAir
                == OnAir(
                    entry: 1, track: 1, startedBy: 2, startedAt: .start(plus: 10), startedSeq: room.seq,
                    isPaused: false, positionMs: 0, at: .start(plus: 10), heardMs: 0, turnOf: 1))
        #expect(room.queue.map(\.id) == [2, 3])
        #expect(room.history.isEmpty)
    }

    @Test func `playing a named entry leaves those before it waiting`() {
        let room = waiting.when(
            .play(entry: 2), then: .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 0), by: 1)
        ).room
        #expect(room.queue.map(\.id) == [1, 3])
    }

    @Test func `playing over something ends it first`() {
        let room = playing.when(
            .play(entry: 3), after: 5_000,
            then: .entryFinished(
                entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 5_000, by: 1),
            .playbackStarted(entry: 3, track: 3, positionMs: 0, at: .start(plus: 5_000), by: 1)
        ).room
        #expect(
            room.history == [
                HistoryEntry(
                    entry: 1, track: 1, title: "One", artist: nil, startedAt: .start(plus: 0),
                    endedAt: .start(plus: 5_000), reason: .replaced, playedMs: 5_000)
            ])
    }

    @Test func `playing the head replaces what is on air, even paused`() {
        playing.after(.pause, after: 100).when(
            .play(entry: nil), after: 100,
            then: .entryFinished(
                entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 100, by: 1),
            .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 200), by: 1))
    }

    @Test func `playing what is on air goes on with it`() {
        playing.changesNothing(.play(entry: 1), after: 50)
        playing.after(.pause, after: 100).when(
            .play(entry: 1), after: 50, then: .playbackResumed(positionMs: 100, at: .start(plus: 150), by: 1))
    }

    @Test func `with an empty queue there is nothing to play`() {
        RoomScenario.given(RoomScenario.songs).refuses(.play(entry: nil), with: .notFound)
        waiting.refuses(.play(entry: 4), with: .notFound)
        let alone = playing.after(.dequeue(entry: 2)).after(.dequeue(entry: 3))
        alone.refuses(.play(entry: nil), with: .notFound)
        alone.after(.pause).refuses(.play(entry: nil), with: .notFound)
    }

    // MARK: - Pausing, resuming, seeking

    @Test func `a pause keeps the position, and resuming goes on from it`() {
        let room =
            playing
            .when(
                .pause, by: .bob, after: 3_000, then: .playbackPaused(positionMs: 3_000, at: .start(plus: 3_000), by: 2)
            )
            .changesNothing(.pause, after: 10)
            .when(.resume, after: 2_000, then: .playbackResumed(positionMs: 3_000, at: .start(plus: 5_000), by: 1))
            .changesNothing(.resume, after: 10)
            .when(.pause, after: 500, then: .playbackPaused(positionMs: 3_500, at: .start(plus: 5_500), by: 1)).room
        #expect(room.onAir?.heardMs == 3_500)
        #expect(room.onAir?.position(at: .start(plus: 9_000)) == 3_500)
    }

    @Test func `seeking jumps, and playing goes on from there`() {
        playing
            .when(
                .seek(positionMs: 60_000), after: 1_000,
                then: .playbackSeeked(positionMs: 60_000, at: .start(plus: 1_000), by: 1)
            )
            .when(.pause, after: 500, then: .playbackPaused(positionMs: 60_500, at: .start(plus: 1_500), by: 1))
    }

    @Test func `seeking while paused stays paused`() {
        let room = playing.after(.pause, after: 1_000)
            .when(.seek(positionMs: 0), after: 5, then: .playbackSeeked(positionMs: 0, at: .start(plus: 1_005), by: 1))
            .changesNothing(.seek(positionMs: 0), after: 5).room
        #expect(room.onAir?.isPaused == true)
    }

    @Test func `seeking to where it is playing is still a seek`() {
        playing.when(
            .seek(positionMs: 700), after: 700, then: .playbackSeeked(positionMs: 700, at: .start(plus: 700), by: 1))
    }

    @Test func `a seek goes up to a week, whatever length the song claims`() {
        for room in [playing, playing.after(.skip)] {
            for position in [-1, 604_800_001, Int64.min, .max] {
                room.refuses(.seek(positionMs: position), with: .badRequest)
                room.refuses(.seek(positionMs: position, entry: 99), with: .badRequest)
            }
            _ = room.after(.seek(positionMs: 200_001)).after(.seek(positionMs: 604_800_000))
        }
    }

    @Test func `a command that names a song is for no other song`() {
        playing.changesNothing(.pause(entry: 2)).changesNothing(.seek(positionMs: 5, entry: 2))
            .changesNothing(.skip(entry: 2)).changesNothing(.skip(entry: 99))
        playing.after(.pause).changesNothing(.resume(entry: 2))
        playing
            .when(.pause(entry: 1), after: 10, then: .playbackPaused(positionMs: 10, at: .start(plus: 10), by: 1))
            .when(
                .seek(positionMs: 5, entry: 1), then: .playbackSeeked(positionMs: 5, at: .start(plus: 10), by: 1)
            )
            .when(.resume(entry: 1), then: .playbackResumed(positionMs: 5, at: .start(plus: 10), by: 1))
    }

    @Test func `two DJs who skip the same song skip one song`() {
        let next = playing.after(.skip(entry: 1), by: .ana)
        #expect(next.room.onAir?.entry == 2)
        next.changesNothing(.skip(entry: 1), by: .bob)
        // One of an earlier release does not say which song it means.
        #expect(next.after(.skip, by: .bob).room.onAir?.entry == 3)
    }

    @Test func `on a silent deck there is nothing to pause, resume, seek, skip or finish`() {
        waiting.changesNothing(.pause).changesNothing(.resume).changesNothing(.seek(positionMs: 1))
            .changesNothing(.skip).changesNothing(.finish(entry: 1)).changesNothing(.skip(entry: 1))
            .changesNothing(.pause(entry: 1)).changesNothing(.resume(entry: 1))
            .changesNothing(.seek(positionMs: 1, entry: 1))
        waiting.refuses(.seek(positionMs: -1), with: .badRequest)
    }

    @Test func `time on air leaves out pauses and jumps`() {
        playing.after(.pause, after: 1_000).after(.resume, after: 10_000).after(.seek(positionMs: 90_000), after: 200)
            .after(.pause, after: 30).after(.seek(positionMs: 5), after: 1_000).when(
                .skip, after: 4_000,
                then: .entryFinished(
                    entry: 1, track: 1, reason: .skipped, startedAt: .start(plus: 0), playedMs: 1_230, by: 1),
                .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 16_230), by: 1))
    }

    @Test func `a clock that steps back counts as standing still`() {
        playing.after(.pause, after: 1_000).after(.resume).when(
            .pause, after: -500, then: .playbackPaused(positionMs: 1_000, at: .start(plus: 1_000), by: 1))
    }

    // MARK: - Ending

    @Test func `a skip starts the next entry, and the last one stops`() {
        let room =
            playing
            .when(
                .skip, by: .bob, after: 10,
                then: .entryFinished(
                    entry: 1, track: 1, reason: .skipped, startedAt: .start(plus: 0), playedMs: 10, by: 2),
                .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 10), by: 2)
            )
            .after(.dequeue(entry: 3))
            .when(
                .skip, after: 10,
                then: .entryFinished(
                    entry: 2, track: 2, reason: .skipped, startedAt: .start(plus: 10), playedMs: 10, by: 1),
                .playbackStopped(by: 1)
            ).room
        #expect(room.onAir == nil)
        #expect(room.history.map(\.entry) == [2, 1])
    }

    @Test func `two devices that end the same song skip one song`() {
        let next = playing.when(
            .finish(entry: 1), by: .bob, after: 200_000,
            then: .entryFinished(
                entry: 1, track: 1, reason: .ended, startedAt: .start(plus: 0), playedMs: 200_000, by: 2),
            .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 200_000), by: 2))
        next.changesNothing(.finish(entry: 1), after: 30)
        for number in [0, -1, 3, 99, Int.max] { next.changesNothing(.finish(entry: EntryID(rawValue: number))) }
    }

    @Test func `the server finishes without a name`() {
        playing.when(
            .finish(entry: 1), by: .server,
            then: .entryFinished(entry: 1, track: 1, reason: .ended, startedAt: .start(plus: 0), playedMs: 0),
            .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 0), by: nil))
    }

    @Test func `the history keeps the last 50, newest first`() {
        var room = RoomScenario.given(RoomScenario.songs)
        for _ in 1...60 { room = room.after(.enqueue(track: 2, index: nil)).after(.play(entry: nil)) }
        #expect(room.room.history.map(\.entry.rawValue) == Array((10...59).reversed()))
    }

    @Test func `the history remembers songs that left the pool`() {
        let room = playing.after(.skip).after(.removeTracks([1])).room
        #expect(room.history.map(\.title) == ["One"])
    }
}

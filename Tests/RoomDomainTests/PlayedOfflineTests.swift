import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

/// A DJ's device tells what was heard while it was offline.
@Suite struct PlayedOfflineTests {
    /// Entry 1 is on air since the start; 2 and 3 wait.
    private let playing = RoomScenario.given(RoomScenario.playing)
    private let silent = RoomScenario.given(RoomScenario.waiting)

    private func heard(
        _ item: Deck.Item, _ startedAt: Int64, _ playedMs: Int64, _ reason: FinishReason = .ended,
        until endedAt: Int64? = nil
    ) -> Deck.Played {
        Deck.Played(
            item: item, startedAt: .start(plus: startedAt), playedMs: playedMs, reason: reason,
            endedAt: endedAt.map { .start(plus: $0) })
    }

    private func onAir(
        _ item: Deck.Item, isPaused: Bool = false, _ positionMs: Int64, at milliseconds: Int64,
        since startedAt: Int64? = nil, heard playedMs: Int64? = nil
    ) -> Deck.Playback {
        .onAir(
            item, isPaused: isPaused, positionMs: positionMs, at: .start(plus: milliseconds),
            startedAt: startedAt.map { .start(plus: $0) }, playedMs: playedMs)
    }

    private func sync(
        _ played: [Deck.Played], _ queue: [Deck.Item] = [.entry(2), .entry(3)], _ playback: Deck.Playback = .stopped
    ) -> RoomCommand {
        .syncDeck(Deck(played: played, queue: queue, playback: playback))
    }

    // MARK: What was heard

    @Test func `songs that were heard are in the log with their times`() {
        let room = playing.when(
            sync(
                [heard(.entry(1), 0, 200_000), heard(.entry(2), 200_500, 3_000, .skipped, until: 210_000)], [],
                onAir(.entry(3), 40_000, at: 252_000, since: 211_000, heard: 39_000)),
            after: 253_000,
            then: .entryFinished(
                entry: 1, track: 1, reason: .ended, startedAt: .start(plus: 0), playedMs: 200_000, by: 1,
                endedAt: .start(plus: 200_000)),
            .playbackStarted(
                entry: 2, track: 2, positionMs: 0, at: .start(plus: 200_500), by: 1, startedAt: .start(plus: 200_500)),
            .entryFinished(
                entry: 2, track: 2, reason: .skipped, startedAt: .start(plus: 200_500), playedMs: 3_000, by: 1,
                endedAt: .start(plus: 210_000)),
            .playbackStarted(
                entry: 3, track: 3, positionMs: 41_000, at: .start(plus: 253_000), by: 1,
                startedAt: .start(plus: 211_000), playedMs: 40_000)
        ).room
        #expect(room.history.map(\.endedAt) == [.start(plus: 210_000), .start(plus: 200_000)])
        #expect(room.onAir?.startedAt == .start(plus: 211_000))
        #expect(room.onAir?.heard(at: .start(plus: 263_000)) == 50_000)
    }

    @Test func `the song on air keeps the time at which the room has it started`() {
        for item in [Deck.Item.entry(1), .track(1)] {
            playing.when(
                sync([heard(item, 20, 90, until: 90)]), after: 100,
                then: .entryFinished(
                    entry: 1, track: 1, reason: .ended, startedAt: .start(plus: 0), playedMs: 90, by: 1,
                    endedAt: .start(plus: 90)),
                .playbackStopped(by: 1))
        }
    }

    @Test func `a song that is not named was replaced when the first one began`() {
        playing.when(
            sync([heard(.entry(3), 60, 10)], [.entry(2)]), after: 100,
            then: .entryFinished(
                entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 60, by: 1,
                endedAt: .start(plus: 60)),
            .playbackStarted(
                entry: 3, track: 3, positionMs: 0, at: .start(plus: 60), by: 1, startedAt: .start(plus: 60)),
            .entryFinished(
                entry: 3, track: 3, reason: .ended, startedAt: .start(plus: 60), playedMs: 10, by: 1,
                endedAt: .start(plus: 70)),
            .playbackStopped(by: 1))
        playing.when(
            sync([], [.entry(3)], onAir(.entry(2), 0, at: 100, since: 60, heard: 40)), after: 100,
            then: .entryFinished(
                entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 60, by: 1,
                endedAt: .start(plus: 60)),
            .playbackStarted(
                entry: 2, track: 2, positionMs: 0, at: .start(plus: 100), by: 1, startedAt: .start(plus: 60),
                playedMs: 40))
    }

    @Test func `a song that was replaced was not heard for longer than it lasted`() {
        let room = playing.after(.pause, after: 90).after(sync([heard(.entry(2), 60, 10)], [.entry(3)]), after: 10).room
        #expect(room.history.map(\.playedMs) == [10, 60])
    }

    @Test func `songs that end now have no times of their own`() {
        silent.when(
            sync([heard(.entry(1), 100, 0)]), after: 100,
            then: .playbackStarted(entry: 1, track: 1, positionMs: 0, at: .start(plus: 100), by: 1),
            .entryFinished(
                entry: 1, track: 1, reason: .ended, startedAt: .start(plus: 100), playedMs: 0, by: 1),
            .playbackStopped(by: 1))
    }

    @Test func `a track stands for a waiting entry that nothing else names, else for a new one whose votes are spent`()
    {
        // Logs of earlier releases have votes for tracks that wait.
        let seq = RoomScenario.playing.count + 1
        let old = RoomScenario.given(
            RoomScenario.playing + [.voteCast(track: 2, by: 3, votes: 1, requestedSeq: seq)])
        let room = old.after(.vote(track: 4), by: .cyd).when(
            sync([heard(.track(4), 10, 5), heard(.track(2), 15, 5)], [.entry(3), .track(2)]), after: 100,
            then: .entryFinished(
                entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 10, by: 1,
                endedAt: .start(plus: 10)),
            .entryEnqueued(entry: 4, track: 4, index: 0, by: 1), .votesCleared(track: 4),
            .playbackStarted(
                entry: 4, track: 4, positionMs: 0, at: .start(plus: 10), by: 1, startedAt: .start(plus: 10)),
            .entryFinished(
                entry: 4, track: 4, reason: .ended, startedAt: .start(plus: 10), playedMs: 5, by: 1,
                endedAt: .start(plus: 15)),
            .votesCleared(track: 2),
            .playbackStarted(
                entry: 2, track: 2, positionMs: 0, at: .start(plus: 15), by: 1, startedAt: .start(plus: 15)),
            .entryFinished(
                entry: 2, track: 2, reason: .ended, startedAt: .start(plus: 15), playedMs: 5, by: 1,
                endedAt: .start(plus: 20)),
            .playbackStopped(by: 1), .entryEnqueued(entry: 5, track: 2, index: 1, by: 1)
        ).room
        #expect(room.queue.map(\.id) == [3, 5])
        // The entry that the queue names is not played.
        let kept = playing.after(sync([heard(.track(2), 10, 5)]), after: 100).room
        #expect(kept.history.map(\.entry) == [4, 1])
        #expect(kept.queue.map(\.id) == [2, 3])
    }

    @Test func `a skipped song is no turn, and neither rule of the queue applies`() {
        var settings = RoomSettings()
        (settings.queueMode, settings.repeatAfterPlays, settings.maxWaitingPerMember) = (.fair, 5, 1)
        var changes = RoomChanges()
        changes.settings = settings
        let room = RoomScenario.given(RoomScenario.playing + [.roomUpdated(changes)]).after(
            sync(
                [heard(.entry(1), 0, 10), heard(.entry(2), 10, 1, .skipped), heard(.track(1), 11, 1)],
                [.track(1), .track(2)]), after: 20
        ).room
        #expect(room.turns[1]?.taken == 2)
        #expect(room.history.map(\.track) == [1, 2, 1])
        #expect(room.queue.map(\.track) == [1, 2])
        #expect(room.onAir == nil)
    }

    // MARK: The time heard of what is on air

    @Test func `the time heard comes with what else has changed`() {
        let queue: [Deck.Item] = [.entry(2), .entry(3)]
        playing.when(
            sync([], queue, onAir(.entry(1), 5_000, at: 100, heard: 90)), after: 300,
            then: .playbackSeeked(positionMs: 5_200, at: .start(plus: 300), by: 1, playedMs: 290))
        playing.when(
            sync([], queue, onAir(.entry(1), isPaused: true, 50, at: 100, heard: 50)), after: 300,
            then: .playbackPaused(positionMs: 50, at: .start(plus: 300), by: 1, playedMs: 50))
        playing.after(.pause, after: 300).when(
            sync([], queue, onAir(.track(1), 10, at: 300, heard: 20)), after: 100,
            then: .playbackResumed(positionMs: 110, at: .start(plus: 400), by: 1, playedMs: 120))
        // Nothing is told that the room knows.
        playing.when(
            sync([], queue, onAir(.entry(1), isPaused: true, 100, at: 100, heard: 100)), after: 100,
            then: .playbackPaused(positionMs: 100, at: .start(plus: 100), by: 1))
    }

    @Test func `a time heard that differs by less than a quarter of a second causes nothing`() {
        let queue: [Deck.Item] = [.entry(2), .entry(3)]
        func same(_ heard: Int64) -> RoomCommand { sync([], queue, onAir(.entry(1), 1_000, at: 1_000, heard: heard)) }
        for close in [Int64(751), 999, 1_000] { playing.changesNothing(same(close), after: 1_000) }
        playing.when(
            same(750), after: 2_000,
            then: .playbackSeeked(positionMs: 2_000, at: .start(plus: 2_000), by: 1, playedMs: 1_750)
        ).changesNothing(same(750), after: 500)
        playing.after(.seek(positionMs: 1_000), after: 1_000).changesNothing(same(1_000), after: 5)
    }

    @Test func `a new song has been heard since it began, as far as the deck says`() {
        func started(_ deck: Deck.Playback) -> OnAir? { silent.after(sync([], [], deck), after: 1_000).room.onAir }
        #expect(started(onAir(.entry(1), 7, at: 900))?.startedAt == .start(plus: 1_000))
        #expect(started(onAir(.entry(1), 7, at: 900, since: 500))?.startedAt == .start(plus: 500))
        #expect(started(onAir(.entry(1), 7, at: 900, since: 500))?.heardMs == 0)
        #expect(started(onAir(.entry(1), 7, at: 900, since: 500, heard: 300))?.heardMs == 400)
        #expect(started(onAir(.entry(1), isPaused: true, 7, at: 900, since: 500, heard: 300))?.heardMs == 300)
        #expect(started(onAir(.entry(1), 7, at: 900, heard: 0))?.heardMs == 0)
        #expect(started(onAir(.entry(1), 7, at: 9_000, since: 500, heard: 500))?.heardMs == 500)
    }

    // MARK: Refusals

    @Test func `times that cannot be are refused`() {
        let later = playing.after(.pause, after: 100)
        let wrong: [RoomCommand] = [
            // Before the song on air, in the future, overlapping.
            sync([heard(.entry(1), -1, 10)]), sync([heard(.entry(2), -1, 10)], [.entry(3)]),
            sync([heard(.entry(2), 101, 0)], [.entry(3)]), sync([heard(.entry(2), 50, 51)], [.entry(3)]),
            sync([heard(.entry(2), 50, 10, until: 101)], [.entry(3)]),
            sync([heard(.entry(1), 0, 50), heard(.entry(2), 49, 10)], [.entry(3)]),
            // Longer than the time that has passed, or negative.
            sync([heard(.entry(2), 50, -1)], [.entry(3)]), sync([heard(.entry(2), 50, 11, until: 60)], [.entry(3)]),
            sync([heard(.entry(2), 50, 0, until: 49)], [.entry(3)]), sync([heard(.entry(1), 50, 61, until: 60)]),
            sync([heard(.entry(2), 50, 0, .replaced)], [.entry(3)]),
            sync([heard(.entry(1), 0, 50)], [.entry(3)], onAir(.entry(2), 0, at: 50, since: 49)),
            sync([heard(.entry(1), 0, 50)], [.entry(3)], onAir(.entry(2), 0, at: 50, since: 101)),
            sync([heard(.entry(1), 0, 50)], [.entry(3)], onAir(.entry(2), 0, at: 60, since: 50, heard: 11)),
            sync([heard(.entry(1), 0, 50)], [.entry(3)], onAir(.entry(2), 0, at: 60, since: 50, heard: -1)),
            sync([heard(.entry(1), 0, 50)], [.entry(3)], onAir(.entry(2), 0, at: 999, since: 50, heard: 51)),
            sync([], [.entry(3)], onAir(.entry(2), 0, at: 60, since: -1)),
            sync([], [.entry(2), .entry(3)], onAir(.entry(1), 0, at: 60, since: -1)),
            sync([], [.entry(2), .entry(3)], onAir(.entry(1), 0, at: 60, heard: 61)),
        ]
        for command in wrong { later.refuses(command, with: .badRequest) }
    }

    @Test func `where nothing is on air, nothing was heard before the last song ended or the room was made`() {
        silent.refuses(sync([heard(.entry(1), -1, 0)]), after: 50, with: .badRequest)
        silent.refuses(sync([], [], onAir(.entry(1), 0, at: 0, since: -1)), after: 50, with: .badRequest)
        _ = silent.after(sync([heard(.entry(1), 0, 0)]), after: 50)
        let ended = playing.after(sync([heard(.entry(1), 0, 60)]), after: 100)
        ended.refuses(sync([heard(.entry(2), 59, 1)], [.entry(3)]), after: 50, with: .badRequest)
        _ = ended.after(sync([heard(.entry(2), 60, 1)], [.entry(3)]), after: 50)
    }

    @Test func `items that do not exist, are named twice or out of order are refused`() {
        let later = playing.after(.pause, after: 100)
        later.refuses(sync([heard(.entry(99), 10, 0)]), with: .notFound)
        later.refuses(sync([heard(.track(99), 10, 0)]), with: .notFound)
        later.refuses(sync([heard(.entry(2), 10, 0)]), with: .badRequest)
        later.refuses(sync([heard(.entry(2), 10, 0), heard(.entry(2), 10, 0)], []), with: .badRequest)
        later.refuses(sync([heard(.entry(2), 10, 0)], [], onAir(.entry(2), 0, at: 0)), with: .badRequest)
        later.refuses(sync([heard(.entry(2), 10, 0), heard(.entry(1), 10, 0)], []), with: .badRequest)
        later.refuses(sync([heard(.entry(2), 10, 0)], [], onAir(.entry(1), 0, at: 0)), with: .badRequest)
        later.refuses(sync([heard(.entry(2), 10, 0)], [.entry(1)]), with: .conflict)
        later.refuses(
            sync(Array(repeating: heard(.track(2), 10, 0), count: 201), []), with: .limitReached)
        later.refuses(sync([heard(.entry(1), 0, 10)]), by: .cyd, with: .forbidden)
    }

    @Test func `extreme times are refused and do not trap`() {
        let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for one in extremes {
            for other in extremes {
                let (early, late) = (Timestamp(milliseconds: one), Timestamp(milliseconds: other))
                for item in [Deck.Item.entry(1), .entry(2)] {
                    for end in [nil, late] {
                        let played = Deck.Played(
                            item: item, startedAt: early, playedMs: other, reason: .ended, endedAt: end)
                        playing.refuses(sync([played], [.entry(3)]), with: .badRequest)
                    }
                    let deck = Deck(
                        queue: [.entry(3)],
                        playback: .onAir(
                            item, isPaused: false, positionMs: 0, at: late, startedAt: early, playedMs: other))
                    for now in extremes {
                        _ = try? playing.room.decide(
                            .syncDeck(deck), by: .ana, at: Timestamp(milliseconds: now))
                    }
                }
            }
        }
    }

    @Test func `a song that the deck does not have is skipped by that name`() {
        playing.when(
            .finish(entry: 1, isMissing: true), by: .bob, after: 2_000,
            then: .entryFinished(
                entry: 1, track: 1, reason: .skipped, startedAt: .start(plus: 0), playedMs: 2_000, by: 2,
                isMissing: true),
            .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 2_000), by: 2)
        ).changesNothing(.finish(entry: 1, isMissing: true))
    }

    // MARK: Limits

    @Test func `200 songs and a full queue are one command`() throws {
        let tracks = (5...900).map { NumberedTrack(id: TrackID(rawValue: $0), info: .titled("Song \($0)")) }
        let waiting = (4...500).map {
            RoomEvent.entryEnqueued(entry: EntryID(rawValue: $0), track: TrackID(rawValue: $0), index: 0, by: 1)
        }
        let votes = (5...900).enumerated().map { place, track in
            RoomEvent.voteCast(track: TrackID(rawValue: track), by: 3, votes: 1, requestedSeq: 1 + place)
        }
        let full = RoomScenario.given(
            RoomScenario.waiting + [.tracksAdded(tracks: tracks, by: 1)] + waiting + votes)
        #expect(full.room.queue.count == 500)
        // Nothing that waits is kept: each song is a new entry, and its votes are spent.
        let played = (501...700).map { heard(.track(TrackID(rawValue: $0)), Int64($0), 1) }
        let queue = (0..<500).map { Deck.Item.track(TrackID(rawValue: $0 < 200 ? 701 + $0 : 501 + $0 % 200)) }
        var room = full.room
        let now = Timestamp.start(plus: 1_000)
        let events = try room.decide(sync(played, queue), by: .ana, at: now)
        #expect(events.count > 1_990)
        #expect(events.count <= 2_500)
        for recorded in room.recorded(events, at: now) {
            room.evolve(recorded)
            #expect(room.queue.count <= RoomLimits.queue)
        }
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
        #expect(room.queue.count == 500)
        #expect(room.plays == 200)
        // A queue that is kept whole leaves no room for another song.
        let kept = full.room.queue.map { Deck.Item.entry($0.id) }
        full.refuses(sync([heard(.track(700), 0, 0)], kept), with: .limitReached)
    }

    // MARK: At random

    @Test(arguments: 0..<10)
    func `after the sync, history, playback and queue are those of the device`(block: Int) throws {
        for seed in TestSeed.fixed(UInt64(block * 15)..<UInt64(block * 15 + 15)) {
            print("a device off line, seed \(seed)")
            var random = SeededRandom(seed: seed)
            var scenario = random.once(in: 5) ? silent : playing
            for night in 0..<4 {
                let known = scenario.room
                let end = Timestamp(
                    milliseconds: known.lastEventAt.milliseconds + Int64.random(in: 0...900_000, using: &random))
                let device = OfflineDevice(
                    knowing: known, since: known.lastEventAt, until: end,
                    steps: Int.random(in: 0...30, using: &random), tellsAll: random.once(in: 3),
                    random: SeededRandom(seed: random.next()))
                let late = Int64.random(in: 0...2_000, using: &random)
                scenario = scenario.after(
                    .syncDeck(device.deck), after: end.milliseconds - known.lastEventAt.milliseconds + late)
                let differences = device.differences(from: scenario.room)
                #expect(differences.isEmpty, "seed \(seed), night \(night)")
                // Somebody else does something before the device loses its connection again.
                let others: [RoomCommand] = [
                    .pause, .resume, .skip, .seek(positionMs: 5), .enqueue(track: 4, index: nil),
                ]
                let command = random.pick(others, or: .pause)
                scenario = scenario.after(command, after: Int64.random(in: 0...9_000, using: &random))
            }
        }
    }
}

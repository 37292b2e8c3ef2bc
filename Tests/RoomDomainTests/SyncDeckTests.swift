import RoomDomain
import RoomTestSupport
import Testing

/// A DJ's device that was offline sends its deck.
@Suite struct SyncDeckTests {
    private let playing = RoomScenario.given(RoomScenario.playing)

    private func onAir(
        _ item: Deck.Item, isPaused: Bool = false, _ positionMs: Int64, at milliseconds: Int64
    ) -> Deck.Playback {
        .onAir(item, isPaused: isPaused, positionMs: positionMs, at: .start(plus: milliseconds))
    }

    private func sync(_ queue: [Deck.Item], _ playback: Deck.Playback) -> RoomCommand {
        .syncDeck(Deck(queue: queue, playback: playback))
    }

    @Test func `an equal deck changes nothing`() {
        playing.changesNothing(sync([.entry(2), .entry(3)], onAir(.entry(1), 0, at: 0)), after: 40)
        playing.changesNothing(sync([.track(2), .track(3)], onAir(.track(1), 40, at: 40)), after: 40)
        RoomScenario.given(RoomScenario.waiting).changesNothing(
            sync([.entry(1), .track(2), .entry(3)], .stopped), by: .bob)
    }

    @Test func `the position is that of the device, carried on to now`() {
        playing.when(
            sync([.entry(2), .entry(3)], onAir(.entry(1), 5_000, at: 100)), by: .bob, after: 300,
            then: .playbackSeeked(positionMs: 5_200, at: .start(plus: 300), by: 2))
        playing.when(
            sync([.entry(2), .entry(3)], onAir(.entry(1), isPaused: true, 5_000, at: 100)), after: 300,
            then: .playbackPaused(positionMs: 5_000, at: .start(plus: 300), by: 1))
        playing.after(.pause).when(
            sync([.entry(2), .entry(3)], onAir(.entry(1), 10, at: 300)), after: 300,
            then: .playbackResumed(positionMs: 10, at: .start(plus: 300), by: 1))
    }

    @Test func `another song is on air, and the queue is another`() {
        let room = playing.when(
            sync([.track(4), .entry(2)], onAir(.entry(3), 1_000, at: 50)), after: 100,
            then: .entryFinished(
                entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 100, by: 1),
            .playbackStarted(entry: 3, track: 3, positionMs: 1_050, at: .start(plus: 100), by: 1),
            .entryEnqueued(entry: 4, track: 4, index: 0, by: 1)
        ).room
        #expect(room.queue.map(\.track) == [4, 2])
    }

    @Test func `a track without a waiting entry is enqueued to be played`() {
        let room = playing.after(.vote(track: 4), by: .cyd).when(
            sync([], onAir(.track(4), isPaused: true, 7, at: 0)), after: 10,
            then: .entryEnqueued(entry: 4, track: 4, index: 0, by: 1), .votesCleared(track: 4),
            .entryFinished(entry: 1, track: 1, reason: .replaced, startedAt: .start(plus: 0), playedMs: 10, by: 1),
            .playbackStarted(entry: 4, track: 4, positionMs: 7, at: .start(plus: 10), by: 1),
            .playbackPaused(positionMs: 7, at: .start(plus: 10), by: 1),
            .entryRemoved(entry: 2, by: 1), .entryRemoved(entry: 3, by: 1)
        ).room
        #expect(room.queue.isEmpty)
    }

    @Test func `a silent deck ends what is on air`() {
        playing.when(
            sync([.entry(3), .entry(2)], .stopped), after: 10,
            then: .entryFinished(entry: 1, track: 1, reason: .ended, startedAt: .start(plus: 0), playedMs: 10, by: 1),
            .playbackStopped(by: 1), .entryMoved(entry: 3, index: 0, by: 1))
    }

    @Test func `one track may wait several times`() {
        let room = playing.after(sync([.track(2), .track(2), .entry(2), .track(4)], onAir(.entry(1), 0, at: 0))).room
        #expect(room.queue.map(\.track) == [2, 2, 2, 4])
        #expect(Set(room.queue.map(\.id)).count == 4)
    }

    @Test func `entries that the device does not know stay behind its own`() {
        func sync(_ queue: [Deck.Item], known: EntryID) -> RoomCommand {
            .syncDeck(Deck(queue: queue, playback: onAir(.entry(1), 0, at: 0), known: known))
        }
        playing.changesNothing(sync([.entry(2)], known: 2))
        playing.when(sync([], known: 2), then: .entryRemoved(entry: 2, by: 1))
        #expect(playing.after(sync([], known: 0)).room.queue.map(\.id) == [2, 3])
        #expect(playing.after(sync([], known: 99)).room.queue.isEmpty)
        // A track of the device is another entry than that of the same track that others have added.
        let both = playing.after(sync([.track(3), .entry(2)], known: 2)).room
        #expect(both.queue.map(\.track) == [3, 2, 3])
        #expect(both.queue.map(\.id) == [4, 2, 3])
        // The queue holds no more than it may.
        let added = (4...RoomLimits.queue + 1).map { _ in RoomCommand.enqueue(track: 2, index: nil) }
        let full = added.reduce(playing) { $0.after($1) }
        #expect(full.room.queue.count == RoomLimits.queue)
        let last = full.after(sync([.track(4), .track(4)], known: 0)).room
        #expect(last.queue.count == RoomLimits.queue)
        #expect(last.queue.prefix(3).map(\.track) == [4, 4, 2])
    }

    @Test func `an item that does not exist, or is named twice, is refused`() {
        playing.refuses(sync([.track(99)], .stopped), with: .notFound)
        playing.refuses(sync([.entry(99)], .stopped), with: .notFound)
        playing.refuses(sync([], onAir(.track(99), 0, at: 0)), with: .notFound)
        playing.refuses(sync([.entry(2), .entry(2)], .stopped), with: .badRequest)
        playing.refuses(sync([.entry(2)], onAir(.entry(2), 0, at: 0)), with: .badRequest)
        playing.refuses(sync([.entry(1)], .stopped), with: .conflict)
        playing.refuses(sync([], onAir(.entry(1), -1, at: 0)), with: .badRequest)
        playing.refuses(sync([], onAir(.entry(1), .max, at: 0)), with: .badRequest)
        playing.refuses(sync(Array(repeating: .track(1), count: 501), .stopped), with: .limitReached)
        playing.refuses(sync([], .stopped), by: .cyd, with: .forbidden)
    }
}

import RoomDomain
import RoomTestSupport
import Testing

@Suite struct QueueTests {
    let waiting = RoomScenario.given(RoomScenario.waiting)

    private func entries(_ scenario: RoomScenario) -> [Int] { scenario.room.queue.map(\.id.rawValue) }

    @Test func `a track is enqueued at the end if no index is given`() {
        let expected = RoomEvent.entryEnqueued(entry: 4, track: 1, index: 3, by: 2)
        let after = waiting.when(.enqueue(track: 1, index: nil), by: .bob, then: expected)
        #expect(entries(after) == [1, 2, 3, 4])
        let result = after.room.result(of: .enqueue(track: 1, index: nil), by: .bob, causing: [expected])
        #expect(result == .entry(4))
    }

    @Test func `a track is enqueued at a given place`() {
        let after = waiting.when(
            .enqueue(track: 4, index: 0), then: .entryEnqueued(entry: 4, track: 4, index: 0, by: 1)
        ).when(.enqueue(track: 4, index: 4), then: .entryEnqueued(entry: 5, track: 4, index: 4, by: 1))
        #expect(entries(after) == [4, 1, 2, 3, 5])
    }

    @Test func `the votes of an enqueued track are spent`() {
        let room = waiting.after(.vote(track: 4), by: .cyd).after(.vote(track: 4), by: .dan).when(
            .enqueue(track: 4, index: nil), then: .entryEnqueued(entry: 4, track: 4, index: 3, by: 1),
            .votesCleared(track: 4)
        ).room
        #expect(room.tracks[4]?.votes == 0)
        #expect(room.tracks[4]?.requestedSeq == nil)
        #expect(room.voters.isEmpty)
        #expect(room.votesOfMember.isEmpty)
    }

    @Test(arguments: [-1, 4, Int.max, Int.min]) func `an index beyond the queue is refused`(index: Int) {
        waiting.refuses(.enqueue(track: 1, index: index), with: .badRequest)
        waiting.refuses(.move(entry: 1, index: index), with: .badRequest)
    }

    @Test func `only tracks of the pool are enqueued`() {
        waiting.refuses(.enqueue(track: 5, index: nil), with: .notFound)
    }

    @Test func `a queue has at most 500 entries`() {
        var full = waiting
        for _ in 3..<500 { full = full.after(.enqueue(track: 1, index: nil)) }
        #expect(full.room.queue.count == 500)
        full.refuses(.enqueue(track: 1, index: nil), with: .limitReached)
        _ = full.after(.dequeue(entry: 1)).after(.enqueue(track: 1, index: 0))
    }

    @Test func `an entry is taken out once`() {
        let after = waiting.when(.dequeue(entry: 2), by: .bob, then: .entryRemoved(entry: 2, by: 2))
            .refuses(.dequeue(entry: 2), with: .notFound)
        #expect(entries(after) == [1, 3])
    }

    @Test func `the entry on air is not in the queue`() {
        let playing = RoomScenario.given(RoomScenario.playing)
        playing.refuses(.dequeue(entry: 1), with: .notFound)
        playing.refuses(.move(entry: 1, index: 0), with: .notFound)
    }

    @Test(
        arguments: [
            (1, 0, nil, [1, 2, 3]), (1, 1, 1, [2, 1, 3]), (1, 2, 2, [2, 3, 1]), (1, 3, 2, [2, 3, 1]),
            (2, 0, 0, [2, 1, 3]), (2, 1, nil, [1, 2, 3]), (3, 0, 0, [3, 1, 2]), (3, 1, 1, [1, 3, 2]),
            (3, 2, nil, [1, 2, 3]), (3, 3, nil, [1, 2, 3]),
        ] as [(Int, Int, Int?, [Int])])
    func `an entry is moved`(entry: Int, to index: Int, lands place: Int?, order: [Int]) {
        let entry = EntryID(rawValue: entry)
        let after =
            if let place {
                waiting.when(.move(entry: entry, index: index), then: .entryMoved(entry: entry, index: place, by: 1))
            } else {
                waiting.changesNothing(.move(entry: entry, index: index))
            }
        #expect(entries(after) == order)
    }

    @Test func `an entry that does not wait is not moved`() {
        waiting.refuses(.move(entry: 4, index: 0), with: .notFound)
        RoomScenario.given(RoomScenario.songs).refuses(.move(entry: 1, index: 0), with: .notFound)
    }

    @Test func `the server enqueues without a name`() {
        let room = waiting.when(
            .enqueue(track: 4, index: nil), by: .server, then: .entryEnqueued(entry: 4, track: 4, index: 3, by: nil)
        ).room
        #expect(room.queue.last == QueueEntry(id: 4, track: 4, addedBy: nil))
    }
}

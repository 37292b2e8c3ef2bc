import RoomDomain
import RoomTestSupport
import Testing

/// The tracks that the room plays by itself, and turns.
@Suite struct ChoiceTests {
    /// Ana's room with Bob, Cyd and Dan, twelve tracks, and a queue mode.
    private func room(_ mode: QueueMode, repeatAfterPlays: Int = 0) -> RoomScenario {
        var changes = RoomChanges()
        var settings = RoomSettings()
        settings.queueMode = mode
        settings.repeatAfterPlays = repeatAfterPlays
        changes.settings = settings
        let tracks = (1...12).map { NumberedTrack(id: TrackID(rawValue: $0), info: .titled("T\($0)")) }
        return RoomScenario.given(RoomScenario.people + [.roomUpdated(changes), .tracksAdded(tracks: tracks, by: 1)])
    }

    private func votes(_ scenario: RoomScenario, _ votes: (Actor, TrackID)...) -> RoomScenario {
        votes.reduce(scenario) { $0.after(.vote(track: $1.1), by: $1.0) }
    }

    /// Plays a track that the server started, which is nobody's turn.
    private func opened(_ scenario: RoomScenario) -> RoomScenario {
        scenario.after(.enqueue(track: 12, index: nil), by: .server).after(.play(entry: nil), by: .server)
    }

    /// The tracks that the room plays one after the other, each to its end.
    private func played(_ scenario: RoomScenario, _ count: Int) -> [Int] {
        var (scenario, tracks) = (scenario, [Int]())
        for _ in 0..<count {
            guard let entry = scenario.room.onAir?.entry else { break }
            scenario = scenario.after(.finish(entry: entry), after: 1_000)
            if let track = scenario.room.onAir?.track { tracks.append(track.rawValue) }
        }
        return tracks
    }

    // MARK: By votes

    @Test func `the top request is played when the queue is empty, and says why`() {
        let asked = votes(opened(room(.votes)), (.bob, 1), (.cyd, 2), (.dan, 2))
        let seq = asked.room.tracks[2]?.requestedSeq ?? 0
        asked.when(
            .finish(entry: 1), after: 1_000,
            then: .entryFinished(
                entry: 1, track: 12, reason: .ended, startedAt: .start(plus: 0), playedMs: 1_000, by: 1),
            .entryEnqueued(
                entry: 2, track: 2, index: 0, by: nil, why: ChoiceReason(rule: .votes, rank: [2, seq])),
            .votesCleared(track: 2),
            .playbackStarted(entry: 2, track: 2, positionMs: 0, at: .start(plus: 1_000), by: nil))
    }

    @Test func `waiting entries are played before requested tracks`() {
        let asked = votes(opened(room(.votes)), (.bob, 1)).after(.enqueue(track: 5, index: nil))
        #expect(played(asked, 3) == [5, 1])
    }

    @Test func `if the DJ fills the queue, requests are not played`() {
        #expect(played(votes(opened(room(.dj)), (.bob, 1)), 2) == [])
    }

    @Test func `a track that was on air too short a while ago is not chosen`() {
        let next = votes(opened(room(.votes, repeatAfterPlays: 2)), (.dan, 1)).after(.finish(entry: 1))
        let asked = votes(next, (.bob, 12), (.cyd, 12), (.dan, 2), (.dan, 3))
        #expect(played(asked, 9) == [2, 12, 3])
    }

    // MARK: What the deck lacks

    @Test(arguments: [QueueMode.votes, .fair])
    func `a track that the deck lacks is not chosen, and its votes stay`(mode: QueueMode) {
        let asked = votes(opened(room(mode)), (.bob, 1), (.cyd, 1), (.dan, 2)).after(.setMissing([1]))
        #expect(played(asked, 9) == [2])
        #expect(asked.after(.skip).room.requestOrder() == [1])
        let silent = votes(opened(room(mode)), (.bob, 1), (.cyd, 1)).after(.setMissing([1]))
        silent.when(
            .skip,
            then: .entryFinished(
                entry: 1, track: 12, reason: .skipped, startedAt: .start(plus: 0), playedMs: 0, by: 1),
            .playbackStopped(by: 1))
        // It is chosen as soon as the deck has it.
        #expect(played(asked.after(.setMissing([])), 9) == [1, 2])
        // Guests may ask for it.
        _ = votes(silent, (.dan, 1))
    }

    @Test func `waiting entries that the deck lacks keep their places`() {
        let waiting = votes(opened(room(.votes)), (.cyd, 7)).after(.enqueue(track: 1, index: nil))
            .after(.enqueue(track: 2, index: nil)).after(.enqueue(track: 3, index: nil)).after(.setMissing([1, 3]))
        let second = waiting.after(.finish(entry: 1))
        #expect(second.room.onAir?.track == 2)
        #expect(second.room.queue.map(\.track) == [1, 3])
        // Nothing that waits can be played: the room chooses.
        let chosen = second.after(.finish(entry: 3))
        #expect(chosen.room.onAir?.track == 7)
        #expect(chosen.room.queue.map(\.track) == [1, 3])
        let stopped = chosen.after(.skip)
        #expect(stopped.room.onAir == nil)
        #expect(stopped.room.queue.map(\.track) == [1, 3])
        // A person decides otherwise.
        #expect(stopped.after(.play(entry: 4)).room.onAir?.track == 3)
        #expect(stopped.after(.play(entry: nil)).room.onAir?.track == 1)
        #expect(stopped.after(.setMissing([1])).after(.play(entry: nil)).room.onAir?.track == 3)
    }

    @Test func `an entry that the deck lacks keeps its place before it has rested, too`() {
        let played = opened(room(.dj, repeatAfterPlays: 1)).after(.enqueue(track: 1, index: nil))
            .after(.enqueue(track: 12, index: nil)).after(.setMissing([12]))
        let next = played.after(.finish(entry: 1))
        #expect(next.room.onAir?.track == 1)
        #expect(next.after(.dequeue(entry: 3)).after(.enqueue(track: 12, index: nil)).room.queue.map(\.track) == [12])
        #expect(next.after(.finish(entry: 2)).room.queue.map(\.track) == [12])
    }

    @Test func `in a queue that is full of entries that the deck lacks, the room chooses nothing`() {
        var full = votes(opened(room(.votes)), (.cyd, 7))
        for _ in 0..<500 { full = full.after(.enqueue(track: 1, index: nil)) }
        full = full.after(.setMissing([1]))
        let stopped = full.after(.finish(entry: 1))
        #expect(stopped.room.onAir == nil)
        #expect(stopped.room.queue.count == 500)
        #expect(full.after(.dequeue(entry: 2)).after(.finish(entry: 1)).room.onAir?.track == 7)
    }

    // MARK: In turns

    @Test func `nobody asks, and nothing is played`() {
        #expect(played(opened(room(.fair)), 1) == [])
    }

    @Test func `first requests are played in the order in which they came`() {
        #expect(played(votes(opened(room(.fair)), (.bob, 3), (.cyd, 2), (.dan, 1)), 9) == [3, 2, 1])
    }

    @Test func `a second request comes after everybody's first`() {
        #expect(played(votes(opened(room(.fair)), (.bob, 1), (.bob, 2), (.cyd, 3)), 9) == [1, 3, 2])
    }

    @Test func `three who ask at once take turns`() {
        let asked = votes(
            opened(room(.fair)), (.bob, 1), (.bob, 2), (.bob, 3), (.cyd, 4), (.cyd, 5), (.dan, 6))
        #expect(played(asked, 9) == [1, 4, 6, 2, 5, 3])
    }

    @Test func `the entry on air counts as a turn`() {
        let playing = votes(opened(room(.fair)), (.bob, 1), (.bob, 2)).after(.finish(entry: 1))
        #expect(playing.room.onAir?.track == 1)
        #expect(played(votes(playing, (.cyd, 3), (.dan, 4)), 9) == [3, 4, 2])
    }

    @Test func `turns taken still count after all requests were played`() {
        var room = votes(opened(room(.fair)), (.bob, 1), (.bob, 2), (.bob, 3))
        for _ in 0..<3 { room = room.after(.finish(entry: room.room.onAir?.entry ?? 0), after: 1) }
        #expect(room.room.turns == [2: Turns(taken: 3, round: 3)])
        #expect(played(votes(room, (.bob, 4), (.bob, 5), (.cyd, 6), (.cyd, 7)), 9) == [6, 7, 4, 5])
    }

    @Test func `a latecomer cannot claim earlier rounds`() {
        var room = votes(
            opened(room(.fair)), (.bob, 1), (.bob, 2), (.bob, 3), (.cyd, 4), (.cyd, 5), (.cyd, 6))
        for _ in 0..<6 { room = room.after(.finish(entry: room.room.onAir?.entry ?? 0), after: 1) }
        #expect(room.room.turns.values.map(\.round) == [3, 3])
        // Dan is one turn ahead of the others, and then takes turns with them.
        #expect(played(votes(room, (.bob, 1), (.cyd, 4), (.dan, 7), (.dan, 8), (.dan, 9)), 9) == [7, 8, 1, 4, 9])
    }

    @Test func `within a round the member with fewer turns goes first`() {
        var room = votes(opened(room(.fair)), (.bob, 1), (.bob, 2), (.cyd, 3))
        for _ in 0..<3 { room = room.after(.finish(entry: room.room.onAir?.entry ?? 0), after: 1) }
        #expect(room.room.turns.mapValues(\.taken) == [2: 2, 3: 1])
        #expect(played(votes(room, (.bob, 4), (.cyd, 5)), 9) == [5, 4])
    }

    @Test func `a skipped entry does not count as a turn`() {
        let skipped = votes(opened(room(.fair)), (.bob, 1), (.bob, 2)).after(.finish(entry: 1)).after(.skip)
        #expect(skipped.room.turns == [2: Turns(taken: 1, round: 1)])
        #expect(skipped.room.onAir?.track == 2)
        #expect(skipped.after(.skip).room.turns == [:])
    }

    @Test func `an entry that the room itself chose is nobody's turn`() {
        #expect(opened(room(.fair)).room.turns == [:])
        let asked = votes(opened(room(.fair)), (.bob, 1))
        let why = ChoiceReason(rule: .fair, rank: [1, 1, asked.room.tracks[1]?.requestedSeq ?? 0], turnOf: 2)
        let events = try? asked.room.decide(.skip, by: .ana, at: asked.room.lastEventAt)
        #expect(events?.contains(.entryEnqueued(entry: 2, track: 1, index: 0, by: nil, why: why)) == true)
    }

    @Test func `a song that several want is played when the first of them has a turn`() {
        let asked = votes(opened(room(.fair)), (.bob, 1), (.bob, 2), (.cyd, 3), (.cyd, 2))
        #expect(played(asked, 9) == [1, 2, 3])
    }

    // MARK: Rules

    @Test func `a repeat is refused when it is added, and passed over when it would play`() {
        let room = opened(room(.dj, repeatAfterPlays: 2))
        room.refuses(.enqueue(track: 12, index: nil), with: .conflict)
        let waiting = room.after(.enqueue(track: 1, index: nil)).after(.enqueue(track: 2, index: nil))
            .after(.enqueue(track: 12, index: nil))
        waiting.refuses(.enqueue(track: 1, index: 2), with: .conflict)
        waiting.refuses(.play(entry: 4), with: .conflict)
        let shorter = waiting.after(.dequeue(entry: 2))
        shorter.after(.finish(entry: 1), after: 10).when(
            .finish(entry: 3), after: 10,
            then: .entryFinished(
                entry: 3, track: 2, reason: .ended, startedAt: .start(plus: 10), playedMs: 10, by: 1),
            .entryRemoved(entry: 4, by: nil, why: ChoiceReason(rule: .repeatAfterPlays, rank: [1, 2])),
            .playbackStopped(by: 1))
    }

    @Test func `the waiting entries of a member are limited`() {
        var update = RoomUpdate()
        update.settings.maxWaitingPerMember = 2
        let room = RoomScenario.given(RoomScenario.waiting).after(.updateRoom(update))
        room.refuses(.enqueue(track: 4, index: nil), with: .limitReached)
        room.after(.enqueue(track: 4, index: nil), by: .bob).refuses(
            .enqueue(track: 4, index: nil), by: .bob, with: .limitReached)
        _ = room.after(.dequeue(entry: 1)).after(.enqueue(track: 4, index: nil))
    }

    @Test func `guests add tracks only if the room allows it`() {
        let room = RoomScenario.given(RoomScenario.people)
        room.refuses(.addTracks([.titled("x")]), by: .cyd, with: .forbidden)
        var update = RoomUpdate()
        update.settings.guestsMayAdd = true
        let open = room.after(.updateRoom(update)).after(.addTracks([.titled("x")]), by: .cyd)
        #expect(open.room.tracks[1]?.addedBy == 3)
        open.refuses(.removeTracks([1]), by: .cyd, with: .forbidden)
        open.refuses(.enqueue(track: 1, index: nil), by: .cyd, with: .forbidden)
    }
}

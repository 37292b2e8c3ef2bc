import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

/// Folding is total: a log that does not fit causes no harm.
@Suite struct FoldTests {
    @Test func `an event out of its place changes nothing`() {
        let before = RoomScenario.given(RoomScenario.people).room
        for seq in [before.seq, before.seq + 2, 0, -1, Int.max, Int.min] {
            var room = before
            room.evolve(RecordedEvent(seq: seq, at: .start(plus: 5), event: .roomClosed))
            #expect(room == before)
        }
    }

    static let unfit: [RoomEvent] = [
        RoomScenario.founded[0],
        .memberJoined(member: 2, name: "X", role: .guest, session: .eve),
        .memberJoined(member: 0, name: "X", role: .guest, session: .eve),
        .memberJoined(member: 9, name: "X", role: .guest, session: .cyd),
        .memberJoined(member: MemberID(rawValue: .max), name: "X", role: .guest, session: .eve),
        .memberLeft(MemberLeft(member: 9, reason: .left)),
        .memberRenamed(member: 9, name: "X"), .roleChanged(member: 9, role: .dj),
        .memberBanned(member: 3, by: 1, session: .cyd), .memberUnbanned(member: 3, by: 1),
        .tracksAdded(tracks: [NumberedTrack(id: 1, info: .titled("X"))], by: 1),
        .tracksAdded(tracks: [NumberedTrack(id: TrackID(rawValue: .max), info: .titled("X"))], by: 1),
        .tracksRemoved(tracks: [9, 1], by: 1),
        .voteCast(track: 9, by: 1, votes: 1, requestedSeq: 1), .voteCast(track: 1, by: 9, votes: 1, requestedSeq: 1),
        .voteCast(track: 1, by: 1, votes: 1, requestedSeq: 999),
        .voteWithdrawn(track: 1, by: 1, votes: 0, requestedSeq: nil),
        .voteWithdrawn(track: 9, by: 1, votes: 0, requestedSeq: nil), .votesCleared(track: 9),
        .entryEnqueued(entry: 1, track: 1, index: 0, by: 1), .entryEnqueued(entry: 4, track: 9, index: 0, by: 1),
        .entryEnqueued(entry: 4, track: 1, index: 3, by: 1), .entryEnqueued(entry: 4, track: 1, index: -1, by: 1),
        .entryEnqueued(entry: EntryID(rawValue: .max), track: 1, index: 0, by: 1),
        .entryRemoved(entry: 9, by: 1), .entryMoved(entry: 9, index: 0, by: 1),
        .entryMoved(entry: 2, index: 2, by: 1), .entryMoved(entry: 2, index: -1, by: 1),
        .playbackStarted(entry: 9, track: 1, positionMs: 0, at: .start(plus: 0), by: 1),
        .playbackStarted(entry: 2, track: 1, positionMs: 0, at: .start(plus: 0), by: 1),
        .entryFinished(entry: 2, track: 2, reason: .ended, startedAt: .start(plus: 0), playedMs: 0),
    ]

    @Test(arguments: unfit.indices) func `an event that does not fit moves only the position on`(index: Int) {
        let before = RoomScenario.given(RoomScenario.playing).room
        var room = before
        room.evolve(RecordedEvent(seq: before.seq + 1, at: .start(plus: 5), event: Self.unfit[index]))
        var expected = before
        expected.seq += 1
        expected.lastEventAt = .start(plus: 5)
        #expect(room == expected)
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
    }

    @Test func `playback events on a silent deck change nothing`() {
        let before = RoomScenario.given(RoomScenario.waiting).room
        let events: [RoomEvent] = [
            .playbackPaused(positionMs: 1, at: .start(plus: 0), by: 1),
            .playbackResumed(positionMs: 1, at: .start(plus: 0), by: 1),
            .playbackSeeked(positionMs: 1, at: .start(plus: 0), by: 1), .playbackStopped,
        ]
        for event in events {
            var room = before
            room.evolve(RecordedEvent(seq: before.seq + 1, at: before.lastEventAt, event: event))
            var expected = before
            expected.seq += 1
            #expect(room == expected)
        }
    }

    @Test func `a room's time never goes back`() {
        var room = RoomScenario.given(RoomScenario.people).room
        room.evolve(RecordedEvent(seq: room.seq + 1, at: Timestamp(milliseconds: 5), event: .roomClosed))
        #expect(room.lastEventAt == RoomScenario.start)
        #expect(
            room.recorded([.roomClosed, .roomClosed], at: Timestamp(milliseconds: 7)).map(\.at) == [
                RoomScenario.start, RoomScenario.start,
            ])
        #expect(
            room.recorded([.roomClosed, .roomClosed], at: .start(plus: 7)).map(\.seq) == [room.seq + 1, room.seq + 2])
    }

    @Test func `extreme times and positions neither trap a fold nor a decision`() throws {
        let extremes: [Int64] = [.min, -1, 0, 1, .max]
        for early in extremes {
            for late in extremes {
                for position in extremes {
                    var room = RoomScenario.given(RoomScenario.waiting).room
                    let at = Timestamp(milliseconds: late)
                    let events: [RoomEvent] = [
                        .playbackStarted(
                            entry: 1, track: 1, positionMs: position, at: Timestamp(milliseconds: early), by: 1),
                        .playbackSeeked(positionMs: position, at: at, by: 1),
                        .playbackPaused(positionMs: position, at: at, by: 1),
                        .playbackResumed(positionMs: position, at: Timestamp(milliseconds: early), by: 1),
                    ]
                    for event in events {
                        room.evolve(RecordedEvent(seq: room.seq + 1, at: at, event: event))
                        for command in [RoomCommand.pause, .resume, .skip, .seek(positionMs: 1), .play(entry: 2)] {
                            _ = try room.decide(command, by: .ana, at: at)
                        }
                    }
                    let told: [RoomEvent] = [
                        .playbackSeeked(positionMs: 0, at: at, by: 1, playedMs: position),
                        .entryFinished(
                            entry: 1, track: 1, reason: .ended, startedAt: at, playedMs: position,
                            endedAt: Timestamp(milliseconds: early)),
                        .playbackStarted(
                            entry: 2, track: 2, positionMs: position, at: at, by: 1,
                            startedAt: Timestamp(milliseconds: early), playedMs: position),
                    ]
                    for event in told {
                        room.evolve(RecordedEvent(seq: room.seq + 1, at: at, event: event))
                        _ = try room.decide(.skip, by: .ana, at: at)
                        for deck in Self.decks(at: Timestamp(milliseconds: early)) {
                            _ = try? room.decide(.syncDeck(deck), by: .ana, at: at)
                        }
                        _ = room.invariantViolations(atCommandBoundary: true)
                    }
                }
            }
        }
    }

    /// What a device may tell of a room whose times are nonsense.
    private static func decks(at time: Timestamp) -> [Deck] {
        [Deck.Item.track(1), .track(2), .track(3)].flatMap { item in
            [
                Deck(
                    played: [Deck.Played(item: item, startedAt: time, playedMs: 0, reason: .ended)], queue: [],
                    playback: .stopped),
                Deck(
                    queue: [],
                    playback: .onAir(item, isPaused: false, positionMs: 0, at: time, startedAt: time, playedMs: 0)),
                Deck(queue: [], playback: .onAir(item, isPaused: false, positionMs: 0, at: time)),
            ]
        }
    }

    @Test func `random events in any order leave a room whole`() {
        for seed in TestSeed.fixed(0..<30) {
            print("random events, seed \(seed)")
            var random = SeededRandom(seed: seed)
            var room = RoomScenario.given(RoomScenario.playing).room
            for _ in 0..<300 {
                let at = Timestamp(
                    milliseconds: room.lastEventAt.milliseconds + Int64.random(in: 0..<9, using: &random))
                room.evolve(RecordedEvent(seq: room.seq + 1, at: at, event: event(in: room, at: at, &random)))
                let violations = room.invariantViolations(atCommandBoundary: false)
                #expect(violations.isEmpty, "seed \(seed)")
            }
        }
    }

    private func event(in room: RoomState, at: Timestamp, _ random: inout SeededRandom) -> RoomEvent {
        func number(_ top: Int) -> Int { Int.random(in: -1...top, using: &random) }
        let member = MemberID(rawValue: number(room.nextMember + 1))
        let track = TrackID(rawValue: number(room.nextTrack + 1))
        let entry = EntryID(rawValue: number(room.nextEntry + 1))
        let index = number(room.queue.count + 1)
        let session = SessionID.numbered(number(8))
        let position = Int64(number(100_000) + 1)
        return switch Int.random(in: 0..<20, using: &random) {
        case 0: .memberJoined(member: member, name: "N", role: .guest, session: session)
        case 1: .memberLeft(MemberLeft(member: member, reason: .left))
        case 2: .memberBanned(member: member, by: 1, session: session)
        case 3: .memberUnbanned(member: member, by: 1)
        case 4: .tracksAdded(tracks: [NumberedTrack(id: track, info: .titled("T\(number(9))"))], by: member)
        case 5: .tracksRemoved(tracks: [track, TrackID(rawValue: number(room.nextTrack))], by: member)
        case 6, 7: .voteCast(track: track, by: member, votes: number(9), requestedSeq: number(room.seq + 2))
        case 8: .voteWithdrawn(track: track, by: member, votes: number(9), requestedSeq: number(room.seq))
        case 9: .votesCleared(track: track)
        case 10, 11: .entryEnqueued(entry: entry, track: track, index: index, by: member)
        case 12: .entryRemoved(entry: entry, by: member)
        case 13: .entryMoved(entry: entry, index: index, by: member)
        case 14, 15:
            .playbackStarted(
                entry: entry, track: room.queue.first { $0.id == entry }?.track ?? track, positionMs: position, at: at,
                by: member)
        case 16: .playbackPaused(positionMs: position, at: at, by: member)
        case 17: .playbackResumed(positionMs: position, at: at, by: member)
        case 18: .playbackStopped
        default: .entryFinished(entry: entry, track: track, reason: .ended, startedAt: at, playedMs: position)
        }
    }

    @Test func `indexes can be rebuilt from the data that they derive from`() {
        let room = RoomScenario.given(RoomScenario.playing).after(.vote(track: 4), by: .cyd).after(.vote(track: 4))
            .after(.setMissing([3])).room
        var restored = room
        restored.memberOfSession = [:]
        restored.missing = []
        restored.votesOfMember = [:]
        restored.poolOrder = []
        restored.poolCharge = 0
        restored.rebuildIndexes()
        #expect(restored == room)
    }

    @Test func `violated invariants are reported`() {
        let room = RoomScenario.given(RoomScenario.playing).after(.vote(track: 4), by: .cyd).room
        let breaks: [(inout RoomState) -> Void] = [
            { $0.members[1]?.role = .guest }, { $0.members[3]?.role = .owner }, { $0.members[1] = nil },
            { $0.tracks[4]?.votes = 2 }, { $0.tracks[4]?.requestedSeq = nil }, { $0.voters[4] = nil },
            { $0.voters[3] = [] }, { $0.votesOfMember[4] = [1] }, { $0.votesOfMember[3] = nil },
            { $0.tracks[1] = nil }, { $0.tracks[3] = nil }, { $0.poolOrder.swapAt(0, 1) },
            { $0.queue.append(QueueEntry(id: 1, track: 1, addedBy: nil)) },
            { $0.queue.append(QueueEntry(id: 7, track: 1, addedBy: nil)) }, { $0.bans[.cyd] = Ban(member: 3) },
            { $0.additions[.cyd] = Timestamp(milliseconds: .max) },
            { $0.nextMember = 2 }, { $0.nextTrack = 2 }, { $0.onAir?.heardMs = -1 },
            { $0.memberOfSession[.eve] = 3 },
            { $0.poolCharge += 1 }, { $0.missing = [2] }, { $0.tracks[2]?.isMissing = true },
        ]
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
        for (index, damage) in breaks.enumerated() {
            var broken = room
            damage(&broken)
            #expect(!broken.invariantViolations(atCommandBoundary: true).isEmpty, "damage \(index)")
        }
    }
}

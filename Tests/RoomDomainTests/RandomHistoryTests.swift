import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

/// Rooms that many people use at random: whatever they do, the room and its log stay consistent.
@Suite struct RandomHistoryTests {
    /// The results of a random history.
    struct History {
        var log: [RecordedEvent] = []
        /// Copies of the room at intermediate positions, each with the number of events before it.
        var copies: [(room: RoomState, count: Int)] = []
        var room = RoomState(id: .sample)
        var refusals = 0
    }

    @Test(arguments: 0..<20)
    func `replay, copies on the way and what clients fold agree with the live room`(block: Int) {
        for seed in TestSeed.fixed(UInt64(block * 12)..<UInt64(block * 12 + 12)) {
            print("random history, seed \(seed)")
            let history = play(seed: seed, commands: 120)
            #expect(replay(history.log, onto: RoomState(id: .sample)) == history.room, "seed \(seed)")
            for (copy, count) in history.copies {
                #expect(replay(history.log[count...], onto: copy) == history.room, "seed \(seed), from \(count)")
            }
            #expect(history.log.map(\.seq) == Array(1...history.log.count), "seed \(seed)")
            #expect(history.log.map(\.at) == history.log.map(\.at).sorted(), "seed \(seed)")
        }
    }

    /// `Scripts/simulate --events 1000000` plays a million.
    @Test func `after each of 5,000 events the room, its numbers, its rules and its stored form are whole`() throws {
        let tally = try RandomRoom.play(events: 5_000, seed: TestSeed.fixed(0))
        // The run does not stop between a command's events.
        #expect((5_000..<5_100).contains(tally.events))
        #expect(tally.kinds.count == RoomEvent.Kind.allCases.count, "\(tally.kinds)")
    }

    @Test func `the same seed gives the same history`() {
        let seed = TestSeed.fixed(77)
        let (one, other) = (play(seed: seed, commands: 200), play(seed: seed, commands: 200))
        #expect(one.log == other.log)
        #expect(one.room == other.room)
    }

    @Test func `random histories reach every event, and many end open`() {
        var kinds: Set<String> = []
        var open = 0
        var refusals = 0
        var events = 0
        // Some events are rare: histories are played until enough were seen, long before the last seed.
        for seed in TestSeed.fixed(5_000..<5_300)
        where kinds.count < RoomEvent.Kind.allCases.count || open <= 10 || refusals <= 1_000 || events <= 1_500 {
            let history = play(seed: seed, commands: 200)
            for recorded in history.log { kinds.insert(String("\(recorded.event)".prefix { $0 != "(" })) }
            open += history.room.isOpen ? 1 : 0
            refusals += history.refusals
            events += history.log.count
        }
        #expect(kinds == Set(RoomEvent.Kind.allCases.map(\.rawValue)))
        #expect(open > 10)
        #expect(refusals > 1_000)
        #expect(events > 1_500)
    }

    /// Small enough to be reached now and then.
    private static let budget = PoolBudget(bytes: 9_000)

    private func replay(_ events: some Sequence<RecordedEvent>, onto start: RoomState) -> RoomState {
        var room = start
        for event in events { room.evolve(event) }
        return room
    }

    private func play(seed: UInt64, commands: Int) -> History {
        var history = History()
        var input = RandomInput(random: SeededRandom(seed: seed))
        var view = ClientView()
        append(RoomScenario.founded, at: RoomScenario.start, to: &history, &view, seed)
        for number in 0..<commands {
            let command = input.command(for: history.room)
            let actor = input.actor(for: command, in: history.room)
            let now = input.instant(after: history.room.lastEventAt)
            let (room, online) = (history.room, input.online(in: history.room))
            func decide() -> Result<[RoomEvent], RoomRefusal> {
                Result { () throws(RoomRefusal) in
                    try room.decide(command, by: actor, at: now, online: online, within: Self.budget)
                }
            }
            let (first, second) = (decide(), decide())
            #expect(first == second, "seed \(seed)")
            switch first {
            case .success(let events):
                append(events, at: now, to: &history, &view, seed)
                expectNothingLeftToDo(command, by: actor, after: history.room, at: now, online, seed)
            case .failure: history.refusals += 1
            }
            if number % 40 == 20 { history.copies.append((history.room, history.log.count)) }
        }
        return history
    }

    private func append(
        _ events: [RoomEvent], at now: Timestamp, to history: inout History, _ view: inout ClientView, _ seed: UInt64
    ) {
        for (index, event) in history.room.recorded(events, at: now).enumerated() {
            history.room.evolve(event)
            history.log.append(event)
            view.fold(event)
            let violations = history.room.invariantViolations(atCommandBoundary: index == events.count - 1)
            #expect(violations.isEmpty, "seed \(seed), event \(event)")
            // A measured length is not refused, although it may take more bytes.
            if case .tracksAdded = event.event {
                #expect(history.room.poolCharge <= Self.budget.bytes, "seed \(seed), event \(event)")
            }
            #expect(view == ClientView(of: history.room), "seed \(seed), event \(event)")
        }
    }

    /// Checks that a granted command, given again at once, changes nothing, unless it names a further step.
    private func expectNothingLeftToDo(
        _ command: RoomCommand, by actor: Actor, after room: RoomState, at now: Timestamp, _ online: Set<MemberID>,
        _ seed: UInt64
    ) {
        guard room.isOpen else { return }
        switch command {
        // What was heard is heard once; and a device that knows no more than before asks for its tracks again.
        case .syncDeck(let deck) where !deck.played.isEmpty || deck.known != nil: break
        case .skip(nil): break
        case .join, .rename, .updateRoom, .setRole, .unban, .setWaveform, .setDuration, .setMissing, .vote, .unvote,
            .move, .pause, .resume, .skip, .finish, .voteSkip, .unvoteSkip, .syncDeck, .countSkipVotes, .replaceOwner,
            .endMembership:
            #expect(throws: Never.self, "seed \(seed), \(command)") {
                let again = try room.decide(command, by: actor, at: now, online: online, within: Self.budget)
                #expect(again == [], "seed \(seed), \(command)")
            }
        case .leave, .closeRoom, .transferOwnership, .kick, .addTracks, .removeTracks, .enqueue, .dequeue, .play, .seek:
            break
        }
    }
}

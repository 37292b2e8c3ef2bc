import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

/// Redaction of a room whose location was cleared.
@Suite struct RedactionTests {
    private let here = Coordinate(latitude: 52.5, longitude: 13.4)
    private var cell: RoundedLocation? { here?.rounded(toCellsOf: RoundedLocation.usualCell) }
    private let there = Coordinate(latitude: -33.8, longitude: 151.2)

    private func move(to location: Coordinate?) -> RoomCommand {
        var update = RoomUpdate()
        update.location = location
        update.clearLocation = location == nil
        return .updateRoom(update)
    }

    @Test func `a room knows which event cleared its location last`() {
        let placed = RoomScenario.given(RoomScenario.founded).after(move(to: here))
        #expect(placed.room.clearing == nil)
        #expect(placed.room.redaction.isEmpty)
        let cleared = placed.after(move(to: nil))
        #expect(cleared.room.clearing == cleared.room.seq)
        // Moving is not a clearing, and neither is clearing an absent location.
        let back = cleared.after(move(to: there)).after(move(to: here))
        #expect(back.room.clearing == cleared.room.seq)
        #expect(back.room.location == cell)
        #expect(cleared.after(move(to: nil)).room == cleared.room)
        #expect(back.after(move(to: nil)).room.clearing == back.room.seq + 1)
        #expect(back.after(.closeRoom(forget: true)).room.clearing == nil)
    }

    @Test func `events before the last clearing show no location, those after it do`() {
        var changes = RoomChanges()
        changes.name = "Cellar"
        changes.location = cell
        changes.by = 1
        let redaction = Redaction(clearing: 5)
        for seq in 1...6 {
            let recorded = RecordedEvent(seq: seq, at: RoomScenario.start, event: .roomUpdated(changes))
            var expected = changes
            if seq < 5 { expected.location = nil }
            #expect(redaction.shown(recorded).event == .roomUpdated(expected), "event \(seq)")
        }
        var clearing = RoomChanges()
        clearing.locationCleared = true
        let cleared = RecordedEvent(seq: 2, at: RoomScenario.start, event: .roomUpdated(clearing))
        #expect(redaction.shown(cleared) == cleared)
        #expect(Redaction(by: [cleared]) == Redaction(clearing: 2))
        let forgotten = RecordedEvent(seq: 3, at: RoomScenario.start, event: .roomClosed(forget: true))
        #expect(Redaction(by: [cleared, forgotten]) == Redaction(isForgotten: true, clearing: 2))
        #expect(Redaction(by: []).isEmpty)
    }

    @Test(arguments: 0..<20)
    func `at any position, folding redacted events equals redacting the fold`(block: Int) {
        for seed in TestSeed.fixed(UInt64(block * 8)..<UInt64(block * 8 + 8)) {
            print("a room that is cleared, seed \(seed)")
            var input = RandomInput(random: SeededRandom(seed: seed))
            var room = RoomState(id: .sample)
            var log: [RecordedEvent] = []
            func decide(_ command: RoomCommand, by actor: Actor, at now: Timestamp) {
                guard let events = try? room.decide(command, by: actor, at: now) else { return }
                for event in room.recorded(events, at: now) {
                    room.evolve(event)
                    log.append(event)
                }
            }
            for event in room.recorded(RoomScenario.founded, at: RoomScenario.start) {
                room.evolve(event)
                log.append(event)
            }
            for _ in 0..<60 {
                let moves = input.random.once(in: 4)
                let place = input.random.once(in: 2) ? nil : here
                let command = moves ? move(to: place) : input.command(for: room)
                let actor = input.random.once(in: 3) ? .server : input.actor(for: command, in: room)
                decide(command, by: actor, at: input.instant(after: room.lastEventAt))
            }
            let redaction = room.redaction
            var (before, shown) = (RoomState(id: .sample), RoomState(id: .sample))
            for event in log {
                before.evolve(event)
                shown.evolve(redaction.shown(event))
                var expected = before
                redaction.redact(&expected)
                #expect(shown == expected, "seed \(seed), event \(event.seq)")
                #expect(event.seq >= redaction.clearing ?? 0 || shown.location == nil, "seed \(seed)")
            }
            // Whether or not it is rewritten, the log folds into one room.
            #expect(shown == room, "seed \(seed)")
            #expect(redaction.shown(redaction.shown(log)) == redaction.shown(log))
        }
    }
}

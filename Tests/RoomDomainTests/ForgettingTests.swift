import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

/// A room whose owner has it forgotten.
@Suite struct ForgettingTests {
    private let here = Coordinate(latitude: 52.5, longitude: 13.4)
    private var cell: RoundedLocation? { here?.rounded(toCellsOf: RoundedLocation.usualCell) }

    private var placed: RoomScenario {
        var update = RoomUpdate()
        update.location = here
        return RoomScenario.given(RoomScenario.playing).after(.updateRoom(update))
    }

    @Test func `closing a room to be forgotten takes its location and its members' names`() {
        let forgotten = placed.when(
            .closeRoom(forget: true), after: 5, then: .roomClosed(forget: true, by: 1)
        ).room
        #expect(forgotten.closedAt == .start(plus: 5))
        #expect(forgotten.isForgotten)
        #expect(forgotten.location == nil)
        #expect(Set(forgotten.members.values.map(\.name)) == ["-"])
        #expect(forgotten.members.count == 4)
    }

    @Test func `closing without forgetting removes nothing`() {
        let closed = placed.when(.closeRoom, then: .roomClosed(forget: false, by: 1)).room
        #expect(!closed.isForgotten)
        #expect(closed.location == cell)
        #expect(closed.members[1]?.name != "-")
    }

    @Test func `the owner may have a closed room forgotten, once`() {
        let closed = placed.after(.closeRoom)
        let forgotten = closed.when(.closeRoom(forget: true), after: 9, then: .roomClosed(forget: true, by: 1))
        #expect(forgotten.room.closedAt == closed.room.closedAt)
        #expect(forgotten.room.isForgotten)
        forgotten.changesNothing(.closeRoom(forget: true))
        forgotten.refuses(.closeRoom, with: .roomClosed)
        forgotten.refuses(.rename(name: "Ana"), with: .roomClosed)
    }

    @Test func `nobody but the owner may have a room forgotten`() {
        for room in [placed, placed.after(.closeRoom), placed.after(.closeRoom(forget: true))] {
            room.refuses(.closeRoom(forget: true), by: .bob, with: .forbidden)
            room.refuses(.closeRoom(forget: true), by: .cyd, with: .forbidden)
            room.refuses(.closeRoom(forget: true), by: .eve, with: .notMember)
        }
        RoomScenario.given([]).refuses(.closeRoom(forget: true), by: .server, with: .roomClosed)
    }

    @Test func `an event without personal data keeps all other values`() {
        let location = cell
        var settings = RoomSettings()
        settings.skipRatio = 0.25
        var room = RoomCreated(
            id: .sample, code: .zero, name: "Kitchen", location: location, visibility: .public, settings: settings)
        var changes = RoomChanges()
        changes.name = "Cellar"
        changes.location = location
        changes.by = 1
        changes.note = "Bob moved"
        let left = MemberLeft(
            member: 2, reason: .kicked, by: 1, note: "Bob sang", votes: [.init(track: 1, votes: 0, requestedSeq: nil)])
        let bare = [
            .roomCreated(room), .memberJoined(member: 2, name: "Bob", role: .dj, session: .bob),
            .memberRenamed(member: 2, name: "Bobby"), .roomUpdated(changes), .memberLeft(left),
            .memberBanned(member: 2, by: 1, session: .bob, until: .start(plus: 9), note: "Bob sang"),
            .memberUnbanned(member: 2, by: 1, note: "Bob is sorry"),
            .roleChanged(member: 2, role: .dj, by: 1, note: "Bob can"),
            .roleChanged(member: 2, role: .owner, note: RoomState.ownerLeft),
            .roomClosed(forget: true, by: 2, note: "Bob sleeps"), RoomEvent.playbackStopped,
        ].map(\.withoutPersonalData)
        room.location = nil
        changes.location = nil
        changes.note = nil
        #expect(
            bare == [
                .roomCreated(room), .memberJoined(member: 2, name: "-", role: .dj, session: .bob),
                .memberRenamed(member: 2, name: "-"), .roomUpdated(changes),
                .memberLeft(MemberLeft(member: 2, reason: .kicked, by: 1, votes: left.votes)),
                .memberBanned(member: 2, by: 1, session: .bob, until: .start(plus: 9)),
                .memberUnbanned(member: 2, by: 1), .roleChanged(member: 2, role: .dj, by: 1),
                .roleChanged(member: 2, role: .owner, note: RoomState.ownerLeft),
                .roomClosed(forget: true, by: 2), .playbackStopped,
            ])
    }

    @Test(arguments: 0..<20)
    func `at any position, folding events without personal data equals removing it from the fold`(block: Int) {
        for seed in TestSeed.fixed(UInt64(block * 8)..<UInt64(block * 8 + 8)) {
            print("a room that is forgotten, seed \(seed)")
            var input = RandomInput(random: SeededRandom(seed: seed))
            var (room, bare) = (RoomState(id: .sample), RoomState(id: .sample))
            func fold(_ events: [RoomEvent], at now: Timestamp) {
                for event in room.recorded(events, at: now) {
                    room.evolve(event)
                    bare.evolve(event.withoutPersonalData)
                    var expected = room
                    expected.dropPersonalData()
                    #expect(bare == expected, "seed \(seed), \(event)")
                }
            }
            fold(RoomScenario.founded, at: RoomScenario.start)
            for _ in 0..<80 {
                let command = input.command(for: room)
                let now = input.instant(after: room.lastEventAt)
                let actor = input.actor(for: command, in: room)
                if let events = try? room.decide(command, by: actor, at: now) { fold(events, at: now) }
            }
            if let events = try? room.decide(.closeRoom(forget: true), by: .server, at: room.lastEventAt) {
                fold(events, at: room.lastEventAt)
            }
            #expect(room.isForgotten)
            // Whether or not it is rewritten, the log folds into one room.
            #expect(bare == room, "seed \(seed)")
        }
    }
}

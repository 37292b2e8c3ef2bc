import GeoSearch
import RoomDomain
import RoomTestSupport
import Testing

@Suite struct RoomUpdateTests {
    let people = RoomScenario.given(RoomScenario.people)
    let here = Coordinate(latitude: 48.2, longitude: 16.4)

    private func update(_ change: (inout RoomUpdate) -> Void) -> RoomCommand {
        var update = RoomUpdate()
        change(&update)
        return .updateRoom(update)
    }

    private func changed(_ change: (inout RoomChanges) -> Void) -> RoomEvent {
        var changes = RoomChanges()
        changes.by = 1
        change(&changes)
        return .roomUpdated(changes)
    }

    @Test func `a founding makes the room and its owner`() throws {
        let events = try RoomState.found(
            RoomFounding(
                id: .sample, code: .zero, name: " Kitchen ", location: nil, visibility: .public,
                settings: SettingsUpdate(), founder: .ana, founderName: "Ana"))
        #expect(events == RoomScenario.founded)
        let room = RoomScenario.given(events).room
        #expect(room.name == "Kitchen")
        #expect(room.createdAt == RoomScenario.start)
        #expect(room.isOpen)
        #expect(room.invariantViolations(atCommandBoundary: true).isEmpty)
    }

    @Test(arguments: [
        ("", "have 1 to 80 characters, one of them visible"),
        (" \u{200B}", "have 1 to 80 characters, one of them visible"),
        ("a\tb", "not have U+0009, which is a control character"),
        (String(repeating: "x", count: 81), "have 1 to 80 characters, one of them visible"),
    ])
    func `a room's name keeps to the rule`(name: String, requirement: String) {
        #expect(throws: RoomRefusal.badRequest("name must \(requirement)")) {
            try RoomState.found(
                RoomFounding(
                    id: .sample, code: .zero, name: name, location: nil, visibility: .public,
                    settings: SettingsUpdate(), founder: .ana, founderName: "Ana"))
        }
        people.refuses(update { $0.name = name }, with: .badRequest)
    }

    @Test func `only what differs is recorded`() {
        people.when(
            update {
                $0.name = "Kitchen"
                $0.visibility = .unlisted
            }, then: changed { $0.visibility = .unlisted })
        people.changesNothing(
            update {
                $0.name = " Kitchen "
                $0.visibility = .public
                $0.settings.skipRatio = 0.5
                $0.settings.queueMode = .dj
            })
        people.changesNothing(update { _ in })
    }

    @Test func `a location is rounded, set, and taken away`() {
        let cell = here?.rounded(toCellsOf: RoundedLocation.usualCell)
        #expect(cell != nil && cell?.coordinate != here)
        let room =
            people
            .when(update { $0.location = here }, then: changed { $0.location = cell })
            .changesNothing(update { $0.location = here })
            .changesNothing(update { $0.location = cell?.coordinate })
            .when(update { $0.clearLocation = true }, then: changed { $0.locationCleared = true })
            .changesNothing(update { $0.clearLocation = true }).room
        #expect(room.location == nil)
    }

    @Test func `a location cannot be set and taken away at once`() {
        people.refuses(
            update {
                $0.location = here
                $0.clearLocation = true
            }, with: .badRequest)
    }

    @Test func `changed settings are recorded whole`() {
        var settings = RoomSettings()
        settings.maxWaitingPerMember = 500
        settings.repeatAfterPlays = 10_000
        settings.skipRatio = 1
        settings.queueLocked = true
        settings.slowModeMs = 3_600_000
        settings.ownerAwayMs = 2_592_000_000
        let scenario = people.when(
            update {
                $0.settings.maxWaitingPerMember = 500
                $0.settings.repeatAfterPlays = 10_000
                $0.settings.skipRatio = 1
                $0.settings.queueLocked = true
                $0.settings.slowModeMs = 3_600_000
                $0.settings.ownerAwayMs = 2_592_000_000
            }, then: changed { $0.settings = settings })
        #expect(scenario.room.settings == settings)
        // And back to what a new room has.
        let back = scenario.after(
            update {
                $0.settings.maxWaitingPerMember = 0
                $0.settings.repeatAfterPlays = 0
                $0.settings.skipRatio = 0.5
                $0.settings.queueLocked = false
                $0.settings.slowModeMs = 0
                $0.settings.ownerAwayMs = 0
            })
        #expect(back.room.settings == RoomSettings())
    }

    @Test(arguments: [-0.1, 1.1, .nan, .infinity, -.infinity])
    func `a skip ratio out of range is refused`(ratio: Double) {
        people.refuses(update { $0.settings.skipRatio = ratio }, with: .badRequest)
    }

    @Test func `counts out of range are refused`() {
        for count in [-1, 501, .max] {
            people.refuses(update { $0.settings.maxWaitingPerMember = count }, with: .badRequest)
        }
        for count in [-1, 10_001, .min] {
            people.refuses(update { $0.settings.repeatAfterPlays = count }, with: .badRequest)
        }
        for count in [-1, 3_600_001, .max] {
            people.refuses(update { $0.settings.slowModeMs = count }, with: .badRequest)
        }
        for count in [-1, 2_592_000_001, .max] {
            people.refuses(update { $0.settings.ownerAwayMs = count }, with: .badRequest)
        }
    }

    @Test func `a closed room takes no commands`() {
        let closed = people.when(.closeRoom, after: 5, then: .roomClosed(forget: false, by: 1))
        #expect(closed.room.closedAt == .start(plus: 5))
        closed.refuses(.closeRoom, with: .roomClosed)
        closed.refuses(.join(name: nil), by: .eve, with: .roomClosed)
        closed.refuses(.vote(track: 1), by: .eve, with: .roomClosed)
        closed.refuses(.skip, by: .server, with: .roomClosed)
    }

    @Test func `a room before its first event takes no commands`() {
        RoomScenario.given([]).refuses(.join(name: nil), by: .eve, with: .roomClosed)
    }
}

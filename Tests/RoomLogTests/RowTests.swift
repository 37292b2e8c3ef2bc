import EventStorage
import FoundationEssentials
import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomTestSupport
import RoomWire
import Testing

/// Rooms as rows of the log, and back, over random histories.
@Suite struct RowTests {
    /// A room's events, and its state before the first and after each of them.
    private struct History {
        var states: [RoomState]
        var events: [RecordedEvent] = []
        /// The places of the events of each command, which are written together.
        var commands: [Range<Int>] = []

        var room: RoomState { states[states.count - 1] }
        var rows: [StoredEvent] { events.map { EventJSON.stored($0, in: room.id) } }

        init(seed: UInt64) throws {
            var input = RandomInput(random: SeededRandom(seed: seed))
            let id = RoomID(UUID(uuid: (1, 0x93, 0x50, 0x3F, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 9)))
            states = [RoomState(id: id)]
            guard case .session(let founder, let name) = RandomInput.sessions[0] else { return }
            let founding = RoomFounding(
                id: id, code: .zero, name: "Kitchen", location: Coordinate(latitude: 52.5, longitude: 13.4),
                visibility: .public, settings: SettingsUpdate(), founder: founder, founderName: name)
            add(try RoomState.found(founding), at: Timestamp(milliseconds: 1_000_000))
            // Some settings let few commands through.
            for _ in 0..<3_000 where events.count < 150 {
                let command = input.command(for: room)
                let actor = input.actor(for: command, in: room)
                let now = input.instant(after: room.lastEventAt)
                let decided = try? room.decide(command, by: actor, at: now, online: input.online(in: room))
                // The room is closed at the end, and by then it has a history.
                guard let decided, !decided.contains(where: \.closesRoom) else { continue }
                add(decided, at: now)
            }
            let end = room.lastEventAt
            if let closed = try? room.decide(.closeRoom(forget: seed % 2 == 0), by: .server, at: end) {
                add(closed, at: end)
            }
        }

        private mutating func add(_ decided: [RoomEvent], at now: Timestamp) {
            let first = events.count
            for event in room.recorded(decided, at: now) {
                var next = room
                next.evolve(event)
                events.append(event)
                states.append(next)
            }
            commands.append(first..<events.count)
        }
    }

    @Test(arguments: TestSeed.several())
    func `stored events fold to the room, in pages of any size`(seed: UInt64) throws {
        let history = try History(seed: seed)
        var random = SeededRandom(seed: seed)
        var folded = history.states[0]
        var rest = history.rows[...]
        while !rest.isEmpty {
            let page = rest.prefix(Int.random(in: 1...40, using: &random))
            rest = rest.dropFirst(page.count)
            let first = folded.seq
            let events = try folded.fold(Array(page), through: first + page.count)
            #expect(events == Array(history.events[first..<(first + page.count)]))
            #expect(folded == history.states[folded.seq])
        }
        #expect(history.events.count > 20)
        #expect(folded == history.room)
    }

    @Test func `a page with a hole, out of order or too short changes nothing`() throws {
        let history = try History(seed: TestSeed.fresh())
        let rows = Array(history.rows[..<6])
        for (page, hole) in [
            (rows.filter { $0.seq != 3 }, 3), (Array(rows.reversed()), 1), (Array(rows[..<5]), 6), ([], 1),
            (rows + [rows[5]], 7),
        ] {
            var room = history.states[0]
            #expect(throws: LogFault.hole(at: hole)) { try room.fold(page, through: 6) }
            #expect(room == history.states[0])
        }
    }

    @Test func `an event that cannot be read changes nothing`() throws {
        let history = try History(seed: TestSeed.fresh())
        var rows = Array(history.rows[..<4])
        rows[2].type = "somethingNew"
        var room = history.states[0]
        let error = #expect(throws: LogFault.self) { try room.fold(rows, through: 4) }
        guard case .unreadable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(room == history.states[0])
    }

    @Test(arguments: TestSeed.several())
    func `a snapshot is the room at its position`(seed: UInt64) throws {
        let history = try History(seed: seed)
        for state in history.states.dropFirst(2) where state.seq % 7 == 0 {
            #expect(try StoredSnapshot(of: state).state(of: state.id) == state)
        }
    }

    @Test func `a snapshot that is damaged, misplaced or another room's is not taken`() throws {
        let history = try History(seed: TestSeed.fresh())
        let room = history.room
        let whole = StoredSnapshot(of: room)
        var (damaged, misplaced) = (whole, whole)
        damaged.state[damaged.state.count / 2] ^= 1
        misplaced.seq -= 1
        for snapshot in [damaged, misplaced] {
            #expect(throws: LogFault.self) { try snapshot.state(of: room.id) }
        }
        let other = RoomID(UUID(uuid: (1, 0x93, 0x50, 0x3F, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 8)))
        #expect(throws: LogFault.self) { try whole.state(of: other) }
    }

    @Test(arguments: TestSeed.several())
    func `the directory's entry and the members change only by events that say so`(seed: UInt64) throws {
        let history = try History(seed: seed)
        for command in history.commands {
            let events = history.events[command]
            guard !events.contains(where: \.event.concernsDirectory) else { continue }
            let (before, after) = (history.states[command.lowerBound], history.states[command.upperBound])
            #expect(DirectoryEntry(of: before) == DirectoryEntry(of: after), "seed \(seed), \(events)")
        }
        for (place, event) in history.events.enumerated() {
            let (before, after) = (history.states[place], history.states[place + 1])
            let (left, right) = (Set(before.listedMembers), Set(after.listedMembers))
            switch event.event.membershipChange {
            case .began(let session):
                #expect(right.subtracting(left) == [session.uuid], "seed \(seed), \(event)")
                #expect(left.subtracting(right).isEmpty, "seed \(seed), \(event)")
            case .ended(let member):
                #expect(left.subtracting(right) == before.members[member].map { [$0.session.uuid] } ?? [])
                #expect(right.subtracting(left).isEmpty, "seed \(seed), \(event)")
            case nil:
                #expect(left == right || !after.isOpen, "seed \(seed), \(event)")
            }
        }
    }

    @Test(arguments: TestSeed.several())
    func `a closed room lists nobody, and tells when it was forgotten`(seed: UInt64) throws {
        let room = try History(seed: seed).room
        #expect(!room.isOpen)
        #expect(room.listedMembers.isEmpty)
        for session in room.memberOfSession.keys { #expect(!room.lists(session)) }
        #expect(room.forgetAt == (room.isForgotten ? room.lastEventAt.milliseconds : nil))
    }
}

extension RoomEvent {
    fileprivate var closesRoom: Bool { kind == .roomClosed }
}

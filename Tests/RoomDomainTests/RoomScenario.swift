import FoundationEssentials
import RoomDomain
import RoomTestSupport
import Testing

/// A room with given events, for trying a command: `given(…).when(…, then: …)`.
///
/// Every event is folded in, and the invariants are checked after each.
struct RoomScenario {
    /// The time of all given events; commands come `after` milliseconds later.
    static let start = Timestamp(milliseconds: 1_000_000)

    private(set) var room: RoomState

    /// A room after `events`, each recorded `spacing` milliseconds after the one before.
    static func given(_ events: [RoomEvent], spacing: Int64 = 0) -> RoomScenario {
        var scenario = RoomScenario(room: RoomState(id: .sample))
        for (index, event) in events.enumerated() {
            let at = Timestamp(milliseconds: start.milliseconds + Int64(index) * spacing)
            for recorded in scenario.room.recorded([event], at: at) { scenario.room.evolve(recorded) }
        }
        return scenario
    }

    /// Gives `command`, expects exactly these events, and folds them.
    @discardableResult
    func when(
        _ command: RoomCommand, by actor: Actor = .ana, after milliseconds: Int64 = 0, online: Set<MemberID> = [],
        then expected: RoomEvent..., sourceLocation: SourceLocation = #_sourceLocation
    ) -> RoomScenario {
        var next = self
        do {
            let events = try next.ask(command, by: actor, after: milliseconds, online: online, sourceLocation)
            #expect(events == expected, sourceLocation: sourceLocation)
        } catch {
            Issue.record("refused: \(error)", sourceLocation: sourceLocation)
        }
        return next
    }

    /// Gives `command` and expects that it is granted and changes nothing.
    @discardableResult
    func changesNothing(
        _ command: RoomCommand, by actor: Actor = .ana, after milliseconds: Int64 = 0, online: Set<MemberID> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> RoomScenario {
        when(command, by: actor, after: milliseconds, online: online, sourceLocation: sourceLocation)
    }

    /// Gives `command` and expects a refusal of this kind.
    @discardableResult
    func refuses(
        _ command: RoomCommand, by actor: Actor = .ana, after milliseconds: Int64 = 0, with kind: RefusalKind,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> RoomScenario {
        do {
            let now = Timestamp(milliseconds: room.lastEventAt.milliseconds + milliseconds)
            let events = try room.decide(command, by: actor, at: now)
            Issue.record("granted: \(events)", sourceLocation: sourceLocation)
        } catch {
            #expect(RefusalKind(error) == kind, "\(error)", sourceLocation: sourceLocation)
        }
        return self
    }

    /// The scenario after `command`, whatever events it causes; it must be granted.
    func after(
        _ command: RoomCommand, by actor: Actor = .ana, after milliseconds: Int64 = 0, online: Set<MemberID> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> RoomScenario {
        var next = self
        do {
            _ = try next.ask(command, by: actor, after: milliseconds, online: online, sourceLocation)
        } catch {
            Issue.record("refused: \(error)", sourceLocation: sourceLocation)
        }
        return next
    }

    private mutating func ask(
        _ command: RoomCommand, by actor: Actor, after milliseconds: Int64, online: Set<MemberID>,
        _ sourceLocation: SourceLocation
    ) throws(RoomRefusal) -> [RoomEvent] {
        let now = Timestamp(milliseconds: room.lastEventAt.milliseconds + milliseconds)
        let events = try room.decide(command, by: actor, at: now, online: online)
        for (index, recorded) in room.recorded(events, at: now).enumerated() {
            room.evolve(recorded)
            let violations = room.invariantViolations(atCommandBoundary: index == events.count - 1)
            #expect(violations.isEmpty, sourceLocation: sourceLocation)
        }
        return events
    }
}

/// A refusal without its text.
enum RefusalKind: Equatable {
    case badRequest, forbidden, banned, notFound, notMember, conflict, roomClosed, limitReached, rateLimited

    init(_ refusal: RoomRefusal) {
        self =
            switch refusal {
            case .badRequest: .badRequest
            case .forbidden: .forbidden
            case .banned: .banned
            case .notFound: .notFound
            case .notMember: .notMember
            case .conflict: .conflict
            case .roomClosed: .roomClosed
            case .limitReached: .limitReached
            case .rateLimited: .rateLimited
            }
    }
}

extension RoomScenario {
    /// A room with Ana as its only member.
    static let founded = [
        RoomEvent.roomCreated(
            RoomCreated(
                id: .sample, code: .zero, name: "Kitchen", location: nil, visibility: .public, settings: RoomSettings())
        ),
        .memberJoined(member: 1, name: "Ana", role: .owner, session: .ana),
    ]

    /// Ana's room with Bob, its DJ, and the guests Cyd and Dan.
    static let people =
        founded + [
            .memberJoined(member: 2, name: "Bob", role: .guest, session: .bob),
            .memberJoined(member: 3, name: "Cyd", role: .guest, session: .cyd),
            .memberJoined(member: 4, name: "Dan", role: .guest, session: .dan),
            .roleChanged(member: 2, role: .dj),
        ]

    /// The same with four tracks; the first lasts 200 s, the length of the others is not known.
    static let songs =
        people + [
            .tracksAdded(
                tracks: [
                    NumberedTrack(id: 1, info: .titled("One", durationMs: 200_000)),
                    NumberedTrack(id: 2, info: .titled("Two")), NumberedTrack(id: 3, info: .titled("Three")),
                    NumberedTrack(id: 4, info: .titled("Four")),
                ], by: 1)
        ]

    /// The same with entries 1, 2 and 3 for tracks 1, 2 and 3.
    static let waiting =
        songs + [
            .entryEnqueued(entry: 1, track: 1, index: 0, by: 1), .entryEnqueued(entry: 2, track: 2, index: 1, by: 1),
            .entryEnqueued(entry: 3, track: 3, index: 2, by: 2),
        ]

    /// The same with entry 1 on air since ``start``, and 2 and 3 waiting.
    static let playing = waiting + [.playbackStarted(entry: 1, track: 1, positionMs: 0, at: start, by: 2)]
}

extension Actor {
    static let ana = Actor.session(.ana, name: "Ana")
    static let bob = Actor.session(.bob, name: "Bob")
    static let cyd = Actor.session(.cyd, name: "Cyd")
    static let dan = Actor.session(.dan, name: "Dan")
    /// A session that is in no room.
    static let eve = Actor.session(.eve, name: "Eve")
}

extension SessionID {
    static let ana = numbered(1)
    static let bob = numbered(2)
    static let cyd = numbered(3)
    static let dan = numbered(4)
    static let eve = numbered(5)

    static func numbered(_ number: Int) -> SessionID {
        SessionID(UUID.makeV7(at: Timestamp(milliseconds: 1), random: (0, UInt64(bitPattern: Int64(number)))))
    }
}

extension RoomID {
    static let sample = RoomID(UUID.makeV7(at: Timestamp(milliseconds: 1), random: (0, 0)))
}

extension TrackInfo {
    static func titled(_ title: String, durationMs: Int64? = nil) -> TrackInfo {
        TrackInfo(source: "shelf", sourceID: "1", title: title, durationMs: durationMs)
    }
}

extension Timestamp {
    /// The scenario's start, plus some milliseconds.
    static func start(plus milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: RoomScenario.start.milliseconds + milliseconds)
    }
}

import FoundationEssentials
import RoomDomain
import RoomTestSupport
import RoomWire
import Synchronization
import Testing

@testable import RoomService

/// Which answers rest on the log, and what is counted once.
@Suite struct CommandDeciderTests {
    /// A room whose commands have places.
    private let id = RoomID(UUID())

    private func decide(
        _ request: inout CommandRequest, in room: borrowing RoomWriter, of parts: RoomParts
    ) -> RoomWriter.Decision {
        let decider = CommandDecider(
            of: parts.id, settings: parts.dependencies.settings, shares: parts.dependencies.shares)
        let sight = CommandDecider.Sight(
            online: [1, 2], lastSeen: nil, time: Timestamp(milliseconds: parts.clock.now), now: RoomParts.start)
        return decider.decide(&request, in: room, sight)
    }

    @Test func `a refusal by the room rests on the log, and one for its rate does not`() {
        let parts = RoomParts { $0.shares.maximumEventsPerRoom = 1 }
        let room = parts.room()
        var refused = RoomParts.command(.closeRoom(forget: false), by: .bob)
        guard case .settled(.failed(.refused(.forbidden))) = decide(&refused, in: room, of: parts) else {
            Issue.record("a guest closes the room")
            return
        }
        var decisions: [Bool] = []
        for _ in 0..<6 {
            var request = RoomParts.command(.rename(name: "Anna"))
            switch decide(&request, in: room, of: parts) {
            case .changed: decisions.append(true)
            case .answered(.failed(.refused(.rateLimited))): decisions.append(false)
            case .answered, .settled: Issue.record("another answer")
            }
        }
        #expect(decisions == [true, true, true, true, true, false])
    }

    @Test func `a command behind one that is put off is put off before that is answered`() {
        let parts = RoomParts { $0.shares.maximumEventsPerRoom = 1 }
        let room = parts.room()
        let order = CommandOrder()
        func decision(_ number: Int64, after earlier: Int64?, _ command: RoomCommand) -> RoomWriter.Decision {
            let place = CommandPlace(number, after: earlier, of: id, in: order)
            var request = RoomParts.command(command, place: place)
            return decide(&request, in: room, of: parts)
        }
        for number in 1...5 { _ = decision(Int64(number), after: nil, .rename(name: "Anna")) }
        let skip = RoomCommand.skip(entry: nil)
        guard case .answered(let putOff) = decision(6, after: 5, .rename(name: "Anna")) else {
            Issue.record("the sixth event is too many")
            return
        }
        // It costs nothing, so that it is carried out by itself.
        #expect(decision(7, after: 6, skip) == .answered(putOff))
        #expect(decision(8, after: 7, skip) == .answered(putOff))
        for (number, earlier) in [(9, nil), (10, 5), (11, 99)] as [(Int64, Int64?)] {
            guard case .changed = decision(number, after: earlier, skip) else {
                Issue.record("nothing is before \(number)")
                return
            }
        }
    }

    @Test func `slow mode puts off what is behind it, until it is sent again under the same number`() {
        let parts = RoomParts()
        func slowMode(_ milliseconds: Int) -> RoomEvent {
            var (changes, settings) = (RoomChanges(), RoomSettings())
            (settings.guestsMayAdd, settings.slowModeMs) = (true, milliseconds)
            changes.settings = settings
            return .roomUpdated(changes)
        }
        let song = TrackInfo(source: "test", sourceID: "a", title: "A")
        let added = RoomEvent.tracksAdded(tracks: [NumberedTrack(id: TrackID(rawValue: 1), info: song)], by: 2)
        let slow = parts.room([added, slowMode(.max)])
        let quick = parts.room([added, slowMode(0)])
        let order = CommandOrder()
        func decision(
            _ number: Int64, after earlier: Int64?, _ command: RoomCommand, in room: borrowing RoomWriter
        ) -> RoomWriter.Decision {
            let place = CommandPlace(number, after: earlier, of: id, in: order)
            var request = RoomParts.command(command, by: .bob, place: place)
            return decide(&request, in: room, of: parts)
        }
        let (add, rename) = (RoomCommand.addTracks([song]), RoomCommand.rename(name: "Robert"))
        // The refusal rests on the log, so that it is not answered before the next command is decided.
        guard case .settled(let refusal) = decision(1, after: nil, add, in: slow) else {
            Issue.record("a guest adds songs at once")
            return
        }
        #expect(decision(2, after: 1, rename, in: slow) == .answered(refusal))
        for (number, earlier, command) in [(1, nil, add), (2, 1, rename)] as [(Int64, Int64?, RoomCommand)] {
            guard case .changed = decision(number, after: earlier, command, in: quick) else {
                Issue.record("\(number) is put off again")
                return
            }
        }
    }

    @Test func `a command is put off whose earlier one was answered so, and not one whose earlier one was refused`() {
        let order = CommandOrder()
        func answer(_ number: Int64, _ outcome: CommandOutcome) {
            let place = CommandPlace(number, after: nil, of: id, in: order)
            RoomParts.command(.skip, place: place).reply(outcome)
        }
        func failure(after earlier: Int64) -> RoomFailure? {
            CommandPlace(0, after: earlier, of: id, in: order).failure
        }
        let later = RoomFailure.refused(.rateLimited("no", retryAfterMs: 7))
        answer(1, .failed(.unavailable))
        answer(2, .failed(.busy))
        answer(3, .failed(later))
        answer(4, .failed(.refused(.notMember)))
        answer(5, .failed(.internalFault))
        answer(6, .keyReused)
        answer(7, .acknowledged(seq: 1, keyed: 1, result: nil))
        answer(8, .failed(.outcomeUnknown))
        #expect((1...8).map { failure(after: $0) } == [.unavailable, .busy, later, nil, nil, nil, nil, .unavailable])
        #expect(CommandPlace(0, after: nil, of: id, in: order).failure == nil)
        // The oldest one of too many is forgotten.
        for number in 9..<(9 + Int64(CommandOrder.limit) - 4) { order.note(number, of: id, .unavailable) }
        #expect(failure(after: 1) == .unavailable)
        order.note(1_000, of: id, .unavailable)
        #expect(failure(after: 1) == nil)
        #expect(failure(after: 2) == .busy)
    }

    @Test func `each room has numbers of its own`() {
        let order = CommandOrder()
        let hall = RoomID(UUID())
        func failure(in room: RoomID, after earlier: Int64) -> RoomFailure? {
            CommandPlace(0, after: earlier, of: room, in: order).failure
        }
        order.note(7, of: id, .unavailable)
        CommandPlace(7, after: nil, of: hall, in: order).begin()
        #expect(failure(in: id, after: 7) == .unavailable)
        #expect(failure(in: hall, after: 7) == nil)
        // Of which room this one is was not found out.
        order.note(9, of: nil, .busy)
        #expect(failure(in: id, after: 9) == .busy)
        #expect(failure(in: hall, after: 9) == .busy)
        CommandPlace(9, after: nil, of: hall, in: order).begin()
        #expect(failure(in: id, after: 9) == nil)
    }

    @Test func `a command that is decided again is charged once`() {
        let parts = RoomParts { $0.shares.maximumEventsPerRoom = 1 }
        let room = parts.room()
        var request = RoomParts.command(.rename(name: "Anna"))
        for _ in 0..<20 {
            guard case .changed = decide(&request, in: room, of: parts) else {
                Issue.record("it is charged again")
                return
            }
        }
        #expect(request.charged == 1)
    }

    @Test func `a newcomer is counted once, and only if the room takes it`() {
        let parts = RoomParts()
        let room = parts.room()
        let counted = Atomic(0)
        let count: @Sendable () -> Int? = {
            counted.add(1, ordering: .relaxed)
            return nil
        }
        var member = RoomParts.command(.join(name: nil), by: .bob, countNewcomer: count)
        _ = decide(&member, in: room, of: parts)
        #expect(counted.load(ordering: .relaxed) == 0)
        var newcomer = RoomParts.command(.join(name: nil), by: .guest(9), countNewcomer: count)
        for _ in 0..<2 { _ = decide(&newcomer, in: room, of: parts) }
        #expect(counted.load(ordering: .relaxed) == 1)
        var late = RoomParts.command(.join(name: nil), by: .guest(10)) { 7 }
        guard case .answered(.failed(.refused(.rateLimited(_, retryAfterMs: 7)))) = decide(&late, in: room, of: parts)
        else {
            Issue.record("too many join")
            return
        }
        #expect(late.countNewcomer != nil, "a retry is counted")
    }

    @Test func `a retry has the outcome of the command under way`() {
        let parts = RoomParts()
        var room = parts.room()
        var first = RoomParts.command(.rename(name: "Anna"), key: "k")
        let decision = decide(&first, in: room, of: parts)
        guard case .changed(let change) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(change.events.map(\.seq) == [5])
        _ = room.decided(1, decision)
        var retry = first
        #expect(
            decide(&retry, in: room, of: parts) == .settled(.acknowledged(seq: 5, keyed: 1, result: change.result)))
        var other = RoomParts.command(.rename(name: "Anne"), key: "k")
        #expect(decide(&other, in: room, of: parts) == .settled(.keyReused))
    }

    @Test func `a room whose appends are full decides nothing`() {
        let parts = RoomParts { $0.gatheringBytes = 0 }
        var request = RoomParts.command(.rename(name: "Anna"))
        #expect(decide(&request, in: parts.room(), of: parts) == .answered(.failed(.unavailable)))
    }
}

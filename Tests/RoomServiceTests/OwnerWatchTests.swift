import FoundationEssentials
import NIOCore
import RoomDomain
import RoomTestSupport
import Testing

@testable import RoomService

/// `OwnerWatch` at times of the tests' own.
@Suite struct OwnerWatchTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let retry = OwnerWatch.retryInterval

    /// A room with an owner, 1, and a guest, 2, which replaces an owner who was away for a minute.
    private func room(awayMs: Int = 60_000) -> RoomState {
        var room = RoomState(id: RoomID(UUID()))
        var settings = RoomSettings()
        settings.ownerAwayMs = awayMs
        let events: [RoomEvent] = [
            .roomCreated(
                RoomCreated(
                    id: room.id, code: .zero, name: "Kitchen", location: nil, visibility: .public, settings: settings)),
            .memberJoined(member: 1, name: "Ana", role: .owner, session: SessionID(UUID())),
            .memberJoined(member: 2, name: "Bob", role: .guest, session: SessionID(UUID())),
        ]
        for event in room.recorded(events, at: Timestamp(milliseconds: 1)) { room.evolve(event) }
        return room
    }

    private func sight(_ online: Set<MemberID>, sees: Bool = true, isFollowed: Bool = true) -> OwnerWatch.Sight {
        OwnerWatch.Sight(online: online, seesEverybody: sees, isFollowed: isFollowed)
    }

    @Test func `an owner who is away for long enough is replaced, and not sooner`() {
        var watch = OwnerWatch()
        let (room, start) = (room(), Self.start)
        #expect(watch.look(at: room, sight([1, 2]), now: start) == .rest)
        let gone = start + .seconds(5)
        #expect(watch.look(at: room, sight([2]), now: gone) == .look(at: gone + .minutes(1)))
        #expect(watch.look(at: room, sight([2]), now: gone + .seconds(59)) == .look(at: gone + .minutes(1)))
        #expect(watch.look(at: room, sight([2]), now: gone + .minutes(1)) == .replace(1))
        // It failed, or is under way.
        let next = gone + .minutes(1) + Self.retry
        #expect(watch.look(at: room, sight([2]), now: gone + .minutes(1) + .milliseconds(1)) == .look(at: next))
        #expect(watch.look(at: room, sight([2]), now: next) == .replace(1))
    }

    @Test func `an owner who comes back begins anew`() {
        var watch = OwnerWatch()
        let (room, start) = (room(), Self.start)
        #expect(watch.look(at: room, sight([2]), now: start) == .look(at: start + .minutes(1)))
        #expect(watch.look(at: room, sight([1, 2]), now: start + .seconds(59)) == .rest)
        let again = start + .seconds(61)
        #expect(watch.look(at: room, sight([2]), now: again) == .look(at: again + .minutes(1)))
    }

    @Test func `nobody is replaced where nobody is there, and the absence goes on`() {
        var watch = OwnerWatch()
        let (room, start) = (room(), Self.start)
        #expect(watch.look(at: room, sight([]), now: start) == .rest)
        #expect(watch.look(at: room, sight([2], isFollowed: false), now: start + .minutes(2)) == .rest)
        #expect(watch.look(at: room, sight([2]), now: start + .minutes(2)) == .replace(1))
    }

    @Test func `a server that does not hear the others replaces nobody, and looks again`() {
        var watch = OwnerWatch()
        let (room, start) = (room(), Self.start)
        #expect(watch.look(at: room, sight([2]), now: start) == .look(at: start + .minutes(1)))
        let later = start + .minutes(2)
        #expect(watch.look(at: room, sight([2], sees: false), now: later) == .look(at: later + Self.retry))
        #expect(watch.look(at: room, sight([2], sees: false, isFollowed: false), now: later) == .rest)
        // The absence begins anew.
        #expect(watch.look(at: room, sight([2]), now: later) == .look(at: later + .minutes(1)))
    }

    @Test func `a room that allows any absence replaces nobody, and a log may hold any number`() {
        var watch = OwnerWatch()
        #expect(watch.look(at: room(awayMs: 0), sight([2]), now: Self.start) == .rest)
        guard case .look(let moment) = watch.look(at: room(awayMs: .max), sight([2]), now: Self.start) else {
            Issue.record("no look")
            return
        }
        #expect(moment > Self.start)
    }

    @Test func `a new owner is watched from the change on`() {
        var watch = OwnerWatch()
        var room = room()
        let start = Self.start
        #expect(watch.look(at: room, sight([2]), now: start) == .look(at: start + .minutes(1)))
        let events: [RoomEvent] = [.roleChanged(member: 2, role: .owner), .roleChanged(member: 1, role: .dj)]
        for event in room.recorded(events, at: Timestamp(milliseconds: 2)) { room.evolve(event) }
        let changed = start + .seconds(50)
        #expect(watch.look(at: room, sight([1]), now: changed) == .look(at: changed + .minutes(1)))
        #expect(watch.look(at: room, sight([2]), now: changed) == .rest)
    }
}

import RoomDomain
import Testing

@testable import RoomService

/// `OnlineRoom`: who counts, and when the count is taken anew.
@Suite struct OnlineRoomTests {
    private let ana = MemberID(rawValue: 1)
    private let bob = MemberID(rawValue: 2)

    @Test func `a member at several servers counts once, until all have lost it`() {
        var room = OnlineRoom()
        let changes = [
            room.set(ana, isHere: true), room.set(ana, isOnline: true, at: "b"), room.set(bob, isOnline: true, at: "b"),
            room.set(ana, isOnline: true, at: "c"),
        ]
        #expect(changes == [true, true, true, true])
        #expect(room.membersElsewhere == [ana, bob] && room.servers(of: ana).sorted() == ["b", "c"])
        var counts = [room.count()]
        _ = room.set(ana, isHere: false)
        counts.append(room.count())
        for node in ["b", "c"] { _ = room.set(ana, isOnline: false, at: node) }
        counts.append(room.count())
        #expect(counts == [2, 2, 1])
        #expect(!room.isElsewhere(ana) && room.members(at: "c").isEmpty && !room.isEmpty)
        _ = room.set(bob, isOnline: false, at: "b")
        #expect(room.isEmpty)
    }

    @Test func `what is known already is no change`() {
        var room = OnlineRoom()
        let before = [room.set(ana, isHere: false), room.set(ana, isOnline: false, at: "b")]
        _ = (room.set(ana, isHere: true), room.set(ana, isOnline: true, at: "b"))
        let after = [room.set(ana, isHere: true), room.set(ana, isOnline: true, at: "b")]
        #expect(before + after == [false, false, false, false])
    }

    @Test func `the room's own count goes before the reports, while there is one`() {
        var room = OnlineRoom()
        _ = room.set(ana, isHere: true)
        room.setCount(7)
        let own = room.count()
        room.setCount(nil)
        let reported = room.count()
        #expect(own == 7 && reported == 1)
    }
}

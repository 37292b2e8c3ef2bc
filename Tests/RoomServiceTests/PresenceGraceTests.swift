import NIOCore
import RoomDomain
import Testing

@testable import RoomService

/// Members who have lost a connection, and the time until they are shown as offline.
@Suite struct PresenceGraceTests {
    private func member(_ number: Int) -> MemberID { MemberID(rawValue: number) }
    private func second(_ number: UInt64) -> NIODeadline { .uptimeNanoseconds(number * 1_000_000_000) }

    @Test func `each member has its grace, and is taken once when it is over`() {
        var grace = PresenceGrace()
        #expect(grace.isEmpty && grace.nextEnd == nil)
        for number in 1...3 { grace.begin(member(number), until: second(UInt64(10 + number))) }
        #expect(grace.nextEnd == second(11))
        #expect(grace.takeEnded(at: second(10)) == [])
        #expect(grace.takeEnded(at: second(12)) == [member(1), member(2)])
        #expect(!grace.contains(member(2)) && grace.contains(member(3)))
        #expect(grace.nextEnd == second(13))
        #expect(grace.takeEnded(at: second(60)) == [member(3)])
        #expect(grace.isEmpty && grace.nextEnd == nil)
    }

    @Test func `a member who comes back and is lost again has the whole grace anew`() {
        var grace = PresenceGrace()
        grace.begin(member(1), until: second(10))
        grace.begin(member(2), until: second(11))
        grace.cease(member(1))
        #expect(!grace.contains(member(1)))
        grace.begin(member(1), until: second(20))
        #expect(grace.takeEnded(at: second(19)) == [member(2)])
        #expect(grace.takeEnded(at: second(20)) == [member(1)])
    }

    @Test func `no deadline is left when everybody is back`() {
        var grace = PresenceGrace()
        for number in 1...3 { grace.begin(member(number), until: second(10)) }
        for number in 1...3 { grace.cease(member(number)) }
        grace.cease(member(4))
        #expect(grace.isEmpty && grace.nextEnd == nil)
        #expect(grace.takeEnded(at: second(60)) == [])
    }
}

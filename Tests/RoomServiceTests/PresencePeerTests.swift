import FoundationEssentials
import NIOCore
import RoomDomain
import RoomWire
import Testing

@testable import RoomService

/// `PresencePeer`: the lease of another server, and the questions for its list.
@Suite struct PresencePeerTests {
    private let room = RoomID(UUID())
    private let ana = MemberID(rawValue: 1)

    private func at(_ seconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .seconds(1_000 + seconds) }

    @Test func `a lease ends at its time, is renewed by a sign of life, and is not extended after a stop`() {
        var peer = PresencePeer(leaseEnd: at(20))
        #expect(!peer.hasExpired(at: at(19)) && peer.hasExpired(at: at(20)))
        peer.renew(until: at(30))
        #expect(!peer.hasExpired(at: at(29)))
        peer.stop(countingUntil: at(15))
        peer.extend(until: at(90))
        #expect(peer.hasStopped && peer.hasExpired(at: at(15)))
        peer.renew(until: at(40))
        #expect(!peer.hasStopped && !peer.hasExpired(at: at(39)))
        peer.stop(countingUntil: at(90))
        #expect(peer.hasExpired(at: at(40)), "the lease is the most")
    }

    @Test func `its list is requested again after a time, or when the list has come and does not fit`() {
        var peer = PresencePeer(leaseEnd: at(20))
        var asked = [peer.asks(at: at(0)), peer.asks(at: at(1)), peer.asks(at: at(2))]
        #expect(asked == [true, false, true])
        let members = peer.take(0, isLast: true, [OnlineMembers(room: room, members: [ana])])
        #expect(members == [room: [ana]])
        asked = [peer.asks(at: at(3))]
        #expect(asked == [true])
    }

    @Test func `a new question drops the parts of an older list`() {
        var peer = PresencePeer(leaseEnd: at(20))
        _ = peer.take(0, isLast: false, [])
        _ = peer.asks(at: at(0))
        let members = peer.take(1, isLast: true, [])
        #expect(members == nil)
    }

    @Test func `its checksum is that of the members whom it has told`() {
        var peer = PresencePeer(leaseEnd: at(20))
        peer.moved(ana, isOnline: true, in: room)
        #expect(peer.sum == OnlineMembers.sum(ana, in: room))
        peer.holds(room, true)
        #expect(peer.rooms == [room])
        peer.moved(ana, isOnline: false, in: room)
        peer.holds(room, false)
        #expect(peer.sum == 0 && peer.rooms.isEmpty)
    }
}

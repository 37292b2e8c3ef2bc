import FoundationEssentials
import RoomDomain
import RoomWire
import Testing

@testable import RoomService

/// `PresenceReport`: each change is told once, and a list says everything.
@Suite struct PresenceReportTests {
    private let room = RoomID(UUID())
    private let ana = MemberID(rawValue: 1)
    private let bob = MemberID(rawValue: 2)

    @Test func `changes are told once, the last one of each member`() {
        var report = PresenceReport(isTold: true)
        report.moved(ana, isHere: true, in: room)
        report.moved(bob, isHere: true, in: room)
        report.moved(bob, isHere: false, in: room)
        #expect(report.hasUntold && report.sum == OnlineMembers.sum(ana, in: room))
        let (first, second) = (report.takeChanges(), report.takeChanges())
        #expect(first == [.presenceChanged([MemberChanges(room: room, on: [ana], off: [bob])])])
        #expect(second == [] && !report.hasUntold)
    }

    @Test func `without other servers nothing is kept to be told`() {
        var report = PresenceReport(isTold: false)
        report.moved(ana, isHere: true, in: room)
        #expect(!report.hasUntold)
    }

    @Test func `an empty list is told too, and a long one in numbered parts`() {
        #expect(PresenceReport.list(of: [:]) == [.presenceList(part: 0, isLast: true, [])])
        let many = Set((1...20_000).map { MemberID(rawValue: $0) })
        let list = PresenceReport.list(of: [room: many])
        var told: Set<MemberID> = []
        for (index, notice) in list.enumerated() {
            guard case .presenceList(let part, let isLast, let rooms) = notice else {
                Issue.record("\(notice)")
                continue
            }
            #expect(part == index && isLast == (index == list.count - 1))
            for online in rooms { told.formUnion(online.members) }
        }
        #expect(list.count == 2 && told == many)
    }
}

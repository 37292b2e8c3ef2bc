import NIOCore
import RoomDomain

/// Members of one room that have lost their last connection here, and count as online until they had time to come back.
struct PresenceGrace {
    private var ends: [MemberID: NIODeadline] = [:]
    /// The same in their order, and ends of before for members that came back meanwhile.
    private var order: [(member: MemberID, end: NIODeadline)] = []

    var isEmpty: Bool { ends.isEmpty }

    /// When the first end comes; nil where there is nothing to wait for.
    var nextEnd: NIODeadline? { order.first?.end }

    func contains(_ member: MemberID) -> Bool { ends[member] != nil }

    /// Lets a member count as online until `end`, which is not before that of any other.
    mutating func begin(_ member: MemberID, until end: NIODeadline) {
        ends[member] = end
        order.append((member, end))
    }

    /// Waits no more for a member: it came back, or has gone for good.
    mutating func cease(_ member: MemberID) {
        ends[member] = nil
        if ends.isEmpty { order = [] }
    }

    /// Takes the members that had their time.
    mutating func takeEnded(at now: NIODeadline) -> [MemberID] {
        let count = order.firstIndex { $0.end > now } ?? order.count
        let ended = order[..<count].filter { ends[$0.member] == $0.end }.map(\.member)
        order.removeFirst(count)
        for member in ended { ends[member] = nil }
        return ended
    }
}

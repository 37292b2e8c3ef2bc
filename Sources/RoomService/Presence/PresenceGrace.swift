import NIOCore
import RoomDomain

/// Members of one room that have lost their last connection here, and count as online until they have had time to come
/// back.
struct PresenceGrace {
    private var ends: [MemberID: NIODeadline] = [:]
    /// The same members in the order of their ends, with old entries of members that have come back.
    private var order: [(member: MemberID, end: NIODeadline)] = []

    var isEmpty: Bool { ends.isEmpty }

    /// The time of the first end; nil if there is none.
    var nextEnd: NIODeadline? { order.first?.end }

    func contains(_ member: MemberID) -> Bool { ends[member] != nil }

    /// Lets a member count as online until `end`, which must not be before the end of any other.
    mutating func begin(_ member: MemberID, until end: NIODeadline) {
        ends[member] = end
        order.append((member, end))
    }

    /// Ends the grace of a member that has come back, or has gone for good.
    mutating func cease(_ member: MemberID) {
        ends[member] = nil
        if ends.isEmpty { order = [] }
    }

    /// Takes the members whose grace has ended.
    mutating func takeEnded(at now: NIODeadline) -> [MemberID] {
        let count = order.firstIndex { $0.end > now } ?? order.count
        let ended = order[..<count].filter { ends[$0.member] == $0.end }.map(\.member)
        order.removeFirst(count)
        for member in ended { ends[member] = nil }
        return ended
    }
}

import NIOCore
import RoomDomain
import RoomWire

/// One other server: the end of its lease, and what it has told of its members.
struct PresencePeer {
    /// The time for which a requested list is waited for.
    private static let askInterval = TimeAmount.seconds(2)

    private var leaseEnd: NIODeadline
    /// Whether it has said that it stops.
    private(set) var hasStopped = false
    /// The rooms in which members are online there.
    private(set) var rooms: Set<RoomID> = []
    /// The checksum of all its members.
    private(set) var sum: Int64 = 0
    /// The time before which its list is not requested again.
    private var askedUntil = NIODeadline.uptimeNanoseconds(0)
    private var list = ArrivingList<OnlineMembers>()

    init(leaseEnd: NIODeadline) {
        self.leaseEnd = leaseEnd
    }

    // MARK: Its lease

    /// Whether it has not been heard of for the time of its lease.
    func hasExpired(at now: NIODeadline) -> Bool { leaseEnd <= now }

    /// Records that it is alive.
    mutating func renew(until end: NIODeadline) {
        leaseEnd = end
        hasStopped = false
    }

    /// Gives it more time, unless it has stopped.
    mutating func extend(until end: NIODeadline) {
        if !hasStopped { leaseEnd = end }
    }

    /// Records that it has stopped, and that its clients have until `end` to reach another server.
    mutating func stop(countingUntil end: NIODeadline) {
        hasStopped = true
        leaseEnd = min(leaseEnd, end)
    }

    // MARK: Its members

    /// Records a change of a member there.
    mutating func moved(_ member: MemberID, isOnline: Bool, in room: RoomID) {
        let one = OnlineMembers.sum(member, in: room)
        sum = isOnline ? sum &+ one : sum &- one
    }

    /// Records whether any member of a room is online there.
    mutating func holds(_ room: RoomID, _ isHeld: Bool) {
        if isHeld { rooms.insert(room) } else { rooms.remove(room) }
    }

    /// Whether its list is requested now, which it is not if it was a short time ago.
    ///
    /// The parts that have arrived of an earlier list are dropped.
    mutating func asks(at now: NIODeadline) -> Bool {
        guard askedUntil <= now else { return false }
        askedUntil = now + Self.askInterval
        list.drop()
        return true
    }

    /// Takes a part of its list; with the last part, returns all its members by room.
    mutating func take(_ part: Int, isLast: Bool, _ rooms: [OnlineMembers]) -> [RoomID: Set<MemberID>]? {
        guard let all = list.take(part, isLast: isLast, rooms) else { return nil }
        askedUntil = .uptimeNanoseconds(0)
        return all.reduce(into: [:]) { $0[$1.room, default: []].formUnion($1.members) }
    }
}

import RoomDomain

/// The members of one room who are online: at this server, and at every other one by its own report.
struct OnlineRoom {
    /// The members online at this server.
    private(set) var here: Set<MemberID> = []
    private var elsewhere: [String: Set<MemberID>] = [:]
    /// The number of members online, counted by the room itself while it is in memory here.
    private var counted: Int?
    /// The number of members online by the servers' reports; nil until it is needed.
    private var told: Int?

    /// Whether nobody is online anywhere.
    var isEmpty: Bool { here.isEmpty && elsewhere.isEmpty && counted ?? 0 == 0 }

    /// The number of members online: the room's own count, if it has one.
    mutating func count() -> Int {
        if let count = counted ?? told { return count }
        let count = elsewhere.values.reduce(here) { $0.union($1) }.count
        told = count
        return count
    }

    /// Takes the room's own count; nil when it leaves memory here.
    mutating func setCount(_ count: Int?) { counted = count }

    /// The members online at other servers.
    var membersElsewhere: Set<MemberID> { elsewhere.values.reduce([]) { $0.union($1) } }

    /// The members online at another server.
    func members(at node: String) -> Set<MemberID> { elsewhere[node] ?? [] }

    /// Whether a member is online at another server.
    func isElsewhere(_ member: MemberID) -> Bool { elsewhere.values.contains { $0.contains(member) } }

    /// The other servers at which a member is online.
    func servers(of member: MemberID) -> [String] { elsewhere.filter { $0.value.contains(member) }.map(\.key) }

    /// Records whether a member is online here; returns whether that is a change.
    mutating func set(_ member: MemberID, isHere: Bool) -> Bool {
        guard here.contains(member) != isHere else { return false }
        if isHere { here.insert(member) } else { here.remove(member) }
        told = nil
        return true
    }

    /// Records whether a member is online at another server; returns whether that is a change.
    mutating func set(_ member: MemberID, isOnline: Bool, at node: String) -> Bool {
        if isOnline {
            guard elsewhere[node, default: []].insert(member).inserted else { return false }
        } else {
            guard elsewhere[node]?.remove(member) != nil else { return false }
            if elsewhere[node]?.isEmpty == true { elsewhere[node] = nil }
        }
        told = nil
        return true
    }
}

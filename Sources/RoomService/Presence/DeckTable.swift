import RoomDomain
import RoomWire

/// The claims to be the deck of each room: at this server, and at every other one by its own report.
///
/// A server has at most one claim in a room. The newest of all claims is the deck; of two with the same time, the one of
/// the server whose name comes last. A server that hears of a newer claim than its own ends its own, so all servers that
/// hear each other know the same deck. ``PresenceTable`` keeps the leases of the servers and compares the sums.
struct DeckTable {
    /// A claim, and the server that accepted it; nil is this server.
    struct Claim: Equatable {
        var member: MemberID
        var at: Timestamp
        var node: String?
    }

    /// The most claims in one notice, which then stays well below the limit of a message.
    static let noticeSize = 1_000

    /// This server's name, which orders claims of the same time.
    private let node: String
    private var here: [RoomID: DeckClaim] = [:]
    private var elsewhere: [String: [RoomID: DeckClaim]] = [:]
    /// The servers with a claim in a room.
    private var nodes: [RoomID: Set<String>] = [:]
    private var lists: [String: ArrivingList<DeckClaim>] = [:]
    private var sums: [String: Int64] = [:]
    /// The checksum of the claims here.
    private(set) var sum: Int64 = 0

    /// Makes the empty table of a server.
    init(node: String) {
        self.node = node
    }

    /// The newest claim in a room; nil if there is none.
    func newest(in room: RoomID) -> Claim? {
        var newest = claim(here[room], at: nil)
        for node in nodes[room] ?? [] {
            guard let other = claim(elsewhere[node]?[room], at: node) else { continue }
            if newest.map({ isOlder($0, than: other) }) ?? true { newest = other }
        }
        return newest
    }

    private func claim(_ claim: DeckClaim?, at node: String?) -> Claim? {
        guard let claim, let member = claim.member else { return nil }
        return Claim(member: member, at: claim.at, node: node)
    }

    private func isOlder(_ claim: Claim, than other: Claim) -> Bool {
        (claim.at.milliseconds, claim.node ?? node) < (other.at.milliseconds, other.node ?? node)
    }

    /// Replaces this server's claim in a room; one without a member ends it.
    ///
    /// Returns whether that is a change, of which the other servers must be told.
    mutating func set(_ claim: DeckClaim) -> Bool {
        let before = here[claim.room]
        let after = claim.member == nil ? nil : claim
        guard before != after else { return false }
        here[claim.room] = after
        sum &+= (after?.sum ?? 0) &- (before?.sum ?? 0)
        return true
    }

    /// The claims here, in parts.
    func list() -> [NodeNotice] {
        let parts = here.isEmpty ? [[]] : Array(here.values).parts(of: Self.noticeSize).map(Array.init)
        return parts.enumerated().map { .deckList(part: $0, isLast: $0 == parts.count - 1, $1) }
    }

    /// The checksum of the claims at another server, as far as they are known.
    func sum(of node: String) -> Int64 { sums[node] ?? 0 }

    /// Handles changes at another server; returns the rooms that they concern.
    mutating func apply(_ claims: [DeckClaim], of node: String) -> Set<RoomID> {
        var moved: Set<RoomID> = []
        for claim in claims where replace(by: claim, of: node) { moved.insert(claim.room) }
        return moved
    }

    /// Handles a part of another server's list; returns the rooms that it concerns, with the last part.
    mutating func take(_ part: Int, isLast: Bool, _ claims: [DeckClaim], of node: String) -> Set<RoomID> {
        guard let whole = lists[node, default: ArrivingList()].take(part, isLast: isLast, claims) else { return [] }
        lists[node] = nil
        let known = Set(whole.map(\.room))
        let gone = (elsewhere[node] ?? [:]).values.filter { !known.contains($0.room) }
        return apply(gone.map { DeckClaim(room: $0.room, member: nil, at: $0.at) } + whole, of: node)
    }

    /// Forgets the claims at another server; returns their rooms.
    mutating func remove(_ node: String) -> Set<RoomID> {
        lists[node] = nil
        let claims = (elsewhere[node] ?? [:]).values
        return apply(claims.map { DeckClaim(room: $0.room, member: nil, at: $0.at) }, of: node)
    }

    private mutating func replace(by claim: DeckClaim, of node: String) -> Bool {
        let before = elsewhere[node]?[claim.room]
        let after = claim.member == nil ? nil : claim
        guard before != after else { return false }
        elsewhere[node, default: [:]][claim.room] = after
        if after == nil { nodes[claim.room]?.remove(node) } else { nodes[claim.room, default: []].insert(node) }
        if nodes[claim.room]?.isEmpty == true { nodes[claim.room] = nil }
        sums[node, default: 0] &+= (after?.sum ?? 0) &- (before?.sum ?? 0)
        if elsewhere[node]?.isEmpty == true {
            elsewhere[node] = nil
            sums[node] = nil
        }
        return true
    }
}

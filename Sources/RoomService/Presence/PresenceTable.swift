import NIOCore
import RoomDomain
import RoomWire

/// Who is online in which room: at this server, and at every other one as it tells.
///
/// Each server tells the others what changes, and regularly that it lives, with a sum of all that it has told. Who
/// comes to another sum asks for the whole: so a notice that was lost, repeated or mixed up is made good at the next
/// beat. A server that is not heard of for the time of its lease counts for nothing. What a server told that stopped
/// counts until its clients had time to come to another one.
struct PresenceTable {
    /// What is to be done after something was heard, or time has passed.
    struct Effects: Equatable {
        /// Notices for one server, or for all.
        struct Telling: Equatable {
            var notice: NodeNotice
            var recipient: String?
        }

        /// In this order.
        var tellings: [Telling] = []
        /// Members of whom another server tells something new, by room.
        var moved: [RoomID: Set<MemberID>] = [:]
        /// How many servers lost their lease.
        var expired = 0
    }

    /// One room; a room of which nobody is online anywhere is left out.
    private struct Room {
        var here: Set<MemberID> = []
        var elsewhere: [String: Set<MemberID>] = [:]
        /// How many are online, as the room itself counts them while it is in memory here.
        var counted: Int?
        /// How many are online, as the servers tell; nil until somebody wants to know.
        var told: Int?

        var isEmpty: Bool { here.isEmpty && elsewhere.isEmpty && counted ?? 0 == 0 }

        func isElsewhere(_ member: MemberID) -> Bool { elsewhere.values.contains { $0.contains(member) } }

        mutating func count() -> Int {
            if let count = counted ?? told { return count }
            let count = elsewhere.values.reduce(here) { $0.union($1) }.count
            told = count
            return count
        }
    }

    /// Another server.
    private struct Peer {
        var leaseEnd: NIODeadline
        /// Whether it has said that it stops.
        var hasStopped = false
        var rooms: Set<RoomID> = []
        /// The sum of all its members.
        var sum: Int64 = 0
        /// Until when its list is not asked for again.
        var askedUntil = NIODeadline.uptimeNanoseconds(0)
        /// A list of which some parts have come.
        var arriving: (parts: Int, rooms: [RoomID: Set<MemberID>])?
    }

    /// What goes into one notice, in members; a room counts as eight.
    ///
    /// A member has at most 20 bytes, six in most cases: that is well below what a message may have.
    static let noticeSize = 16_000
    /// A list that was asked for is waited for so long.
    private static let askInterval = TimeAmount.seconds(2)

    /// Whether there may be other servers.
    private let isShared: Bool
    /// How often a server says that it lives.
    private let beatInterval: TimeAmount
    /// How long a server counts that says nothing.
    private let lease: TimeAmount
    /// How long a server counts that stopped; never longer than its lease.
    private let grace: TimeAmount

    private var rooms: [RoomID: Room] = [:]
    private var peers: [String: Peer] = [:]
    private var sum: Int64 = 0
    /// What has changed here and was not told.
    private var untold: [RoomID: [MemberID: Bool]] = [:]
    private var nextBeat: NIODeadline
    private var lastTick: NIODeadline

    /// A table of nobody, of a server that starts.
    init(isShared: Bool, beatInterval: TimeAmount, lease: TimeAmount, grace: TimeAmount, at now: NIODeadline) {
        self.isShared = isShared
        self.beatInterval = beatInterval
        self.lease = lease
        self.grace = grace
        nextBeat = now
        lastTick = now
    }

    /// How many other servers are known.
    var peerCount: Int { peers.values.count { !$0.hasStopped } }
    /// Whether something has changed here that was not told.
    var hasUntold: Bool { !untold.isEmpty }

    // MARK: Here

    /// Notes who of some members of a room is online here, and returns who of them is online elsewhere.
    mutating func set(_ members: [MemberID: Bool], in room: RoomID) -> Set<MemberID> {
        // Taken out, so that its sets are changed where they are.
        var known = rooms.removeValue(forKey: room) ?? Room()
        var elsewhere: Set<MemberID> = []
        for (member, isHere) in members {
            if known.isElsewhere(member) { elsewhere.insert(member) }
            guard known.here.contains(member) != isHere else { continue }
            if isHere {
                known.here.insert(member)
                sum &+= OnlineMembers.sum(member, in: room)
            } else {
                known.here.remove(member)
                sum &-= OnlineMembers.sum(member, in: room)
            }
            known.told = nil
            if isShared { untold[room, default: [:]][member] = isHere }
        }
        if !known.isEmpty { rooms[room] = known }
        return elsewhere
    }

    /// Notes how many members are online in a room that is in memory here; nil when it no longer is.
    mutating func setCount(_ count: Int?, of room: RoomID) {
        var known = rooms.removeValue(forKey: room) ?? Room()
        known.counted = count
        if !known.isEmpty { rooms[room] = known }
    }

    // MARK: Questions

    /// The members of a room that are online elsewhere.
    func elsewhere(in room: RoomID) -> Set<MemberID> {
        rooms[room]?.elsewhere.values.reduce([]) { $0.union($1) } ?? []
    }

    /// The other servers at which a member is online.
    func servers(of member: MemberID, in room: RoomID) -> [String] {
        rooms[room]?.elsewhere.filter { $0.value.contains(member) }.map(\.key) ?? []
    }

    /// How many members are online in a room.
    mutating func count(of room: RoomID) -> Int { rooms[room]?.count() ?? 0 }

    /// All rooms in which somebody is online, and how many.
    mutating func counts() -> [(room: RoomID, online: Int)] {
        var counts: [(RoomID, Int)] = []
        for room in rooms.keys {
            let count = count(of: room)
            if count > 0 { counts.append((room, count)) }
        }
        return counts
    }

    // MARK: Telling

    /// What is to be told to all of what has changed here.
    mutating func takeChanges() -> [Effects.Telling] {
        defer { untold = [:] }
        var notices: [Effects.Telling] = []
        var (changes, size): ([MemberChanges], Int) = ([], 0)
        func flush() {
            guard !changes.isEmpty else { return }
            notices.append(Effects.Telling(notice: .presenceChanged(changes), recipient: nil))
            (changes, size) = ([], 0)
        }
        for (room, members) in untold {
            for part in Array(members).parts(of: Self.noticeSize) {
                if size + part.count > Self.noticeSize { flush() }
                changes.append(
                    MemberChanges(
                        room: room, on: part.filter(\.value).map(\.key), off: part.filter { !$0.value }.map(\.key)))
                size += part.count + 8
            }
        }
        flush()
        return notices
    }

    /// Who is online here, in parts.
    private func list() -> [NodeNotice] {
        var parts: [[OnlineMembers]] = [[]]
        var size = 0
        for (room, known) in rooms where !known.here.isEmpty {
            for part in Array(known.here).parts(of: Self.noticeSize) {
                if size + part.count > Self.noticeSize {
                    parts.append([])
                    size = 0
                }
                parts[parts.count - 1].append(OnlineMembers(room: room, members: Array(part)))
                size += part.count + 8
            }
        }
        return parts.enumerated().map { .presenceList(part: $0, isLast: $0 == parts.count - 1, $1) }
    }

    /// What a server says when it can be heard: that it lives, and that it wants to know who is online elsewhere.
    mutating func connected(at now: NIODeadline) -> Effects {
        var effects = Effects(tellings: [Effects.Telling(notice: .presenceWanted, recipient: nil)])
        effects.tellings += beat(at: now)
        return effects
    }

    private mutating func beat(at now: NIODeadline) -> [Effects.Telling] {
        nextBeat = now + beatInterval
        return takeChanges() + [Effects.Telling(notice: .presenceBeat(sum: sum), recipient: nil)]
    }

    /// Lets time pass; call several times an interval of beats.
    mutating func tick(at now: NIODeadline) -> Effects {
        var effects = Effects()
        let pause = now - lastTick
        lastTick = now
        // Who did not run, or not look, cannot say that it heard nothing.
        if pause > beatInterval {
            for (node, peer) in peers where !peer.hasStopped { peers[node]?.leaseEnd = now + lease }
        }
        for (node, peer) in peers where peer.leaseEnd <= now {
            if !peer.hasStopped { effects.expired += 1 }
            remove(node, &effects)
        }
        if nextBeat <= now { effects.tellings += beat(at: now) }
        return effects
    }

    // MARK: Hearing

    /// Takes in what another server tells of who is online there; nothing comes of other notices.
    mutating func heard(_ notice: NodeNotice, from node: String, at now: NIODeadline) -> Effects {
        var effects = Effects()
        switch notice {
        case .presenceChanged(let changes):
            let isKnown = renew(node, at: now)
            for change in changes { apply(change, of: node, &effects) }
            if !isKnown { ask(node, at: now, &effects) }
        case .presenceList(let part, let isLast, let rooms):
            _ = renew(node, at: now)
            take(part, isLast: isLast, rooms, of: node, &effects)
        case .presenceBeat(let sum):
            _ = renew(node, at: now)
            guard peers[node]?.sum != sum else { break }
            ask(node, at: now, &effects)
        case .presenceWanted:
            _ = renew(node, at: now)
            effects.tellings = takeChanges()
            effects.tellings += list().map { Effects.Telling(notice: $0, recipient: node) }
            effects.tellings.append(Effects.Telling(notice: .presenceBeat(sum: sum), recipient: node))
        case .presenceEnded:
            stopped(node, at: now, &effects)
        case .moved, .sessionEnded, .reaction, .signal:
            break
        }
        return effects
    }

    /// Notes that a server lives; returns whether it was known.
    private mutating func renew(_ node: String, at now: NIODeadline) -> Bool {
        guard peers[node] != nil else {
            peers[node] = Peer(leaseEnd: now + lease)
            return false
        }
        peers[node]?.leaseEnd = now + lease
        peers[node]?.hasStopped = false
        return true
    }

    /// Notes that a server has stopped: its clients are on their way to others.
    private mutating func stopped(_ node: String, at now: NIODeadline, _ effects: inout Effects) {
        guard let peer = peers[node] else { return }
        peers[node]?.hasStopped = true
        peers[node]?.leaseEnd = min(peer.leaseEnd, now + grace)
        if grace == .zero { remove(node, &effects) }
    }

    private mutating func ask(_ node: String, at now: NIODeadline, _ effects: inout Effects) {
        guard let peer = peers[node], peer.askedUntil <= now else { return }
        peers[node]?.askedUntil = now + Self.askInterval
        peers[node]?.arriving = nil
        effects.tellings.append(Effects.Telling(notice: .presenceWanted, recipient: node))
    }

    private mutating func apply(_ change: MemberChanges, of node: String, _ effects: inout Effects) {
        var known = rooms.removeValue(forKey: change.room) ?? Room()
        for member in change.on { set(member, isOnline: true, in: change.room, &known, of: node, &effects) }
        for member in change.off { set(member, isOnline: false, in: change.room, &known, of: node, &effects) }
        putBack(known, change.room, of: node)
    }

    private mutating func take(
        _ part: Int, isLast: Bool, _ rooms: [OnlineMembers], of node: String, _ effects: inout Effects
    ) {
        var arriving = part == 0 ? (0, [:]) : peers[node]?.arriving
        peers[node]?.arriving = nil
        guard arriving?.parts == part else { return }
        arriving?.parts += 1
        for online in rooms { arriving?.rooms[online.room, default: []].formUnion(online.members) }
        guard isLast else {
            peers[node]?.arriving = arriving
            return
        }
        let members = arriving?.rooms ?? [:]
        for room in (peers[node]?.rooms ?? []).union(members.keys) {
            replace(by: members[room] ?? [], in: room, of: node, &effects)
        }
        peers[node]?.askedUntil = .uptimeNanoseconds(0)
    }

    private mutating func remove(_ node: String, _ effects: inout Effects) {
        for room in peers[node]?.rooms ?? [] { replace(by: [], in: room, of: node, &effects) }
        peers[node] = nil
    }

    private mutating func replace(
        by members: Set<MemberID>, in room: RoomID, of node: String, _ effects: inout Effects
    ) {
        var known = rooms.removeValue(forKey: room) ?? Room()
        for member in members.symmetricDifference(known.elsewhere[node] ?? []) {
            set(member, isOnline: members.contains(member), in: room, &known, of: node, &effects)
        }
        putBack(known, room, of: node)
    }

    private mutating func set(
        _ member: MemberID, isOnline: Bool, in room: RoomID, _ known: inout Room, of node: String,
        _ effects: inout Effects
    ) {
        if isOnline {
            guard known.elsewhere[node, default: []].insert(member).inserted else { return }
            peers[node]?.sum &+= OnlineMembers.sum(member, in: room)
        } else {
            guard known.elsewhere[node]?.remove(member) != nil else { return }
            peers[node]?.sum &-= OnlineMembers.sum(member, in: room)
        }
        known.told = nil
        effects.moved[room, default: []].insert(member)
    }

    private mutating func putBack(_ room: Room, _ id: RoomID, of node: String) {
        var room = room
        if room.elsewhere[node]?.isEmpty ?? true {
            room.elsewhere[node] = nil
            peers[node]?.rooms.remove(id)
        } else {
            peers[node]?.rooms.insert(id)
        }
        if !room.isEmpty { rooms[id] = room }
    }
}

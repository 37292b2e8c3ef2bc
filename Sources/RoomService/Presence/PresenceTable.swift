import NIOCore
import RoomDomain
import RoomWire

/// The members online in each room: at this server, and at every other one by its own report.
///
/// Each server tells the others what changes, and regularly sends a beat with a checksum of all that it has told. A
/// server that computes another checksum asks for the whole list, so that the next beat repairs notices that were lost,
/// repeated or reordered. A server whose lease ends without a beat counts for nothing. The members of a server that has
/// stopped count until its clients have had time to reach another one.
struct PresenceTable {
    /// The actions that follow a notice, or the passing of time.
    struct Effects: Equatable {
        /// Notices for one server, or for all.
        struct Telling: Equatable {
            var notice: NodeNotice
            var recipient: String?
        }

        /// The notices to send, in this order.
        var tellings: [Telling] = []
        /// Members on whom another server has reported a change, by room.
        var moved: [RoomID: Set<MemberID>] = [:]
        /// Rooms in which another server has reported a change of its claims to be the deck.
        var decks: Set<RoomID> = []
        /// The number of servers whose lease has ended.
        var expired = 0
    }

    /// One room; rooms in which nobody is online anywhere are not stored.
    private struct Room {
        var here: Set<MemberID> = []
        var elsewhere: [String: Set<MemberID>] = [:]
        /// The number of members online, counted by the room itself while it is in memory here.
        var counted: Int?
        /// The number of members online by the servers' reports; nil until it is needed.
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
        /// The checksum of all its members.
        var sum: Int64 = 0
        /// The time before which its list is not requested again.
        var askedUntil = NIODeadline.uptimeNanoseconds(0)
        /// A list of which some parts have arrived.
        var arriving: (parts: Int, rooms: [RoomID: Set<MemberID>])?
    }

    /// The most members in one notice; a room counts as eight.
    ///
    /// A member takes at most 20 bytes, mostly six, so a notice stays well below the limit of a message.
    static let noticeSize = 16_000
    /// The time for which a requested list is waited for.
    private static let askInterval = TimeAmount.seconds(2)

    /// Whether there may be other servers.
    private let isShared: Bool
    /// The interval of this server's beats.
    private let beatInterval: TimeAmount
    /// The time for which a server without beats counts.
    private let lease: TimeAmount
    /// The time for which a stopped server counts; never longer than its lease.
    private let grace: TimeAmount

    /// The claims to be the deck of each room.
    var decks: DeckTable
    private var rooms: [RoomID: Room] = [:]
    private var peers: [String: Peer] = [:]
    private var sum: Int64 = 0
    /// Changes here that have not been told.
    private var untold: [RoomID: [MemberID: Bool]] = [:]
    private var nextBeat: NIODeadline
    private var lastTick: NIODeadline

    /// Makes the empty table of a server that starts.
    init(
        node: String = "", isShared: Bool, beatInterval: TimeAmount, lease: TimeAmount, grace: TimeAmount,
        at now: NIODeadline
    ) {
        decks = DeckTable(node: node)
        self.isShared = isShared
        self.beatInterval = beatInterval
        self.lease = lease
        self.grace = grace
        nextBeat = now
        lastTick = now
    }

    /// The number of other servers that are known.
    var peerCount: Int { peers.values.count { !$0.hasStopped } }
    /// Whether there are changes here that have not been told.
    var hasUntold: Bool { !untold.isEmpty }

    // MARK: Here

    /// Records which of these members of a room are online here, and returns which of them are online elsewhere.
    mutating func set(_ members: [MemberID: Bool], in room: RoomID) -> Set<MemberID> {
        // Removed for the change, so that its sets are changed in place.
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

    /// Records the number of members online in a room that is in memory here; nil when it leaves memory.
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

    /// The number of members online in a room.
    mutating func count(of room: RoomID) -> Int { rooms[room]?.count() ?? 0 }

    /// All rooms with members online, and their numbers.
    mutating func counts() -> [(room: RoomID, online: Int)] {
        var counts: [(RoomID, Int)] = []
        for room in rooms.keys {
            let count = count(of: room)
            if count > 0 { counts.append((room, count)) }
        }
        return counts
    }

    // MARK: Telling

    /// The checksum of all that the other servers are told.
    private var toldSum: Int64 { sum &+ decks.sum }

    /// Takes the changes here, as notices for all other servers.
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

    /// The members online here, in parts.
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

    /// Returns the notices of a server that can be heard now: that it is alive, and that it asks for the lists of
    /// others.
    mutating func connected(at now: NIODeadline) -> Effects {
        var effects = Effects(tellings: [Effects.Telling(notice: .presenceWanted, recipient: nil)])
        effects.tellings += beat(at: now)
        return effects
    }

    private mutating func beat(at now: NIODeadline) -> [Effects.Telling] {
        nextBeat = now + beatInterval
        return takeChanges() + [Effects.Telling(notice: .presenceBeat(sum: toldSum), recipient: nil)]
    }

    /// Handles the passing of time; must be called several times in each beat interval.
    mutating func tick(at now: NIODeadline) -> Effects {
        var effects = Effects()
        let pause = now - lastTick
        lastTick = now
        // A process that did not run, or did not look, cannot conclude that the others were silent.
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

    /// Handles another server's notice about its members; other notices have no effect.
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
            guard let peer = peers[node], peer.sum &+ decks.sum(of: node) != sum else { break }
            ask(node, at: now, &effects)
        case .presenceWanted:
            _ = renew(node, at: now)
            effects.tellings = takeChanges()
            effects.tellings += (list() + decks.list()).map { Effects.Telling(notice: $0, recipient: node) }
            effects.tellings.append(Effects.Telling(notice: .presenceBeat(sum: toldSum), recipient: node))
        case .presenceEnded:
            stopped(node, at: now, &effects)
        case .decksChanged(let claims):
            let isKnown = renew(node, at: now)
            effects.decks = decks.apply(claims, of: node)
            if !isKnown { ask(node, at: now, &effects) }
        case .deckList(let part, let isLast, let claims):
            _ = renew(node, at: now)
            effects.decks = decks.take(part, isLast: isLast, claims, of: node)
        case .moved, .sessionEnded, .reaction, .signal:
            break
        }
        return effects
    }

    /// Records that a server is alive; returns whether it was known.
    private mutating func renew(_ node: String, at now: NIODeadline) -> Bool {
        guard peers[node] != nil else {
            peers[node] = Peer(leaseEnd: now + lease)
            return false
        }
        peers[node]?.leaseEnd = now + lease
        peers[node]?.hasStopped = false
        return true
    }

    /// Records that a server has stopped, and that its clients are on their way to others.
    private mutating func stopped(_ node: String, at now: NIODeadline, _ effects: inout Effects) {
        guard let peer = peers[node] else { return }
        peers[node]?.hasStopped = true
        // A claim belongs to a connection, and the server has none any more.
        effects.decks.formUnion(decks.remove(node))
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
        effects.decks.formUnion(decks.remove(node))
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

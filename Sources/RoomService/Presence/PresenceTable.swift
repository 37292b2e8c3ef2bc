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

    /// The interval of this server's beats.
    private let beatInterval: TimeAmount
    /// The time for which a server without beats counts.
    private let lease: TimeAmount
    /// The time for which a stopped server counts; never longer than its lease.
    private let grace: TimeAmount

    /// The claims to be the deck of each room.
    var decks: DeckTable
    /// The rooms in which anybody is online anywhere.
    private var rooms: [RoomID: OnlineRoom] = [:]
    private var peers: [String: PresencePeer] = [:]
    private var report: PresenceReport
    private var nextBeat: NIODeadline
    private var lastTick: NIODeadline

    /// Makes the empty table of a server that starts; `isShared` tells whether there may be other servers.
    init(
        node: String = "", isShared: Bool, beatInterval: TimeAmount, lease: TimeAmount, grace: TimeAmount,
        at now: NIODeadline
    ) {
        decks = DeckTable(node: node)
        report = PresenceReport(isTold: isShared)
        self.beatInterval = beatInterval
        self.lease = lease
        self.grace = grace
        nextBeat = now
        lastTick = now
    }

    /// The number of other servers that are known.
    var peerCount: Int { peers.values.count { !$0.hasStopped } }
    /// Whether there are changes here that have not been told.
    var hasUntold: Bool { report.hasUntold }

    // MARK: Here

    /// Records which of these members of a room are online here, and returns which of them are online elsewhere.
    mutating func set(_ members: [MemberID: Bool], in room: RoomID) -> Set<MemberID> {
        // Removed for the change, so that its sets are changed in place.
        var known = rooms.removeValue(forKey: room) ?? OnlineRoom()
        var elsewhere: Set<MemberID> = []
        for (member, isHere) in members {
            if known.isElsewhere(member) { elsewhere.insert(member) }
            if known.set(member, isHere: isHere) { report.moved(member, isHere: isHere, in: room) }
        }
        if !known.isEmpty { rooms[room] = known }
        return elsewhere
    }

    /// Records the number of members online in a room that is in memory here; nil when it leaves memory.
    mutating func setCount(_ count: Int?, of room: RoomID) {
        var known = rooms.removeValue(forKey: room) ?? OnlineRoom()
        known.setCount(count)
        if !known.isEmpty { rooms[room] = known }
    }

    // MARK: Questions

    /// The members of a room that are online elsewhere.
    func elsewhere(in room: RoomID) -> Set<MemberID> { rooms[room]?.membersElsewhere ?? [] }

    /// The other servers at which a member is online.
    func servers(of member: MemberID, in room: RoomID) -> [String] { rooms[room]?.servers(of: member) ?? [] }

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
    private var toldSum: Int64 { report.sum &+ decks.sum }

    /// Takes the changes here, as notices for all other servers.
    mutating func takeChanges() -> [Effects.Telling] {
        report.takeChanges().map { Effects.Telling(notice: $0, recipient: nil) }
    }

    /// The members and the decks here, in parts.
    private func list() -> [NodeNotice] {
        PresenceReport.list(of: rooms.compactMapValues { $0.here.isEmpty ? nil : $0.here }) + decks.list()
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
            for node in peers.keys { peers[node]?.extend(until: now + lease) }
        }
        for (node, peer) in peers where peer.hasExpired(at: now) {
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
            effects.tellings += list().map { Effects.Telling(notice: $0, recipient: node) }
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
            peers[node] = PresencePeer(leaseEnd: now + lease)
            return false
        }
        peers[node]?.renew(until: now + lease)
        return true
    }

    /// Records that a server has stopped, and that its clients are on their way to others.
    private mutating func stopped(_ node: String, at now: NIODeadline, _ effects: inout Effects) {
        guard peers[node] != nil else { return }
        peers[node]?.stop(countingUntil: now + grace)
        // A claim belongs to a connection, and the server has none any more.
        effects.decks.formUnion(decks.remove(node))
        if grace == .zero { remove(node, &effects) }
    }

    private mutating func ask(_ node: String, at now: NIODeadline, _ effects: inout Effects) {
        guard peers[node]?.asks(at: now) == true else { return }
        effects.tellings.append(Effects.Telling(notice: .presenceWanted, recipient: node))
    }

    private mutating func apply(_ change: MemberChanges, of node: String, _ effects: inout Effects) {
        var known = rooms.removeValue(forKey: change.room) ?? OnlineRoom()
        for member in change.on { set(member, isOnline: true, in: change.room, &known, of: node, &effects) }
        for member in change.off { set(member, isOnline: false, in: change.room, &known, of: node, &effects) }
        putBack(known, change.room, of: node)
    }

    private mutating func take(
        _ part: Int, isLast: Bool, _ rooms: [OnlineMembers], of node: String, _ effects: inout Effects
    ) {
        guard let members = peers[node]?.take(part, isLast: isLast, rooms) else { return }
        for room in (peers[node]?.rooms ?? []).union(members.keys) {
            replace(by: members[room] ?? [], in: room, of: node, &effects)
        }
    }

    private mutating func remove(_ node: String, _ effects: inout Effects) {
        for room in peers[node]?.rooms ?? [] { replace(by: [], in: room, of: node, &effects) }
        effects.decks.formUnion(decks.remove(node))
        peers[node] = nil
    }

    private mutating func replace(
        by members: Set<MemberID>, in room: RoomID, of node: String, _ effects: inout Effects
    ) {
        var known = rooms.removeValue(forKey: room) ?? OnlineRoom()
        for member in members.symmetricDifference(known.members(at: node)) {
            set(member, isOnline: members.contains(member), in: room, &known, of: node, &effects)
        }
        putBack(known, room, of: node)
    }

    private mutating func set(
        _ member: MemberID, isOnline: Bool, in room: RoomID, _ known: inout OnlineRoom, of node: String,
        _ effects: inout Effects
    ) {
        guard known.set(member, isOnline: isOnline, at: node) else { return }
        peers[node]?.moved(member, isOnline: isOnline, in: room)
        effects.moved[room, default: []].insert(member)
    }

    private mutating func putBack(_ room: OnlineRoom, _ id: RoomID, of node: String) {
        peers[node]?.holds(id, !room.members(at: node).isEmpty)
        if !room.isEmpty { rooms[id] = room }
    }
}

import NIOCore
import RoomDomain
import RoomWire
import Synchronization

/// Holds this process's ``PresenceTable``, and tells other servers about its changes; may be used on any thread.
final class PresenceRegistry: Sendable {
    private struct State {
        var table: PresenceTable
        var isTelling = false
    }

    /// The time for which changes are collected before they are told together.
    private static let gathering = TimeAmount.milliseconds(50)

    private let bus: ClusterBus?
    private let loop: any EventLoop
    private let metrics: BusMetrics
    private let state: Mutex<State>
    /// The uptime in nanoseconds since which notices of other servers arrive; 0 while they do not.
    private let hearingSince = Atomic<UInt64>(0)
    /// Whether there may be other servers.
    private let isShared: Bool
    private let beat: TimeAmount
    private let grace: TimeAmount
    private let startedAt: NIODeadline

    /// Makes the registry of a process; `bus` is nil if there are no other servers.
    init(bus: ClusterBus?, settings: RoomHostSettings, loop: any EventLoop, metrics: BusMetrics) {
        self.bus = bus
        isShared = settings.logIsShared
        beat = settings.presence.beat
        grace = settings.presence.grace
        startedAt = loop.now
        self.loop = loop
        self.metrics = metrics
        let table = PresenceTable(
            node: bus?.node ?? "", isShared: bus != nil, beatInterval: settings.presence.beat,
            lease: settings.presence.lease,
            grace: settings.presence.grace, at: loop.now)
        state = Mutex(State(table: table))
    }

    // MARK: Rooms in memory

    /// Records which of these members of a room are online here, and returns which of them are online elsewhere.
    func set(_ members: [MemberID: Bool], in room: RoomID) -> Set<MemberID> {
        let (elsewhere, isFirst) = state.withLock { state in
            let elsewhere = state.table.set(members, in: room)
            let isFirst = state.table.hasUntold && !state.isTelling
            if isFirst { state.isTelling = true }
            return (elsewhere, isFirst)
        }
        if isFirst { loop.scheduleTask(in: Self.gathering) { self.tellChanges() } }
        return elsewhere
    }

    /// Records the number of members online in a room; nil when the room leaves memory.
    func setCount(_ count: Int?, of room: RoomID) {
        state.withLock { $0.table.setCount(count, of: room) }
    }

    /// The members of a room that are online elsewhere.
    func elsewhere(in room: RoomID) -> Set<MemberID> {
        state.withLock { $0.table.elsewhere(in: room) }
    }

    /// The other servers at which a member is online.
    func servers(of member: MemberID, in room: RoomID) -> [String] {
        state.withLock { $0.table.servers(of: member, in: room) }
    }

    /// Whether any other server is known to be alive.
    var hasPeers: Bool { state.withLock { $0.table.peerCount > 0 } }

    // MARK: Decks

    /// Replaces this server's claim to be the deck of a room, tells the other servers, and returns the newest claim of
    /// all; a claim without a member ends this server's.
    func set(_ claim: DeckClaim) -> DeckTable.Claim? {
        state.withLock { state in
            if state.table.decks.set(claim) { bus?.tell(.decksChanged([claim])) }
            return state.table.decks.newest(in: claim.room)
        }
    }

    /// The newest claim to be the deck of a room.
    func deck(of room: RoomID) -> DeckTable.Claim? {
        state.withLock { $0.table.decks.newest(in: room) }
    }

    // MARK: Listing

    /// All rooms in which members are online, most of them first, ties by id.
    func ranked() -> [(room: RoomID, listeners: Int)] {
        state.withLock { $0.table.counts() }
            .map { (room: $0.room, listeners: $0.online) }
            .sorted { ($1.listeners, $0.room.uuid) < ($0.listeners, $1.room.uuid) }
    }

    /// The number of members online in each of these rooms.
    func counts(of rooms: [RoomID]) -> [Int] {
        state.withLock { state in rooms.map { state.table.count(of: $0) } }
    }

    // MARK: Other servers

    /// What other servers have reported: members by room, and rooms by their decks.
    struct News {
        var members: [RoomID: Set<MemberID>]
        var decks: Set<RoomID>
    }

    /// Starts to hear other servers; returns what this changes.
    func connected() -> News {
        carryOut { $0.connected(at: loop.now) }
    }

    /// Handles a notice of another server; returns what this changes.
    func heard(_ notice: NodeNotice, from node: String) -> News {
        carryOut { $0.heard(notice, from: node, at: loop.now) }
    }

    /// Records whether notices of other servers arrive; may be called on any thread.
    func noteHearing(_ hears: Bool) {
        hearingSince.store(hears ? max(1, loop.now.uptimeNanoseconds) : 0, ordering: .relaxed)
    }

    /// Whether notices of other servers arrive.
    var hearsOthers: Bool { hearingSince.load(ordering: .relaxed) > 0 }

    /// Whether members who are offline here are known not to be online elsewhere.
    ///
    /// This holds once other servers have been heard for one beat, in which each of them reports its members.
    var seesEverybody: Bool {
        guard isShared else { return true }
        let since = hearingSince.load(ordering: .relaxed)
        return since > 0 && loop.now - .uptimeNanoseconds(since) >= beat
    }

    /// Whether offline members have had time to come back, including those who were connected when the last server
    /// stopped.
    var knowsWhoIsOffline: Bool { seesEverybody && loop.now - startedAt >= grace }

    /// Handles the passing of time; returns what this changes.
    func tick() -> News {
        carryOut { $0.tick(at: loop.now) }
    }

    private func tellChanges() {
        state.withLock { state in
            state.isTelling = false
            tell(state.table.takeChanges())
        }
    }

    private func carryOut(_ change: (inout PresenceTable) -> PresenceTable.Effects) -> News {
        let (effects, peers) = state.withLock { state in
            let effects = change(&state.table)
            tell(effects.tellings)
            return (effects, state.table.peerCount)
        }
        metrics.otherServers(peers, lost: effects.expired)
        return News(members: effects.moved, decks: effects.decks)
    }

    /// Must be called with the lock held, so that changes are told in the order in which they were found.
    private func tell(_ tellings: [PresenceTable.Effects.Telling]) {
        for telling in tellings { bus?.tell(telling.notice, to: telling.recipient) }
    }
}

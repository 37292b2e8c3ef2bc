import NIOCore
import RoomDomain
import RoomWire
import Synchronization

/// Keeps this process's ``PresenceTable`` and tells the other servers what changes in it; may be used on any thread.
final class PresenceRegistry: Sendable {
    private struct State {
        var table: PresenceTable
        var isTelling = false
    }

    /// Changes are told together with what changes in this time.
    private static let gathering = TimeAmount.milliseconds(50)

    private let bus: ClusterBus?
    private let loop: any EventLoop
    private let metrics: RoomMetrics
    private let state: Mutex<State>
    /// Since when what other servers tell arrives, in nanoseconds of uptime; 0: it does not.
    private let hearingSince = Atomic<UInt64>(0)
    /// Whether there may be other servers.
    private let isShared: Bool
    private let beat: TimeAmount
    private let grace: TimeAmount
    private let startedAt: NIODeadline

    /// Makes the registry of a process; `bus` is nil where there are no other servers.
    init(bus: ClusterBus?, settings: RoomHostSettings, loop: any EventLoop, metrics: RoomMetrics) {
        self.bus = bus
        isShared = settings.logIsShared
        beat = settings.presenceBeat
        grace = settings.presenceGrace
        startedAt = loop.now
        self.loop = loop
        self.metrics = metrics
        let table = PresenceTable(
            isShared: bus != nil, beatInterval: settings.presenceBeat, lease: settings.presenceLease,
            grace: settings.presenceGrace, at: loop.now)
        state = Mutex(State(table: table))
    }

    // MARK: Rooms in memory

    /// Notes who of some members of a room is online here, and returns who of them is online elsewhere.
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

    /// Notes how many members are online in a room; nil when it leaves memory.
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

    /// Whether other servers are known to live.
    var hasPeers: Bool { state.withLock { $0.table.peerCount > 0 } }

    // MARK: Listing

    /// All rooms in which members are online, most of them first, ties by id.
    func ranked() -> [(room: RoomID, listeners: Int)] {
        state.withLock { $0.table.counts() }
            .map { (room: $0.room, listeners: $0.online) }
            .sorted { ($1.listeners, $0.room.uuid) < ($0.listeners, $1.room.uuid) }
    }

    /// How many members are online in each of some rooms.
    func counts(of rooms: [RoomID]) -> [Int] {
        state.withLock { state in rooms.map { state.table.count(of: $0) } }
    }

    // MARK: Other servers

    /// Others can be heard from now on; returns whom that concerns, by room.
    func connected() -> [RoomID: Set<MemberID>] {
        carryOut { $0.connected(at: loop.now) }
    }

    /// Takes in what another server tells; returns whom it concerns, by room.
    func heard(_ notice: NodeNotice, from node: String) -> [RoomID: Set<MemberID>] {
        carryOut { $0.heard(notice, from: node, at: loop.now) }
    }

    /// Notes whether what other servers tell arrives; may be called on any thread.
    func noteHearing(_ hears: Bool) {
        hearingSince.store(hears ? max(1, loop.now.uptimeNanoseconds) : 0, ordering: .relaxed)
    }

    /// Whether what other servers tell arrives.
    var hearsOthers: Bool { hearingSince.load(ordering: .relaxed) > 0 }

    /// Whether who is offline here is not online elsewhere, as far as can be known: others have been heard for a beat,
    /// in which each of them says who is there.
    var seesEverybody: Bool {
        guard isShared else { return true }
        let since = hearingSince.load(ordering: .relaxed)
        return since > 0 && loop.now - .uptimeNanoseconds(since) >= beat
    }

    /// Whether who is offline has had time to come back: whoever was connected when the last server stopped too.
    var knowsWhoIsOffline: Bool { seesEverybody && loop.now - startedAt >= grace }

    /// Lets time pass; returns whom that concerns, by room.
    func tick() -> [RoomID: Set<MemberID>] {
        carryOut { $0.tick(at: loop.now) }
    }

    private func tellChanges() {
        state.withLock { state in
            state.isTelling = false
            tell(state.table.takeChanges())
        }
    }

    private func carryOut(_ change: (inout PresenceTable) -> PresenceTable.Effects) -> [RoomID: Set<MemberID>] {
        let (effects, peers) = state.withLock { state in
            let effects = change(&state.table)
            tell(effects.tellings)
            return (effects, state.table.peerCount)
        }
        metrics.otherServers(peers, lost: effects.expired)
        return effects.moved
    }

    /// Call with the lock held: what is told is told in the order in which it was found out.
    private func tell(_ tellings: [PresenceTable.Effects.Telling]) {
        for telling in tellings { bus?.tell(telling.notice, to: telling.recipient) }
    }
}

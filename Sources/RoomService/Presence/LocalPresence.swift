import NIOCore
import RoomDomain
import RoomWire

/// Which members of one room are online, as one server sees it, and when its followers are told.
///
/// A member is online if it is connected here or elsewhere, or was connected here a moment ago (``PresenceGrace``).
struct LocalPresence {
    /// What a review has changed.
    enum Change {
        case nothing
        /// Members came online, and none went offline.
        case more
        /// Members went offline.
        case fewer
    }

    private let room: RoomID
    private let registry: PresenceRegistry
    private let clock: ServerClock
    private let graceTime: TimeAmount

    private var presence = RoomPresence()
    private var grace = PresenceGrace()
    /// The times when offline members were last online, as far as this server has seen.
    private var seen: [MemberID: Timestamp] = [:]
    /// The members who are online here, and how long they listen.
    private var here: Set<MemberID> = []
    private var listeners: AudienceTally?
    private var graceIsScheduled = false
    private var frameIsScheduled = false

    init(of room: RoomID, registry: PresenceRegistry, clock: ServerClock, grace: TimeAmount, isObserving: Bool) {
        self.room = room
        self.registry = registry
        self.clock = clock
        graceTime = grace
        listeners = isObserving ? AudienceTally() : nil
    }

    // MARK: Who is online

    /// The members who are online.
    var online: Set<MemberID> { presence.members }

    /// The current presence.
    var current: Presence { presence.current }

    /// Whether any member is in its grace period.
    var hasGrace: Bool { !grace.isEmpty }

    /// The members that count as online for a command.
    func online(for command: RoomCommand) -> Set<MemberID> {
        // A member that has just lost its connection cannot become the owner.
        if case .replaceOwner = command { return presence.members.filter { !grace.contains($0) } }
        return presence.members
    }

    /// The times when offline members were last online; nil if a member who seems offline may be online elsewhere.
    var lastSeen: [MemberID: Timestamp]? { registry.knowsWhoIsOffline ? seen : nil }

    /// Finds out which of these members are online, and tells the other servers which are online here; nil if there is
    /// nobody to look at.
    mutating func review(
        _ members: some Sequence<MemberID>, in state: RoomState, _ audience: RoomAudience
    ) -> Change? {
        var here: [MemberID: Bool] = [:]
        for member in members {
            here[member] = state.members[member].map { isPresent($0, audience) } ?? false
        }
        guard !here.isEmpty else { return nil }
        let elsewhere = registry.set(here, in: room)
        var change = Change.nothing
        for (member, isHere) in here {
            if isHere { self.here.insert(member) } else { self.here.remove(member) }
            let isMember = state.members[member] != nil
            let isOnline = isHere || elsewhere.contains(member) && isMember
            if isOnline || !isMember { seen[member] = nil }
            guard presence.set(member, isOnline: isOnline) else { continue }
            if !isOnline, isMember { seen[member] = clock.now }
            change = isOnline && change != .fewer ? .more : .fewer
        }
        registry.setCount(presence.online, of: room)
        return change
    }

    private func isPresent(_ member: Member, _ audience: RoomAudience) -> Bool {
        audience.isConnected(member.session) || grace.contains(member.id)
    }

    // MARK: Listeners

    /// Notes who is online here, and whether a song is on air; returns whether there is something to take from now on,
    /// and was not before.
    mutating func observe(_ state: RoomState) -> Bool {
        let isPlaying = state.onAir.map { !$0.isPaused } ?? false
        return listeners?.note(online: here.count, isPlaying: isPlaying, at: clock.now) ?? false
    }

    /// Takes what was observed, by the minute, and whether nothing is left to observe.
    mutating func takeObserved() -> (minutes: [Int: AudienceTally.Minute], isQuiet: Bool) {
        let minutes = listeners?.take(at: clock.now) ?? [:]
        return (minutes, listeners?.isQuiet ?? true)
    }

    // MARK: Grace

    /// Lets a member that has lost its last connection here count as online for a while.
    mutating func beginGrace(of member: MemberID, at now: NIODeadline) {
        if graceTime > .zero { grace.begin(member, until: now + graceTime) }
    }

    /// Ends the grace of a member that has come back, or has gone for good.
    mutating func endGrace(of member: MemberID) { grace.cease(member) }

    /// The time at which the next grace period ends; nil if there is none, or this was asked already.
    mutating func nextEndOfGrace() -> NIODeadline? {
        guard !graceIsScheduled, let end = grace.nextEnd else { return nil }
        graceIsScheduled = true
        return end
    }

    /// That time has come: returns the members whose grace is over.
    mutating func endGrace(at now: NIODeadline) -> [MemberID] {
        graceIsScheduled = false
        return grace.takeEnded(at: now)
    }

    // MARK: Telling

    /// The current presence, for a new follower.
    mutating func told() -> Presence { presence.told() }

    /// The time of the next frame; nil if there is nothing to tell, or this was asked already.
    mutating func nextFrame(isFollowed: Bool) -> NIODeadline? {
        guard !frameIsScheduled, let due = presence.frameDue else { return nil }
        guard isFollowed else {
            presence.nobodyFollows()
            return nil
        }
        frameIsScheduled = true
        return due
    }

    /// That time has come: takes the frame; nil if there is nothing to tell, or it is too early.
    mutating func takeFrame(isFollowed: Bool, at now: NIODeadline) -> RoomPresence.Frame? {
        frameIsScheduled = false
        guard isFollowed else {
            presence.nobodyFollows()
            return nil
        }
        return presence.takeFrame(at: now)
    }

    // MARK: Ends

    /// The log was replaced: what was known of the members of the other log is void.
    mutating func replaced() {
        grace = PresenceGrace()
        seen = [:]
        here = []
    }

    /// The room no longer exists, and has no followers: nobody is online.
    mutating func forgotten(_ state: RoomState, _ audience: RoomAudience) -> Change? {
        grace = PresenceGrace()
        defer { registry.setCount(nil, of: room) }
        return review(presence.members, in: state, audience)
    }
}

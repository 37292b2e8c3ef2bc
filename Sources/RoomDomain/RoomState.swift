package import GeoSearch

/// A room: the fold of its events.
///
/// ``init(id:)`` is the room before its first event; ``evolve(_:)`` is the only way it changes.
package struct RoomState: Sendable, Equatable {
    /// Its identity.
    package let id: RoomID
    /// The number of the last event folded in; 0 before the first.
    package var seq: Int = 0
    /// When the last event was recorded; events of a room never go back in time.
    package var lastEventAt = Timestamp(milliseconds: 0)

    /// Its short code.
    package var code: RoomCode = .zero
    /// Its name.
    package var name: String = ""
    /// When it was made.
    package var createdAt = Timestamp(milliseconds: 0)
    /// When it was closed; nil while open.
    package var closedAt: Timestamp?
    /// Whether its owner closed it to be forgotten: then it knows no location and nobody's name.
    package var isForgotten = false
    /// Who may find it.
    package var visibility: Visibility = .unlisted
    /// Where it is.
    package var location: RoundedLocation?
    /// The last event that cleared the location; nil where none did, and in a room that is forgotten.
    package var clearing: Int?
    /// What its owner has set.
    package var settings = RoomSettings()

    /// Present members by number.
    package var members: [MemberID: Member] = [:]
    /// The same by session.
    package var memberOfSession: [SessionID: MemberID] = [:]
    /// Sessions that may not come back, or that were not seen since they may.
    package var bans: [SessionID: Ban] = [:]
    /// When guests last added tracks to the pool, as far as ``RoomSettings/slowModeMs`` may ask for it: those who have
    /// left are among them, so that nobody is let sooner by coming back.
    package var additions: [SessionID: Timestamp] = [:]

    /// The pool's tracks by number.
    package var tracks = TrackTable()
    /// What the pool's tracks are charged together: the sum of ``Track/charge`` over ``tracks``.
    package var poolCharge = 0
    /// The pool in its order: by title as the protocol has it, then by number.
    package var poolOrder: [TrackID] = []
    /// Who votes for what: the rows from which ``Track/votes`` is counted, by track.
    package var voters: [TrackID: Set<MemberID>] = [:]
    /// The same rows by member.
    package var votesOfMember: [MemberID: Set<TrackID>] = [:]

    /// Waiting entries in play order.
    package var queue: [QueueEntry] = []
    /// What is on air; nil when stopped.
    package var onAir: OnAir?
    /// What was on air, newest first, at most ``RoomLimits/history``.
    package var history: [HistoryEntry] = []

    /// How many entries have been on air.
    package var plays = 0
    /// The turns of each present member who had any: entries that were played or are on air, not those skipped.
    package var turns: [MemberID: Turns] = [:]

    /// The number the next member gets.
    package var nextMember = 1
    /// The number the next track gets.
    package var nextTrack = 1
    /// The number the next entry gets.
    package var nextEntry = 1

    /// The room before its first event.
    package init(id: RoomID) {
        self.id = id
    }

    /// Whether it takes commands.
    package var isOpen: Bool { seq > 0 && closedAt == nil }

    /// Its owner; nil where nobody is in it.
    package var owner: MemberID? { members.values.first { $0.role == .owner }?.id }

    /// Why a session may not look at the room or do anything in it; nil where it may.
    ///
    /// Where the server's clock, `now`, is behind ``lastEventAt``, that counts instead.
    package func refusal(of session: SessionID, at now: Timestamp) -> RoomRefusal? {
        let now = max(now, lastEventAt)
        return bans[session].flatMap { $0.holds(at: now) ? $0.refusal(at: now) : nil }
    }

    /// Makes again what follows from the rest: ``memberOfSession``, ``votesOfMember``, ``poolCharge`` and ``poolOrder``.
    ///
    /// For who restores a room from its members, tracks and ``voters``.
    package mutating func rebuildIndexes() {
        memberOfSession = [:]
        for member in members.values { memberOfSession[member.session] = member.id }
        votesOfMember = [:]
        for (track, members) in voters {
            for member in members { votesOfMember[member, default: []].insert(track) }
        }
        rebuildPoolCharge()
        rebuildPoolOrder()
    }

    /// Makes ``poolCharge`` again from ``tracks``.
    package mutating func rebuildPoolCharge() {
        poolCharge = tracks.values.reduce(0) { $0 + $1.charge }
    }
}

package import GeoSearch

/// The state of a room: the fold of its events.
///
/// ``init(id:)`` is the room before its first event; ``evolve(_:)`` is the only way it changes.
package struct RoomState: Sendable, Equatable {
    /// Its identity.
    package let id: RoomID
    /// The number of the last event folded in; 0 before the first.
    package var seq: Int = 0
    /// The time when the last event was recorded; times of a room's events never decrease.
    package var lastEventAt = Timestamp(milliseconds: 0)

    /// Its short code.
    package var code: RoomCode = .zero
    /// Its name.
    package var name: String = ""
    /// The time when it was made.
    package var createdAt = Timestamp(milliseconds: 0)
    /// The time when it was closed; nil while it is open.
    package var closedAt: Timestamp?
    /// Whether its owner closed it to be forgotten: then it holds no location and no names.
    package var isForgotten = false
    /// Whether the room can be found without its id or code.
    package var visibility: Visibility = .unlisted
    /// The room's location, rounded.
    package var location: RoundedLocation?
    /// The number of the last event that cleared the location; nil if none did, and in a forgotten room.
    package var clearing: Int?
    /// The settings made by its owner.
    package var settings = RoomSettings()

    /// Present members by number.
    package var members: [MemberID: Member] = [:]
    /// Present members' numbers by session.
    package var memberOfSession: [SessionID: MemberID] = [:]
    /// Bans by session, including bans that have ended if the session has not come back since.
    package var bans: [SessionID: Ban] = [:]
    /// The times at which guests last added tracks to the pool, kept as long as ``RoomSettings/slowModeMs`` may need
    /// them.
    ///
    /// Guests who have left are included, so that coming back does not shorten the wait.
    package var additions: [SessionID: Timestamp] = [:]

    /// The pool's tracks by number.
    package var tracks = TrackTable()
    /// The tracks that the deck lacks or cannot play: those of ``tracks`` that say so.
    package var missing: Set<TrackID> = []
    /// The sum of ``Track/charge`` over ``tracks``.
    package var poolCharge = 0
    /// The pool's order: by title as the protocol defines it, then by number.
    package var poolOrder: [TrackID] = []
    /// The votes, by track: the rows from which ``Track/votes`` is counted.
    package var voters: [TrackID: Set<MemberID>] = [:]
    /// The same rows by member.
    package var votesOfMember: [MemberID: Set<TrackID>] = [:]

    /// Waiting entries in play order.
    package var queue: [QueueEntry] = []
    /// The entry on air; nil when playback is stopped.
    package var onAir: OnAir?
    /// The entries that were on air, newest first, at most ``RoomLimits/history``.
    package var history: [HistoryEntry] = []

    /// The number of entries that have been on air.
    package var plays = 0
    /// The turns of each present member who has had any: entries that were played or are on air, except skipped ones.
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

    /// Its owner; nil if it has no members.
    package var owner: MemberID? { members.values.first { $0.role == .owner }?.id }

    /// The refusal for a banned session, which may neither watch the room nor send it commands; nil for any other
    /// session.
    ///
    /// If the server's clock, `now`, is behind ``lastEventAt``, that counts instead.
    package func refusal(of session: SessionID, at now: Timestamp) -> RoomRefusal? {
        let now = max(now, lastEventAt)
        return bans[session].flatMap { $0.holds(at: now) ? $0.refusal(at: now) : nil }
    }

    /// Computes the derived values again: ``memberOfSession``, ``votesOfMember``, ``missing``, ``poolCharge`` and
    /// ``poolOrder``.
    ///
    /// For code that restores a room from its members, tracks and ``voters``.
    package mutating func rebuildIndexes() {
        memberOfSession = [:]
        for member in members.values { memberOfSession[member.session] = member.id }
        votesOfMember = [:]
        for (track, members) in voters {
            for member in members { votesOfMember[member, default: []].insert(track) }
        }
        rebuildPoolValues()
        rebuildPoolOrder()
    }

    /// Computes ``poolCharge`` and ``missing`` again from ``tracks``.
    package mutating func rebuildPoolValues() {
        (poolCharge, missing) = (0, [])
        for track in tracks.values {
            poolCharge += track.charge
            if track.isMissing { missing.insert(track.id) }
        }
    }
}

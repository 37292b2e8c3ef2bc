import NIOCore
import RoomDomain

/// How long a room's owner has been away: a value without a clock.
///
/// An absence is held in memory only, and begins with the room at the earliest.
struct OwnerWatch {
    /// What a server sees of a room.
    struct Sight {
        /// Who is online, here or elsewhere.
        var online: Set<MemberID>
        /// Whether this server hears all others.
        var seesEverybody: Bool
        /// Whether the room has followers here, or members in their grace period.
        var isFollowed: Bool
    }

    /// What follows from a look at the room.
    enum Step: Equatable {
        /// Nothing: no later look is needed.
        case rest
        /// Looks again at this time, if nothing happens before.
        case look(at: NIODeadline)
        /// Asks the log to replace this owner.
        ///
        /// Several servers may ask; the log lets one of them succeed, and the others then find nothing to do. A later
        /// change, or the next read of the log, looks again.
        case replace(MemberID)
    }

    /// The shortest time before a failed replacement is tried again, and before a server that does not hear the others
    /// looks again.
    static let retryInterval = TimeAmount.seconds(1)

    /// The owner at the last look.
    private var owner: MemberID?
    /// The owner's absence as this server has seen it: its start, and the time before which no further replacement is
    /// asked for, because one is under way or has failed.
    private var absence: (since: NIODeadline, nextTry: NIODeadline)?

    /// Looks whether the owner has been away for too long and another member is online.
    ///
    /// Must be called after each change of who is online, who owns the room, or what its settings allow.
    mutating func look(at room: RoomState, _ sight: Sight, now: NIODeadline) -> Step {
        // A log may hold any number, and not every number can be added to a time.
        let allowed = min(room.settings.ownerAwayMs, RoomLimits.ownerAwayMs.upperBound)
        guard allowed > 0, room.isOpen else { return isThere() }
        // The search visits every member, so it is made only after a change of owner.
        if owner.flatMap({ room.members[$0]?.role }) != .owner {
            absence = nil
            owner = room.owner
        }
        guard let owner, !sight.online.contains(owner) else { return isThere() }
        guard sight.seesEverybody else {
            // The owner may be at another server: two servers that do not hear each other would replace it in turns.
            absence = nil
            return sight.isFollowed ? .look(at: now + Self.retryInterval) : .rest
        }
        let away = absence ?? (since: now, nextTry: now)
        absence = away
        // Without followers, no member is here who could become the owner; another server may have one.
        guard sight.isFollowed, !sight.online.isEmpty else { return .rest }
        let due = max(away.since + .milliseconds(Int64(allowed)), away.nextTry)
        guard due <= now else { return .look(at: due) }
        absence?.nextTry = now + Self.retryInterval
        return .replace(owner)
    }

    private mutating func isThere() -> Step {
        absence = nil
        return .rest
    }
}

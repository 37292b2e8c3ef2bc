import NIOCore
import RoomDomain

/// What a room keeps to know for how long its owner has been away.
struct OwnerWatch {
    /// The owner when it was last looked.
    fileprivate var owner: MemberID?
    /// Its absence, as far as this server has noticed: since when, and before which moment nothing more is asked for,
    /// because what was asked for is under way or came to nothing.
    fileprivate var absence: (since: NIODeadline, nextTry: NIODeadline)?
    /// When it is to be looked again.
    fileprivate var alarm: (at: NIODeadline, task: Scheduled<Void>)?

    /// Notes that there is no absence.
    fileprivate mutating func end() {
        absence = nil
        rest()
    }

    /// Looks no more by itself.
    mutating func rest() {
        alarm?.task.cancel()
        alarm = nil
    }
}

extension LiveRoom {
    /// How long it takes at least until what came to nothing is tried once more.
    private static let retryInterval = TimeAmount.seconds(1)

    /// Finds out anew whether the owner is away, and has it replaced where it has been away for too long and somebody
    /// else is there.
    ///
    /// For whoever has changed who is online, who owns the room, or what it allows. An absence is in memory only, and
    /// begins when the room does. Of several servers each may ask; the log lets one of them replace the owner, and the
    /// others then find nothing to do.
    func reviewOwner() {
        // A log may hold any number, and not every number can be added to a time.
        let allowed = min(confirmed.settings.ownerAwayMs, RoomLimits.ownerAwayMs.upperBound)
        guard allowed > 0, confirmed.isOpen else { return ownerWatch.end() }
        // Looked for only where it is another one: every member is looked at.
        if ownerWatch.owner.flatMap({ confirmed.members[$0]?.role }) != .owner {
            ownerWatch.end()
            ownerWatch.owner = confirmed.owner
        }
        guard let owner = ownerWatch.owner, !presence.members.contains(owner) else { return ownerWatch.end() }
        guard dependencies.presence.seesEverybody else {
            // The owner may be at another server: two that do not hear each other would replace it in turns.
            ownerWatch.end()
            if isFollowed { reviewOwner(at: loop.now + Self.retryInterval) }
            return
        }
        let absence = ownerWatch.absence ?? (since: loop.now, nextTry: loop.now)
        ownerWatch.absence = absence
        // Where nobody follows, nobody is here who could be asked for; another server may have somebody.
        guard isFollowed, !presence.members.isEmpty else { return ownerWatch.rest() }
        let due = max(absence.since + .milliseconds(Int64(allowed)), absence.nextTry)
        guard due <= loop.now else { return reviewOwner(at: due) }
        ownerWatch.absence?.nextTry = loop.now + Self.retryInterval
        // Where the log was out of reach, the room is looked at again when it has been read.
        submit(CommandRequest(actor: .server, key: nil, command: .replaceOwner(owner)) { _ in })
    }

    private func reviewOwner(at moment: NIODeadline) {
        guard ownerWatch.alarm?.at != moment else { return }
        ownerWatch.rest()
        let task = loop.scheduleTask(deadline: moment) { [weak self] () -> Void in
            self?.assumeIsolated { room in
                room.ownerWatch.alarm = nil
                room.reviewOwner()
            }
        }
        ownerWatch.alarm = (moment, task)
    }
}

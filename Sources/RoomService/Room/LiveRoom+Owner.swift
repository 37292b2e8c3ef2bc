import NIOCore
import RoomDomain

/// The state by which a room measures how long its owner has been away.
struct OwnerWatch {
    /// The owner at the last check.
    fileprivate var owner: MemberID?
    /// The owner's absence as this server has seen it: its start, and the time before which no further replacement is
    /// requested, because one is under way or has failed.
    fileprivate var absence: (since: NIODeadline, nextTry: NIODeadline)?
    /// The time of the next check.
    fileprivate var alarm: (at: NIODeadline, task: Scheduled<Void>)?

    /// Records that the owner is not away.
    fileprivate mutating func end() {
        absence = nil
        rest()
    }

    /// Stops the scheduled check.
    mutating func rest() {
        alarm?.task.cancel()
        alarm = nil
    }
}

extension LiveRoom {
    /// The shortest time before a failed replacement is tried again.
    private static let retryInterval = TimeAmount.seconds(1)

    /// Checks whether the owner is away, and requests a replacement if it has been away for too long and another member
    /// is online.
    ///
    /// Must be called after each change of who is online, who owns the room, or what its settings allow. An absence is
    /// held in memory only, and begins with the room at the earliest. Several servers may request a replacement; the
    /// log lets one of them succeed, and the others then find nothing to do.
    func reviewOwner() {
        // A log may hold any number, and not every number can be added to a time.
        let allowed = min(confirmed.settings.ownerAwayMs, RoomLimits.ownerAwayMs.upperBound)
        guard allowed > 0, confirmed.isOpen else { return ownerWatch.end() }
        // The search visits every member, so it is made only after a change of owner.
        if ownerWatch.owner.flatMap({ confirmed.members[$0]?.role }) != .owner {
            ownerWatch.end()
            ownerWatch.owner = confirmed.owner
        }
        guard let owner = ownerWatch.owner, !presence.members.contains(owner) else { return ownerWatch.end() }
        guard dependencies.presence.seesEverybody else {
            // The owner may be at another server: two servers that do not hear each other would replace it in turns.
            ownerWatch.end()
            if isFollowed { reviewOwner(at: loop.now + Self.retryInterval) }
            return
        }
        let absence = ownerWatch.absence ?? (since: loop.now, nextTry: loop.now)
        ownerWatch.absence = absence
        // Without followers, no member is here who could become the owner; another server may have one.
        guard isFollowed, !presence.members.isEmpty else { return ownerWatch.rest() }
        let due = max(absence.since + .milliseconds(Int64(allowed)), absence.nextTry)
        guard due <= loop.now else { return reviewOwner(at: due) }
        ownerWatch.absence?.nextTry = loop.now + Self.retryInterval
        // If the log was out of reach, the room checks again when the log has been read.
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

import NIOCore
import RoomDomain

extension LiveRoom {
    /// Looks whether the owner is to be replaced.
    func reviewOwner() {
        let sight = OwnerWatch.Sight(
            online: presence.members, seesEverybody: dependencies.presence.seesEverybody, isFollowed: isFollowed)
        switch ownerWatch.look(at: confirmed, sight, now: loop.now) {
        case .rest: stopOwnerAlarm()
        case .look(let moment): lookAtOwner(at: moment)
        case .replace(let owner):
            // If the log is out of reach, the room looks again when the log has been read.
            submit(CommandRequest(actor: .server, key: nil, command: .replaceOwner(owner)) { _ in })
        }
    }

    private func lookAtOwner(at moment: NIODeadline) {
        guard ownerAlarm?.at != moment else { return }
        stopOwnerAlarm()
        let task = loop.scheduleTask(deadline: moment) { [weak self] () -> Void in
            self?.assumeIsolated { room in
                room.ownerAlarm = nil
                room.reviewOwner()
            }
        }
        ownerAlarm = (moment, task)
    }

    /// Cancels the next look.
    func stopOwnerAlarm() {
        ownerAlarm?.task.cancel()
        ownerAlarm = nil
    }
}

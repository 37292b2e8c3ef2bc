import RoomDomain
import RoomReplica
import RoomService
import SimulatedTime

/// A room that is used so much that it forgets the key of an app's command.
extension World {
    /// The keyed commands of others: more than a room knows the keys of.
    private static let crowd = 1_100
    /// Those of them that are under way at once.
    private static let lanes = 20

    /// Whether the acknowledgement of a command is lost, and the room forgets its key before the app is back.
    ///
    /// This happens at most once in a world, to a command that shows if it is carried out twice.
    func forgetsKey(of place: Int, _ app: SimulatedApp) -> Bool {
        let posted = app.posted[place]
        guard !isSettling, !hasForgottenKey, posted.mark != nil, posted.answer == nil, dice.once(in: 2) else {
            return false
        }
        truth.note("app \(app.number) is cut off, and \(posted.room) forgets the key of \(posted.number.rawValue)")
        hasForgottenKey = true
        app.isCutOff = true
        loseLink(of: app)
        let start = truth.keyed(of: posted.room)
        for lane in 0..<Self.lanes { useKeys(0, of: posted.room, lane, until: start + Self.crowd, then: app.number) }
        return true
    }

    /// Members give one keyed command after the other: their own names, which changes nothing.
    private func useKeys(_ number: Int, of room: RoomID, _ lane: Int, until end: Int, then app: Int) {
        guard !isSettling, truth.keyed(of: room) < end else { return reconnect(app) }
        let members = truth.roomState(room).members.values.sorted { $0.id < $1.id }
        guard let node = someNode, let member = dice.element(of: members) else {
            return later(10_000_000) { $0.useKeys(number, of: room, lane, until: end, then: app) }
        }
        let command = CommandRequest(
            actor: .session(member.session, name: member.name), key: "crowd \(lane) \(number)",
            command: .rename(name: member.name)
        ) { outcome in
            self.next { world in
                if case .acknowledged = outcome {
                    world.useKeys(number + 1, of: room, lane, until: end, then: app)
                } else {
                    world.later(10_000_000) { $0.useKeys(number + 1, of: room, lane, until: end, then: app) }
                }
            }
        }
        node.host.registry.submit(command, to: room)
    }

    /// Lets an app reach servers again.
    func reconnect(_ number: Int) {
        guard apps.indices.contains(number), apps[number].isCutOff else { return }
        truth.note("app \(number) can reach servers again")
        apps[number].isCutOff = false
        feed(apps[number]) { $0.wake(at: $1) }
    }
}

import RoomService
import SimulatedTime

extension World {
    /// Crashes a server, pauses it, or cuts it off from the log; schedules the next trouble.
    func makeTrouble() {
        guard !isSettling, let limit = plan.troubles else { return }
        later(dice.time(microseconds: 10_000...(limit * 1_000))) { world in
            guard !world.isSettling else { return }
            world.makeTroubleOnce()
            world.makeTrouble()
        }
    }

    private func makeTroubleOnce() {
        let place = dice.number(in: nodes.indices)
        let node = nodes[place]
        guard !node.hasCrashed else { return }
        switch dice.number(in: 0..<3) {
        case 0:
            crash(node)
            later(dice.time(microseconds: 1_000...1_500_000)) { world in
                if world.nodes[place] === node { world.start(place) }
            }
        case 1:
            truth.note("\(node.name) stands still")
            node.pause(true)
            later(dice.time(microseconds: 100...1_000_000)) { world in
                world.truth.note("\(node.name) goes on")
                node.pause(false)
            }
        default:
            truth.note("\(node.name) is cut off from the log")
            node.cutOff(true)
            later(dice.time(microseconds: 100...1_000_000)) { world in
                world.truth.note("\(node.name) reaches the log again")
                node.cutOff(false)
            }
        }
    }

    private func crash(_ node: SimulatedNode) {
        truth.note("\(node.name) crashes")
        // If one process writes the log, its requests are carried out or lost before another process starts.
        node.crash(writesOutlive: plan.settings.logIsShared)
        errands.removeAll { $0 === node }
        for app in apps where app.socket?.node === node { loseLink(of: app) }
        for client in clients {
            client.connections.removeAll { $0.node === node }
            if client.isLeaving, !endedSessions.contains(client.session.id) { endSession(of: client.number) }
        }
        for number in wishes.indices {
            for attempt in wishes[number].attempts.indices
            where wishes[number].attempts[attempt].node === node && wishes[number].attempts[attempt].outcome == nil {
                wishes[number].attempts[attempt].isLost = true
            }
            if !wishes[number].isOver, !wishes[number].isWaiting { retry(number) }
        }
    }
}

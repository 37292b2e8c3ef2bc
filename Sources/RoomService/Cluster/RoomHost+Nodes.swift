import NIOCore
import RoomDomain
import RoomWire

extension RoomHost {
    /// Takes in what the bus between servers brings; called on any thread, one event after the other.
    func heard(_ event: NodeLink.Event) {
        switch event {
        case .connected:
            metrics.busChanged(isConnected: true)
            presence.noteHearing(true)
            presenceMoved(presence.connected())
            // What was told while nobody could hear it.
            jobs.start { await self.compareFollowedRooms() }
        case .disconnected:
            metrics.busChanged(isConnected: false)
            presence.noteHearing(false)
        case .notice(let notice, from: let node):
            switch notice {
            case .moved(let rooms): hear(rooms)
            case .sessionEnded(let session):
                sessions.noteEnd(of: session)
                tellEnd(of: session)
            case .presenceChanged, .presenceList, .presenceBeat, .presenceWanted, .presenceEnded:
                presenceMoved(presence.heard(notice, from: node))
            case .reaction(let room, from: let member, emoji: let emoji):
                withLiveRooms([room: emoji]) { $0.heardReaction($1, from: member) }
            case .signal(let room, from: let member, to: let recipient, let data):
                withLiveRooms([room: data]) { $0.heardSignal($1, from: member, to: recipient) }
            }
        }
    }

    /// Lets the rooms that are in memory know that others have appended to their logs: one hop for each event loop.
    private func hear(_ moved: [RoomID: Int]) {
        for shelf in shelves {
            let part = moved.filter { self.shelf(of: $0.key) === shelf }
            guard !part.isEmpty else { continue }
            shelf.loop.execute { shelf.assumeIsolated { $0.hear(part) } }
        }
    }
}

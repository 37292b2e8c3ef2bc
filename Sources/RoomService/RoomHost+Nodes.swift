import RoomDomain
import RoomWire

extension RoomHost {
    /// Takes in what the bus between servers brings; called on any thread, one event after the other.
    func heard(_ event: NodeLink.Event) {
        switch event {
        case .connected:
            metrics.busChanged(isConnected: true)
            presenceMoved(presence.connected())
        case .disconnected: metrics.busChanged(isConnected: false)
        case .notice(let notice, from: let node):
            switch notice {
            case .moved: break
            case .sessionEnded: break
            case .presenceChanged, .presenceList, .presenceBeat, .presenceWanted, .presenceEnded:
                presenceMoved(presence.heard(notice, from: node))
            case .reaction(let room, from: let member, emoji: let emoji):
                withLiveRooms([room: emoji]) { $0.heardReaction($1, from: member) }
            case .signal(let room, from: let member, to: let recipient, let data):
                withLiveRooms([room: data]) { $0.heardSignal($1, from: member, to: recipient) }
            }
        }
    }
}

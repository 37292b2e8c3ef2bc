import RoomDomain
import RoomWire

extension RoomHost {
    /// Takes in what the bus between servers brings; called on any thread, one event after the other.
    func heard(_ event: NodeLink.Event) {
        switch event {
        case .connected: metrics.busChanged(isConnected: true)
        case .disconnected: metrics.busChanged(isConnected: false)
        case .notice(let notice, from: _):
            switch notice {
            case .moved: break
            case .sessionEnded: break
            }
        }
    }
}

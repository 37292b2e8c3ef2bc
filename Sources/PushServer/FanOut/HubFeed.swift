import NIOCore
import RoomService

/// Carries the news of rooms to one event loop's ``ConnectionHub``, in order.
final class HubFeed: SocketFeed {
    let loop: any EventLoop
    private let hub: NIOLoopBoundBox<ConnectionHub?>

    init(loop: any EventLoop) {
        self.loop = loop
        hub = NIOLoopBoundBox.makeEmptyBox(valueType: ConnectionHub.self, eventLoop: loop)
    }

    /// Makes this the feed of `hub`; call on the loop.
    func attach(_ hub: ConnectionHub) {
        self.hub.value = hub
    }

    /// The hub; call on the loop.
    var attached: ConnectionHub? { hub.value }

    /// Runs `body` with the hub on its loop: at once if called there, otherwise in the order of the calls.
    func onLoop(_ body: @escaping @Sendable (ConnectionHub) -> Void) {
        loop.runSoon {
            if let hub = self.hub.value { body(hub) }
        }
    }

    func onSocket(_ id: ConnectionID, _ body: @escaping @Sendable (WebSocketConnection) -> Void) {
        loop.runSoon {
            if let connection = self.hub.value?.connections[id] { body(connection) }
        }
    }

    func tell(_ news: RoomNews) { onLoop { $0.tell(news) } }
}

import NIOCore
import RoomDomain
import RoomService
import RoomWire

@testable import PushServer

/// Makes sockets that keep what they receive.
final class OpenedSockets: SocketMaker {
    private(set) var count = 0
    fileprivate(set) var received = ""

    func makeSocket(
        _ id: ConnectionID, _ opening: SocketGate.Opening, _ limits: PeerLimits, _ place: OpenCount<SessionID>.Ticket?
    ) -> any ChannelHandler {
        count += 1
        let room = opening.room.map { "\($0)" } ?? "-"
        let position = opening.position.map { "\($0.seq)" } ?? "-"
        return Socket(self, "opened \(room) at \(position) for \(opening.session.name)")
    }

    private final class Socket: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let sockets: OpenedSockets
        private let response: String

        init(_ sockets: OpenedSockets, _ response: String) {
            self.sockets = sockets
            self.response = response
        }

        func handlerAdded(context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            sockets.received += String(buffer: unwrapInboundIn(data))
        }
    }
}

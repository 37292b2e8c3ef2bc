import NIOCore
import RoomDomain
import RoomService
import TLSTransport
import WebSocketCodec

/// Makes the handlers of sockets whose handshakes are accepted.
protocol SocketMaker {
    /// Makes the handler of a socket, which sends the answer to the handshake.
    ///
    /// `id` is the number of its channel; `place` is its place among the sockets of its session.
    func makeSocket(
        _ id: ConnectionID, _ opening: SocketGate.Opening, _ limits: PeerLimits, _ place: OpenCount<SessionID>.Ticket?
    ) -> any ChannelHandler
}

/// Makes the sockets of one connection to the server.
struct WebSocketMaker: SocketMaker {
    let loop: LoopContext
    let hub: any SocketOwner
    /// The TLS handler that sends; nil if there is no TLS.
    let tls: TLSHandler?

    func makeSocket(
        _ id: ConnectionID, _ opening: SocketGate.Opening, _ limits: PeerLimits, _ place: OpenCount<SessionID>.Ticket?
    ) -> any ChannelHandler {
        let (compression, extensions) = SocketCompression.negotiate(
            opening.handshake.extensionOffers, isAllowed: loop.settings.compresses)
        var response = ByteBuffer()
        opening.handshake.writeResponse(into: &response, extensions: extensions)
        return WebSocketConnection(
            id, response: response, loop: loop, hub: hub, session: opening.session, ownRoom: opening.room,
            position: opening.position, compression: compression, tls: tls, ticket: limits.ticket, place: place,
            account: limits.account)
    }
}

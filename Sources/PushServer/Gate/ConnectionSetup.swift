import NIOCore
import RoomService
import TLSTransport

/// Prepares the channels of new connections: the limits of their addresses, TLS, and the opening of a socket.
struct ConnectionSetup: Sendable {
    let settings: RoomServerSettings
    let addresses: AddressLimit
    let admission: Admission
    let checks: ServerOpeningChecks
    let foreignOrigins: ForeignOriginLog
    let http: HTTPConnections
    let plainRequests: PlainRequestGate
    /// What the TLS handlers of an event loop share; nil if there is no TLS.
    let resources: TLSEventLoopGroupResources?

    /// Adds the handlers of a new connection; called on its loop, whose hub `hub` is.
    func prepare(_ channel: any Channel, _ hub: ConnectionHub) throws {
        let loop = hub.loop
        guard let limits = PeerLimits(of: channel.remoteAddress, addresses, admission) else {
            loop.tally.connectionsRefused += 1
            return channel.close(promise: nil)
        }
        let tls = try addTLS(to: channel, loop)
        let dependencies = SocketOpening.Dependencies(
            loop: loop,
            rules: SocketGate.Rules(
                origins: OriginRule(settings, for: PeerAddress(channel.remoteAddress)),
                earlyBytes: settings.sizes.maximumMessageLength),
            checks: checks, sockets: WebSocketMaker(loop: loop, hub: hub, tls: tls), foreignOrigins: foreignOrigins)
        let opening = SocketOpening(limits, dependencies) { [http] channel, limits in
            try http.serve(on: channel, loop, behind: tls, limits.ticket) { channel, head in
                SocketOpening.take(head, from: channel, behind: tls, limits, dependencies)
            }
        }
        try channel.pipeline.syncOperations.addHandler(opening)
    }

    /// Adds the handlers of TLS, and of requests without it to its port; nil if there is no TLS.
    private func addTLS(to channel: any Channel, _ loop: LoopContext) throws -> TLSHandler? {
        guard let context = settings.tls?.context, let resources else { return nil }
        let turns = loop.handshakeTurns
        let tls = TLSHandler(
            context, resources: resources.resources(on: channel.eventLoop), sendsDirectly: true,
            whenItsTurn: { step in
                turns.assumeIsolated { turns in
                    if turns.takeAtOnce() { return true }
                    turns.add {
                        step()
                        return false
                    }
                    return false
                }
            })
        let (admission, peer) = (admission, channel.remoteAddress)
        let plain = plainRequests.handler { (try? admission.request(from: peer, forwardedFor: [])) != nil }
        try channel.pipeline.syncOperations.addHandlers([plain, tls])
        return tls
    }
}

import NIOCore
import NIOPosix
import RoomClient
import TLSTransport
import Testing

@testable import RoomClientNIO

extension Times {
    /// Longer than any test: a machine may be busy.
    static var patient: Times {
        var times = Times()
        times.connect = .hours(1)
        times.request = .hours(1)
        times.opening = .hours(1)
        times.idle = .hours(1)
        return times
    }
}

/// A server on the loopback interface, whose connections the test speaks on itself.
struct LoopbackServer: Sendable {
    let address: ServerAddress
    private let peers: Mailbox<Peer>

    /// Runs a test against a server, over TLS if it has certificates.
    static func run(
        _ certificates: Certificates? = nil, host: String = "127.0.0.1", name: String? = nil,
        _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let resources = try TLSEventLoopGroupResources(group)
        let peers = Mailbox<Peer>()
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = PeerHandler()
                    if let certificates {
                        try channel.pipeline.syncOperations.addHandler(
                            TLSHandler(
                                certificates.context, resources: resources.resources(on: channel.eventLoop),
                                closeTimeout: .milliseconds(100)))
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                    peers.push(Peer(channel, handler.arrived))
                }
            }
            .bind(host: host, port: 0).get()
        do {
            let port = try #require(listener.localAddress?.port)
            let scheme = certificates == nil ? "http" : "https"
            let address = try #require(ServerAddress("\(scheme)://\(name ?? host):\(port)"))
            try await body(LoopbackServer(address: address, peers: peers))
        } catch {
            try await listener.close()
            throw error
        }
        try await listener.close()
    }

    /// The next connection.
    func accept() async throws -> Peer {
        guard let peer = await peers.next() else { throw ChannelError.eof }
        return peer
    }
}

/// Passes on what arrives.
private final class PeerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let arrived = Mailbox<ByteBuffer>()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { arrived.push(unwrapInboundIn(data)) }

    func channelInactive(context: ChannelHandlerContext) {
        arrived.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // TLS closes the channel itself, and so does the transport.
    }
}

import NIOCore

/// Ends a connection as soon as it is accepted, if its address has too many that have not made a request.
///
/// Nothing is allocated for such a connection.
final class NewcomerGate: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let addresses: AddressLimit
    private let refused: @Sendable () -> Void

    /// Makes the gate of a listener, which calls `refused` for each connection that it ends.
    init(_ addresses: AddressLimit, refused: @escaping @Sendable () -> Void) {
        self.addresses = addresses
        self.refused = refused
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard addresses.isFullOfNewcomers(channel.remoteAddress) else { return context.fireChannelRead(data) }
        refused()
        channel.close(promise: nil)
    }
}

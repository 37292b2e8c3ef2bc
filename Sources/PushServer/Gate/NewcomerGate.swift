import NIOCore

/// Ends a connection as soon as it is accepted where its address has too many that have not made a request: before anything
/// is made for it.
final class NewcomerGate: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let addresses: AddressLimit
    private let refused: @Sendable () -> Void

    /// Makes the gate of a listener; `refused` is called for each connection that is ended.
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

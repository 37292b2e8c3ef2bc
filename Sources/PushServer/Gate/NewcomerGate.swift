import NIOCore

/// Ends a connection as soon as it is accepted, if its address has too many that have not made a request.
///
/// No handler is made for such a connection. After one, the next ones wait a moment in the system's queue: whoever
/// opens connections without a pause wakes the event loop once for many of them, and everybody else has a turn.
final class NewcomerGate: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    /// Short beside what a connection takes anyway.
    static let rest = TimeAmount.milliseconds(1)

    private let addresses: AddressLimit
    private let refused: @Sendable (Int) -> Void
    /// The connections to end, by the loop that each of them has.
    private var ending: [ObjectIdentifier: [any Channel]] = [:]

    /// Makes the gate of a listener with an ``AcceptPause``; `refused` is called with the number of connections that it
    /// ends together.
    init(_ addresses: AddressLimit, refused: @escaping @Sendable (Int) -> Void) {
        self.addresses = addresses
        self.refused = refused
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = unwrapInboundIn(data)
        guard addresses.isFullOfNewcomers(channel.remoteAddress) else { return context.fireChannelRead(data) }
        ending[ObjectIdentifier(channel.eventLoop), default: []].append(channel)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !ending.isEmpty { AcceptPause.rest(context, for: Self.rest) }
        for channels in ending.values {
            channels[0].eventLoop.execute { for channel in channels { channel.close(promise: nil) } }
            refused(channels.count)
        }
        ending.removeAll(keepingCapacity: true)
        context.fireChannelReadComplete()
    }
}

import Glibc
import NIOCore

/// Makes a listener pause: while the process has as many connections as it may have, when a connection cannot be accepted
/// for lack of descriptors or memory, and when it is told to (``rest(_:for:)``).
///
/// A connection that is not accepted stays in the system's queue, which wakes the loop again at once: without a pause the
/// loop would do nothing else. Open connections are served during the pause, and accepting resumes by itself. SwiftNIO's `AcceptBackoffHandler` delays the next read, but there is none: after an error the last read still counts
/// as pending.
final class AcceptPause: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    /// Long enough to cost nothing, and short enough that no waiting client gives up.
    static let length = TimeAmount.milliseconds(250)

    private struct Rest { var length: TimeAmount }

    private let ceiling: ConnectionCeiling?
    private var isPausing = false

    private init(_ ceiling: ConnectionCeiling?) { self.ceiling = ceiling }

    /// Adds one to a listener's pipeline, with the handlers of connections behind it; call on the listener's loop.
    ///
    /// Listeners may share a ceiling.
    static func add(
        to listener: any Channel, below ceiling: ConnectionCeiling? = nil, before others: [any ChannelHandler] = []
    ) throws {
        try listener.pipeline.syncOperations.addHandlers([AcceptPause(ceiling)] + others)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        ceiling?.add(unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let ceiling, ceiling.isReached {
            ceiling.tell(at: context.eventLoop.now)
            pause(context, for: Self.length)
        }
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, Self.isLasting(failure) else { return context.fireErrorCaught(error) }
        pause(context, for: Self.length)
    }

    /// Has the listener of a handler behind this one pause for as long, unless it pauses already.
    static func rest(_ context: ChannelHandlerContext, for length: TimeAmount) {
        context.triggerUserOutboundEvent(Rest(length: length), promise: nil)
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let rest = event as? Rest else { return context.triggerUserOutboundEvent(event, promise: promise) }
        pause(context, for: rest.length)
    }

    private func pause(_ context: ChannelHandlerContext, for length: TimeAmount) {
        guard !isPausing else { return }
        isPausing = true
        setReading(false, context.channel)
        resume(context.channel, in: length)
    }

    private func resume(_ channel: any Channel, in length: TimeAmount) {
        let bound = NIOLoopBound((self, channel), eventLoop: channel.eventLoop)
        channel.eventLoop.scheduleTask(in: length) {
            let (handler, channel) = bound.value
            guard let ceiling = handler.ceiling, ceiling.isReached else {
                handler.isPausing = false
                return handler.setReading(true, channel)
            }
            handler.resume(channel, in: Self.length)
        }
    }

    private func setReading(_ reads: Bool, _ channel: any Channel) {
        // Fails if the listener was closed.
        try? channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Whether the next attempt would most likely fail as well.
    private static func isLasting(_ error: IOError) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
    }
}

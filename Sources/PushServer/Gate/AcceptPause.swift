import Glibc
import NIOCore

/// Makes a listener pause where a connection cannot be accepted for want of descriptors or memory.
///
/// The connection stays in the system's queue, which wakes the loop at once again: without a pause it would do nothing
/// else. Open connections are served meanwhile, and accepting goes on by itself. SwiftNIO's `AcceptBackoffHandler` holds
/// back the next read, and there is none: after an error the last one still counts as pending.
final class AcceptPause: ChannelInboundHandler {
    typealias InboundIn = any Channel

    /// Long enough to cost nothing, short enough that nobody who waits gives up.
    static let length = TimeAmount.milliseconds(250)

    private var isPausing = false

    /// Puts one into a listener's pipeline, with handlers of connections behind it; call on the listener's loop.
    static func add(to listener: any Channel, before others: [any ChannelHandler] = []) throws {
        try listener.pipeline.syncOperations.addHandlers([AcceptPause()] + others)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, Self.isLasting(failure) else { return context.fireErrorCaught(error) }
        guard !isPausing else { return }
        isPausing = true
        setReading(false, context.channel)
        let bound = NIOLoopBound((self, context.channel), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.length) {
            let (handler, channel) = bound.value
            handler.isPausing = false
            handler.setReading(true, channel)
        }
    }

    private func setReading(_ reads: Bool, _ channel: any Channel) {
        // Fails where the listener was closed.
        try? channel.syncOptions?.setOption(.autoRead, value: reads)
    }

    /// Whether the next attempt would most likely fail as well.
    private static func isLasting(_ error: IOError) -> Bool {
        [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode)
    }
}

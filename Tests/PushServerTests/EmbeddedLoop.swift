import Dispatch
import NIOCore
import NIOEmbedded

/// The loop of embedded channels, as the server's parts need it: actors run on it as well.
final class EmbeddedLoop: NIOSerialEventLoopExecutor {
    /// The loop for ``NIOEmbedded/EmbeddedChannel``.
    let embedded: EmbeddedEventLoop

    init(_ embedded: EmbeddedEventLoop) {
        self.embedded = embedded
    }

    var inEventLoop: Bool { embedded.inEventLoop }

    var now: NIODeadline { embedded.now }

    func execute(_ task: @escaping @Sendable () -> Void) {
        embedded.execute(task)
    }

    @discardableResult
    func scheduleTask<Value>(
        deadline: NIODeadline, _ task: @escaping @Sendable () throws -> Value
    ) -> Scheduled<Value> {
        embedded.scheduleTask(deadline: deadline, task)
    }

    @discardableResult
    func scheduleTask<Value>(in time: TimeAmount, _ task: @escaping @Sendable () throws -> Value) -> Scheduled<Value> {
        embedded.scheduleTask(in: time, task)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(nil) }
    }
}

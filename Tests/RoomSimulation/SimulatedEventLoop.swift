package import Dispatch
package import NIOCore
import Synchronization

/// An event loop whose turns are jobs of a lane, and whose time is the scheduler's.
package final class SimulatedEventLoop: NIOSerialEventLoopExecutor {
    private let scheduler: Scheduler
    package let lane: Scheduler.Lane

    package init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
        lane = scheduler.makeLane(isOrdered: true)
    }

    package var inEventLoop: Bool { scheduler.isRunning(lane) }

    package var now: NIODeadline { .uptimeNanoseconds(UInt64(1_000_000_000 + scheduler.now)) }

    package func execute(_ task: @escaping @Sendable () -> Void) {
        scheduler.post(lane, task)
    }

    @discardableResult
    package func scheduleTask<Value>(
        deadline: NIODeadline, _ task: @escaping @Sendable () throws -> Value
    ) -> Scheduled<Value> {
        let promise = makePromise(of: Value.self)
        let flag = Cancellation()
        scheduler.post(lane, after: (deadline - now).nanoseconds) {
            guard !flag.isCancelled.load(ordering: .relaxed) else { return }
            do {
                promise.assumeIsolated().succeed(try task())
            } catch {
                promise.fail(error)
            }
        }
        return Scheduled(promise: promise) { flag.isCancelled.store(true, ordering: .relaxed) }
    }

    @discardableResult
    package func scheduleTask<Value>(
        in time: TimeAmount, _ task: @escaping @Sendable () throws -> Value
    ) -> Scheduled<Value> {
        scheduleTask(deadline: now + time, task)
    }

    package func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        queue.async { callback(nil) }
    }
}

/// Whether a task of a loop is to be left out.
private final class Cancellation: Sendable {
    let isCancelled = Atomic(false)
}

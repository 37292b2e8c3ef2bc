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
        let promised = Promised(makePromise(of: Value.self))
        scheduler.post(lane, after: (deadline - now).nanoseconds) {
            guard !promised.isCancelled.load(ordering: .relaxed) else { return }
            do {
                promised.promise.assumeIsolated().succeed(try task())
            } catch {
                promised.promise.fail(error)
            }
        }
        let cancel = { @Sendable [weak promised] () -> Void in promised?.isCancelled.store(true, ordering: .relaxed) }
        return Scheduled(promise: promised.promise, cancellationTask: cancel)
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

/// The promise of a loop's task: fulfilled, or failed if the task is released without having run.
private final class Promised<Value>: Sendable {
    let promise: EventLoopPromise<Value>
    let isCancelled = Atomic(false)

    init(_ promise: EventLoopPromise<Value>) {
        self.promise = promise
    }

    deinit { promise.fail(EventLoopError.cancelled) }
}

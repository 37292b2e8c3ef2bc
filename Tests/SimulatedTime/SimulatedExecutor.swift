package import NIOCore
import Synchronization

/// The executor of one node's tasks and default actors: a lane without an order, like threads.
package final class SimulatedExecutor: TaskExecutor {
    private let scheduler: Scheduler
    package let lane: Scheduler.Lane

    package init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
        lane = scheduler.makeLane(isOrdered: false)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        scheduler.post(lane) { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns after this time, or when the task is cancelled.
    package func sleep(for time: TimeAmount) async {
        let sleeper = Sleeper()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard sleeper.fallAsleep(continuation) else { return continuation.resume() }
                scheduler.post(lane, after: time.nanoseconds) { sleeper.wake() }
            }
        } onCancel: {
            sleeper.wake()
        }
    }

    /// Returns at `instant`, in nanoseconds since the beginning, once nothing else is due then.
    package func rest(until instant: Int64) async {
        await withCheckedContinuation { continuation in
            scheduler.postWhenIdle(lane, at: instant) { continuation.resume() }
        }
    }
}

/// A task that sleeps once.
private final class Sleeper: Sendable {
    private enum State {
        case awake
        case asleep(CheckedContinuation<Void, Never>)
        case rested
    }

    private let state = Mutex(State.awake)

    /// Falls asleep; false if it was woken before.
    func fallAsleep(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            guard case .awake = state else { return false }
            state = .asleep(continuation)
            return true
        }
    }

    func wake() {
        let sleeping = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .rested }
            if case .asleep(let continuation) = state { return continuation }
            return nil
        }
        sleeping?.resume()
    }
}

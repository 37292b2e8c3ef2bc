package import NIOCore
import Synchronization

/// Where the tasks and the default actors of one node run: a lane without an order, as threads have none.
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

    /// Returns after so long, or when the task is cancelled.
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
}

/// Somebody who sleeps once.
private final class Sleeper: Sendable {
    private enum State {
        case awake
        case asleep(CheckedContinuation<Void, Never>)
        case rested
    }

    private let state = Mutex(State.awake)

    /// False where it was woken before it slept.
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

/// Runs what waits for nothing but default actors to its end, within the job that asks for it.
final class ImmediateExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// What `body` returns.
    ///
    /// - Precondition: called outside any task; `body` waits for nothing that others have to do.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let box = Box<Value>()
        _ = Task(executorPreference: self) {
            let value = await body()
            box.value.withLock { $0 = value }
        }
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        guard let value = box.value.withLock({ $0 }) else {
            preconditionFailure("something waits for what does not happen here")
        }
        return value
    }

    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}

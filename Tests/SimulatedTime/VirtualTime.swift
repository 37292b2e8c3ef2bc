import Dispatch
package import NIOCore

/// The time of one test, and the order in which everything in it is done.
///
/// One job of an event loop, a task or an actor runs at a time, in an order that a seed determines. The order of sets and
/// dictionaries is a part of it: `SWIFT_DETERMINISTIC_HASHING` in the environment fixes that, too.
///
/// Time moves when the test asks for it, by ``advance(by:)`` or ``passes(within:until:)``. While the test awaits anything
/// else and no job is left, time moves from timer to timer, for at most ten minutes.
package final class VirtualTime: Sendable {
    /// The time of the task that asks; nil outside ``run(seed:_:)``.
    @TaskLocal package static var current: VirtualTime?

    /// The executor of the tasks of this time, which an unstructured task has to be given.
    package let executor: SimulatedExecutor
    /// Random numbers for everything that has no seed of its own.
    package let dice: Dice
    private let scheduler: Scheduler

    package static let patience = TimeAmount.minutes(10)

    private init(seed: UInt64) {
        let queue = DispatchQueue(label: "virtual time", target: .global())
        dice = Dice(seed: seed)
        scheduler = Scheduler(seed: dice.bits(), pace: .whenAsked(patience: Self.patience.nanoseconds)) { scheduler in
            queue.async { Self.keepRunning(scheduler, on: queue) }
        }
        executor = SimulatedExecutor(scheduler)
    }

    /// Runs jobs until none is left, and lets other work use the thread after every thousand.
    private static func keepRunning(_ scheduler: Scheduler, on queue: DispatchQueue) {
        guard scheduler.run(until: { false }, steps: 1_000) == .outOfSteps else { return }
        queue.async { keepRunning(scheduler, on: queue) }
    }

    /// Runs `body` and everything that it starts on virtual time: on ``current`` if it is set, else on one from `seed`.
    package static func run<Value>(
        seed: @autoclosure () -> UInt64, _ body: (VirtualTime) async throws -> Value
    ) async throws -> Value {
        if let current { return try await body(current) }
        let time = VirtualTime(seed: seed())
        defer { time.scheduler.closeTimers() }
        return try await $current.withValue(time) {
            try await withTaskExecutorPreference(time.executor) { try await body(time) }
        }
    }

    /// An event loop of this time.
    package func makeLoop() -> any EventLoop { SimulatedEventLoop(scheduler) }

    /// Returns after so long, or when the task is cancelled.
    package func sleep(for time: TimeAmount) async { await executor.sleep(for: time) }

    // MARK: Steps of a test

    /// Returns once nothing is due.
    package func settle() async { await executor.rest(until: scheduler.now) }

    /// Returns after so long, once nothing is due.
    package func advance(by time: TimeAmount) async { await executor.rest(until: scheduler.now + time.nanoseconds) }

    /// Lets time pass until `condition` holds while nothing is due.
    ///
    /// - Returns: false if `limit` passes before that, or if no timer is left.
    package func passes(
        within limit: TimeAmount = patience, until condition: () async throws -> Bool
    ) async rethrows -> Bool {
        let deadline = scheduler.now + limit.nanoseconds
        await settle()
        while try await !condition() {
            // The condition may have set something going.
            await settle()
            guard let next = scheduler.nextTimer, next <= deadline else { return try await condition() }
            await executor.rest(until: next)
        }
        return true
    }
}

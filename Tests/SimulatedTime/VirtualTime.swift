import Dispatch
package import NIOCore

/// The time of one test, and the order in which everything in it is done.
///
/// Event loops, tasks and actors take turns as a seed decides, no two at once. Time moves where the test asks for it, by
/// ``advance(by:)`` or ``passes(within:until:)``; where the test awaits something else, it moves from timer to timer, for
/// at most ten minutes.
package final class VirtualTime: Sendable {
    /// The time of the task that asks; nil outside ``run(seed:_:)``.
    @TaskLocal package static var current: VirtualTime?

    /// Where tasks of this time run.
    package let executor: SimulatedExecutor
    /// What has no seed of its own draws from here.
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

    /// Runs what there is to do, and gives way to others now and then.
    private static func keepRunning(_ scheduler: Scheduler, on queue: DispatchQueue) {
        guard scheduler.run(until: { false }, steps: 1_000) == .outOfSteps else { return }
        queue.async { keepRunning(scheduler, on: queue) }
    }

    /// Runs `body`, and everything that it starts, on virtual time: on the current one where there is one.
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
    /// - Returns: false where it does not within so long, or where nothing would happen any more.
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

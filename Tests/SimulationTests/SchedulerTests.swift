import NIOCore
import RandomTestSupport
import SimulatedTime
import Synchronization
import Testing

@Suite struct SchedulerTests {
    /// The jobs that ran, in order.
    private final class Notes: Sendable {
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    private func runAll(_ scheduler: Scheduler) {
        #expect(scheduler.run(until: { false }, steps: 10_000) == .idle)
    }

    @Test(arguments: TestSeed.fixed(0..<20))
    func `jobs of an ordered lane keep their order, whatever else is run between them`(seed: UInt64) {
        let (scheduler, notes) = (Scheduler(seed: seed), Notes())
        let (ordered, others) = (scheduler.makeLane(isOrdered: true), scheduler.makeLane(isOrdered: false))
        for number in 0..<200 {
            scheduler.post(ordered) { notes.add("\(number)") }
            scheduler.post(others) {}
        }
        runAll(scheduler)
        #expect(notes.all == (0..<200).map(String.init))
    }

    @Test func `jobs of other lanes are run in every order`() {
        var orders: Set<[String]> = []
        for seed in TestSeed.fixed(0..<100) {
            let (scheduler, notes) = (Scheduler(seed: seed), Notes())
            let lane = scheduler.makeLane(isOrdered: false)
            for name in ["a", "b", "c"] { scheduler.post(lane) { notes.add(name) } }
            runAll(scheduler)
            orders.insert(notes.all)
        }
        #expect(orders.count == 6)
    }

    @Test(arguments: TestSeed.fixed(0..<20))
    func `timers fire in the order of their times, never early`(seed: UInt64) {
        let (scheduler, notes) = (Scheduler(seed: seed), Notes())
        let lane = scheduler.makeLane(isOrdered: true)
        for seconds in [3, 1, 2] {
            scheduler.post(lane, after: Int64(seconds) * 1_000_000_000) {
                notes.add(scheduler.now >= Int64(seconds) * 1_000_000_000 ? "\(seconds)" : "early")
            }
        }
        runAll(scheduler)
        #expect(notes.all == ["1", "2", "3"])
    }

    @Test func `no job of a stopped lane runs until it continues`() {
        let (scheduler, notes) = (Scheduler(seed: TestSeed.fixed(1)), Notes())
        let lane = scheduler.makeLane(isOrdered: true)
        scheduler.stop(lane, true)
        scheduler.post(lane) { notes.add("ran") }
        runAll(scheduler)
        #expect(notes.all == [])
        scheduler.stop(lane, false)
        runAll(scheduler)
        #expect(notes.all == ["ran"])
    }

    @Test func `an endless run is stopped`() {
        let scheduler = Scheduler(seed: TestSeed.fixed(1))
        let lane = scheduler.makeLane(isOrdered: true)
        @Sendable func again() { scheduler.post(lane, again) }
        again()
        #expect(scheduler.run(until: { false }, steps: 100) == .outOfSteps)
        #expect(scheduler.steps == 100)
    }

    @Test(arguments: TestSeed.fixed(0..<10))
    func `tasks that sleep and event loops run in the scheduler's time`(seed: UInt64) throws {
        let (scheduler, notes) = (Scheduler(seed: seed), Notes())
        let (executor, loop) = (SimulatedExecutor(scheduler), SimulatedEventLoop(scheduler))
        loop.scheduleTask(in: .seconds(2)) { notes.add("loop \(loop.inEventLoop)") }
        loop.scheduleTask(in: .seconds(1)) { notes.add("never") }.cancel()
        let task = Task(executorPreference: executor) {
            await executor.sleep(for: .seconds(1))
            notes.add("task \(loop.inEventLoop)")
            await executor.sleep(for: .seconds(2))
            notes.add("task \(scheduler.now / 1_000_000_000)")
        }
        runAll(scheduler)
        #expect(notes.all == ["task false", "loop true", "task 3"])
        withExtendedLifetime(task) {}
    }

    @Test func `a sleeping task wakes when it is cancelled`() {
        let (scheduler, notes) = (Scheduler(seed: TestSeed.fixed(1)), Notes())
        let executor = SimulatedExecutor(scheduler)
        let task = Task(executorPreference: executor) {
            await executor.sleep(for: .hours(1))
            notes.add("\(scheduler.now < 1_000_000_000)")
        }
        scheduler.post(scheduler.makeLane(isOrdered: true)) { task.cancel() }
        #expect(scheduler.run(until: { !notes.all.isEmpty }, steps: 1_000) == .reached)
        #expect(notes.all == ["true"])
    }
}

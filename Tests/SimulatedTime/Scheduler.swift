import Foundation
import RandomTestSupport
import Synchronization

/// Runs the jobs of a whole world, or of a test, on one thread, in an order and at times that a seed decides.
///
/// Jobs stand in lanes. Those of an ordered lane keep their order, those of any other are drawn at random; which lane
/// comes next is drawn at random as well. Time stands still while a job runs and moves on between jobs, as its ``Pace``
/// says.
package final class Scheduler: Sendable {
    package typealias Job = @Sendable () -> Void

    /// A lane's number.
    package struct Lane: Hashable, Sendable {
        fileprivate let index: Int
    }

    /// How time moves on.
    package enum Pace: Sendable {
        /// A little now and then, and to the next timer where nothing else is to be done.
        case byItself
        /// To the instants of ``postWhenIdle(_:at:_:)``. If no job waits for an instant, to the next timer, but at most
        /// `patience` nanoseconds beyond the last instant.
        case whenAsked(patience: Int64)
    }

    /// The reason why ``run(until:steps:)`` returned.
    package enum End: Sendable {
        /// The condition is true.
        case reached
        /// No job is left.
        case idle
        /// The limit of jobs was reached, and there are more.
        case outOfSteps
    }

    private struct Queue {
        var jobs: [Job] = []
        /// The number of jobs that an ordered lane has run.
        var done = 0
        var isOrdered: Bool
        var isStopped = false

        /// The number of jobs that may run next.
        var choices: Int {
            isStopped ? 0 : isOrdered ? min(1, jobs.count - done) : jobs.count
        }

        mutating func take(_ choice: Int) -> Job {
            guard isOrdered else {
                jobs.swapAt(choice, jobs.count - 1)
                return jobs.removeLast()
            }
            // The place left behind is empty: releasing a job may call the scheduler again.
            var job: Job = {}
            swap(&job, &jobs[done])
            done += 1
            if done == jobs.count || done == 64 {
                jobs.removeFirst(done)
                done = 0
            }
            return job
        }
    }

    private struct Timer {
        var at: Int64
        var number: Int
        var lane: Lane
        var job: Job
    }

    /// A job for which nothing else must be due.
    private struct Rest {
        var at: Int64
        var lane: Lane
        var job: Job
    }

    private struct State {
        var random: SeededRandom
        let pace: Pace
        var now: Int64 = 0
        /// How far time moves by itself.
        var limit: Int64
        var rests: [Rest] = []
        /// Whether somebody runs the jobs, or was told to.
        var isAwake = false
        /// Whether no timer fires any more.
        var isClosed = false
        var queues: [Queue] = []
        var current: Lane?
        /// The thread that runs the current job.
        var thread: UInt?
        /// Sorted so that the next one is the last.
        var timers: [Timer] = []
        var lastTimer = 0
        var steps = 0
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    }

    private let state: Mutex<State>
    private let wake: @Sendable (Scheduler) -> Void

    /// A scheduler without jobs.
    ///
    /// `wake` is called, on whatever thread, when there is a job and ``run(until:steps:)`` has found none before.
    package init(seed: UInt64, pace: Pace = .byItself, wake: @escaping @Sendable (Scheduler) -> Void = { _ in }) {
        let limit = if case .whenAsked(let patience) = pace { patience } else { Int64.max }
        state = Mutex(State(random: SeededRandom(seed: seed), pace: pace, limit: limit))
        self.wake = wake
    }

    /// Nanoseconds since the beginning.
    package var now: Int64 { state.withLock { $0.now } }

    /// When the next timer fires, in nanoseconds since the beginning; nil where there is none.
    package var nextTimer: Int64? { state.withLock { $0.timers.last?.at } }

    /// A number that is equal in two runs only if they ran the same lanes at the same times.
    package var digest: UInt64 { state.withLock { $0.digest } }

    /// The number of jobs that ran.
    package var steps: Int { state.withLock { $0.steps } }

    // MARK: Lanes

    package func makeLane(isOrdered: Bool) -> Lane {
        state.withLock { state in
            state.queues.append(Queue(isOrdered: isOrdered))
            return Lane(index: state.queues.count - 1)
        }
    }

    /// Whether this thread runs a job of this lane; false on any other thread of the machine.
    package func isRunning(_ lane: Lane) -> Bool {
        let thread = Self.thisThread
        return state.withLock { $0.current == lane && $0.thread == thread }
    }

    private static var thisThread: UInt { UInt(bitPattern: ObjectIdentifier(Thread.current)) }

    /// Stops or resumes the jobs of a lane.
    package func stop(_ lane: Lane, _ isStopped: Bool) {
        change { $0.queues[lane.index].isStopped = isStopped }
    }

    // MARK: Jobs

    /// Schedules a job to run soon.
    package func post(_ lane: Lane, _ job: @escaping Job) {
        change { $0.queues[lane.index].jobs.append(job) }
    }

    /// Lets a job run at `instant`, once nothing else is due then.
    package func postWhenIdle(_ lane: Lane, at instant: Int64, _ job: @escaping Job) {
        change { state in
            // Jobs due at the same time run in the order in which they were made.
            let place = state.rests.firstIndex { $0.at > instant } ?? state.rests.endIndex
            state.rests.insert(Rest(at: instant, lane: lane, job: job), at: place)
        }
    }

    /// Schedules a job to run after this time, or somewhat later.
    package func post(_ lane: Lane, after nanoseconds: Int64, _ job: @escaping Job) {
        change { state in
            guard !state.isClosed else { return }
            state.lastTimer += 1
            let timer = Timer(
                at: state.now + max(0, nanoseconds), number: state.lastTimer, lane: lane, job: job)
            var (low, high) = (0, state.timers.count)
            while low < high {
                let middle = (low + high) / 2
                // Jobs due at the same time run in the order in which they were made.
                if state.timers[middle].at > timer.at { low = middle + 1 } else { high = middle }
            }
            state.timers.insert(timer, at: low)
        }
    }

    /// Changes what is to be done, and wakes whoever does it.
    private func change(_ body: (inout State) -> Void) {
        let mustWake = state.withLock { state in
            body(&state)
            defer { state.isAwake = true }
            return !state.isAwake
        }
        if mustWake { wake(self) }
    }

    /// Runs jobs until `isOver` returns true, which is checked between any two jobs.
    package func run(until isOver: () -> Bool, steps limit: Int) -> End {
        let thread = Self.thisThread
        for _ in 0..<limit {
            if isOver() { return .reached }
            let next = state.withLock { state in
                state.thread = thread
                return Self.next(&state)
            }
            guard let job = next else { return .idle }
            job()
            state.withLock { $0.current = nil }
        }
        return .outOfSteps
    }

    /// Runs the remaining jobs without waiting for timers; false if there are more than `limit`.
    package func drain(steps limit: Int) -> Bool {
        dropTimers()
        return run(until: { false }, steps: limit) == .idle
    }

    /// Lets no timer fire any more.
    package func closeTimers() {
        state.withLock { $0.isClosed = true }
        dropTimers()
    }

    private func dropTimers() {
        // Releasing a timer may schedule a job.
        let timers = state.withLock { state in
            defer { state.timers = [] }
            return state.timers
        }
        withExtendedLifetime(timers) {}
    }

    private static func next(_ state: inout State) -> Job? {
        if case .byItself = state.pace, state.random.next() & 15 == 0 {
            state.now += Int64.random(in: 0...300_000, using: &state.random)
        }
        fireTimers(&state)
        var choices = state.queues.reduce(0) { $0 + $1.choices }
        while choices == 0 {
            guard moveOn(&state) else {
                state.isAwake = false
                return nil
            }
            choices = state.queues.reduce(0) { $0 + $1.choices }
        }
        var choice = choices == 1 ? 0 : Int.random(in: 0..<choices, using: &state.random)
        for index in state.queues.indices {
            let here = state.queues[index].choices
            guard choice >= here else {
                state.current = Lane(index: index)
                state.steps += 1
                state.digest = (state.digest ^ UInt64(index) ^ UInt64(state.now) << 8) &* 0x0000_0100_0000_01B3
                return state.queues[index].take(choice)
            }
            choice -= here
        }
        return nil
    }

    /// Moves time on to what comes next, and lets that be done; false where nothing does.
    private static func moveOn(_ state: inout State) -> Bool {
        let timer = state.timers.last?.at
        if let rest = state.rests.first, rest.at < timer ?? .max {
            state.rests.removeFirst()
            state.now = max(state.now, rest.at)
            if case .whenAsked(let patience) = state.pace { state.limit = state.now + patience }
            state.queues[rest.lane.index].jobs.append(rest.job)
            return true
        }
        guard let timer, timer <= state.limit || !state.rests.isEmpty else { return false }
        state.now = max(state.now, timer)
        fireTimers(&state)
        return true
    }

    private static func fireTimers(_ state: inout State) {
        while let timer = state.timers.last, timer.at <= state.now {
            state.timers.removeLast()
            state.queues[timer.lane.index].jobs.append(timer.job)
        }
    }
}

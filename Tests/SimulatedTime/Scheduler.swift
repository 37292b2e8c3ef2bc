import RandomTestSupport
import Synchronization

/// Runs the jobs of a whole world, or of a test, on one thread, in an order and at times that a seed decides.
///
/// Jobs stand in lanes. Those of an ordered lane keep their order, those of any other are drawn at random; which lane
/// comes next is drawn at random as well. Time stands still while a job runs and moves on between jobs: a little now and
/// then, and to the next timer where nothing else is to be done.
package final class Scheduler: Sendable {
    package typealias Job = @Sendable () -> Void

    /// A lane's number.
    package struct Lane: Hashable, Sendable {
        fileprivate let index: Int
    }

    /// Why ``run(until:steps:)`` returned.
    package enum End: Sendable {
        /// What was waited for holds.
        case reached
        /// Nothing is left to do.
        case idle
        /// So many jobs were run, and there are more.
        case outOfSteps
    }

    private struct Queue {
        var jobs: [Job] = []
        /// How many of `jobs` an ordered lane has run.
        var done = 0
        var isOrdered: Bool
        var isStopped = false

        /// How many jobs may be run next.
        var choices: Int {
            isStopped ? 0 : isOrdered ? min(1, jobs.count - done) : jobs.count
        }

        mutating func take(_ choice: Int) -> Job {
            guard isOrdered else {
                jobs.swapAt(choice, jobs.count - 1)
                return jobs.removeLast()
            }
            // What is left behind holds nothing: whoever is let go here may come back to the scheduler.
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

    private struct State {
        var random: SeededRandom
        var now: Int64 = 0
        var queues: [Queue] = []
        var current: Lane?
        /// The next one is the last.
        var timers: [Timer] = []
        var lastTimer = 0
        var steps = 0
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    }

    private let state: Mutex<State>

    package init(seed: UInt64) {
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    /// Nanoseconds since the world's beginning.
    package var now: Int64 { state.withLock { $0.now } }

    /// A number that two runs share only if they ran the same lanes at the same times.
    package var digest: UInt64 { state.withLock { $0.digest } }

    /// How many jobs were run.
    package var steps: Int { state.withLock { $0.steps } }

    // MARK: Lanes

    package func makeLane(isOrdered: Bool) -> Lane {
        state.withLock { state in
            state.queues.append(Queue(isOrdered: isOrdered))
            return Lane(index: state.queues.count - 1)
        }
    }

    /// Whether the job that runs is one of this lane.
    package func isRunning(_ lane: Lane) -> Bool {
        state.withLock { $0.current == lane }
    }

    /// Lets no job of a lane run until it is told otherwise.
    package func stop(_ lane: Lane, _ isStopped: Bool) {
        state.withLock { $0.queues[lane.index].isStopped = isStopped }
    }

    // MARK: Jobs

    /// Lets a job run soon.
    package func post(_ lane: Lane, _ job: @escaping Job) {
        state.withLock { $0.queues[lane.index].jobs.append(job) }
    }

    /// Lets a job run in so many nanoseconds, or somewhat later.
    package func post(_ lane: Lane, after nanoseconds: Int64, _ job: @escaping Job) {
        state.withLock { state in
            state.lastTimer += 1
            let timer = Timer(
                at: state.now + max(0, nanoseconds), number: state.lastTimer, lane: lane, job: job)
            var (low, high) = (0, state.timers.count)
            while low < high {
                let middle = (low + high) / 2
                // Of two at one time the earlier made is the earlier run.
                if state.timers[middle].at > timer.at { low = middle + 1 } else { high = middle }
            }
            state.timers.insert(timer, at: low)
        }
    }

    /// Runs jobs until `isOver` says so, looked at between any two.
    package func run(until isOver: () -> Bool, steps limit: Int) -> End {
        for _ in 0..<limit {
            if isOver() { return .reached }
            guard let job = state.withLock({ Self.next(&$0) }) else { return .idle }
            job()
            state.withLock { $0.current = nil }
        }
        return .outOfSteps
    }

    /// Runs what is left without waiting for any timer; false where that is more than so many jobs.
    package func drain(steps limit: Int) -> Bool {
        // What a timer holds may post something when it is let go.
        let timers = state.withLock { state in
            defer { state.timers = [] }
            return state.timers
        }
        withExtendedLifetime(timers) {}
        return run(until: { false }, steps: limit) == .idle
    }

    private static func next(_ state: inout State) -> Job? {
        if state.random.next() & 15 == 0 {
            state.now += Int64.random(in: 0...300_000, using: &state.random)
        }
        fireTimers(&state)
        var choices = state.queues.reduce(0) { $0 + $1.choices }
        while choices == 0 {
            guard let next = state.timers.last else { return nil }
            state.now = max(state.now, next.at)
            fireTimers(&state)
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

    private static func fireTimers(_ state: inout State) {
        while let timer = state.timers.last, timer.at <= state.now {
            state.timers.removeLast()
            state.queues[timer.lane.index].jobs.append(timer.job)
        }
    }
}

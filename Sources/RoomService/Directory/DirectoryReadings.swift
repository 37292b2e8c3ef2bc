import NIOCore
import Synchronization

/// The order of readings of the directory, and the callers that wait for one; may be used on any thread.
final class DirectoryReadings: Sendable {
    /// The reason for a reading.
    enum Cause {
        /// A caller waits for it.
        case question
        /// An interval has passed, and watches are told what has changed in it.
        case interval
    }

    /// Names a caller that waits.
    typealias Caller = Int

    private struct State {
        /// The callers that wait for the next reading.
        var waiting: [Caller: CheckedContinuation<Void, Never>] = [:]
        var nextCaller = 0
        /// Whether a reading is scheduled that begins after every question so far.
        var isAsked = false
        /// Whether reading has ended for good.
        var isOver: Bool
    }

    /// The readings to be made, one after the other.
    let causes: AsyncStream<Cause>
    private let schedule: AsyncStream<Cause>.Continuation
    private let clock: ServerClock
    private let state: Mutex<State>

    /// Makes the order of readings; if `isOver`, there are none, and no caller waits.
    init(clock: ServerClock, isOver: Bool) {
        self.clock = clock
        state = Mutex(State(isOver: isOver))
        (causes, schedule) = AsyncStream.makeStream(of: Cause.self)
    }

    // MARK: Callers

    /// Returns when a reading has ended that began after the call, after `patience`, or at once if readings have ended
    /// for good or the caller is cancelled.
    func next(within patience: TimeAmount) async {
        let caller = state.withLock { state in
            defer { state.nextCaller += 1 }
            return state.nextCaller
        }
        await withDiscardingTaskGroup { group in
            await withCheckedContinuation { continuation in
                let (isOver, mustAsk) = state.withLock { state in
                    guard !state.isOver else { return (true, false) }
                    state.waiting[caller] = continuation
                    defer { state.isAsked = true }
                    return (false, !state.isAsked)
                }
                guard !isOver else { return continuation.resume() }
                if mustAsk { schedule.yield(.question) }
                // The timer starts when it can find the waiting caller, whatever ends its sleep.
                group.addTask {
                    await self.clock.sleep(for: patience)
                    self.end([caller])
                }
            }
            group.cancelAll()
        }
    }

    // MARK: The reader

    /// Schedules a reading because an interval has passed.
    func intervalPassed() { schedule.yield(.interval) }

    /// Notes that a reading begins, and returns the callers that wait for it.
    func begin() -> [Caller] {
        state.withLock { state in
            state.isAsked = false
            return Array(state.waiting.keys)
        }
    }

    /// Lets callers go on; some may have given up in the meantime.
    func end(_ callers: [Caller]) {
        let waiting = state.withLock { state in callers.compactMap { state.waiting.removeValue(forKey: $0) } }
        for continuation in waiting { continuation.resume() }
    }

    /// Ends the readings for good.
    func close() {
        end(
            state.withLock { state in
                state.isOver = true
                return Array(state.waiting.keys)
            })
    }
}

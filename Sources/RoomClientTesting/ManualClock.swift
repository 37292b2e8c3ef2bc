public import RoomClient
import Synchronization

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = ManualClock()
/// let client = RoomClient(server, as: .guest(name: "Ana"), transport: transport, clock: clock)
/// …
/// try await clock.waitForSleepers(1)
/// clock.advance(by: .seconds(20))
/// ```
///
/// A clock that is moved before a task sleeps does not wake that task: wait for the sleeper first.
public final class ManualClock: ClientClock {
    private struct Sleeper {
        let end: Duration
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var uptime = Duration.zero
        /// The date at the uptime 0, in milliseconds since 1970.
        var origin: Int64
        var last = 0
        var sleepers: [Int: Sleeper] = [:]

        /// The sleeper that is woken first: the one that ends first, then the one that came first.
        var next: (number: Int, end: Duration)? {
            sleepers.map { (number: $0.key, end: $0.value.end) }.min { ($0.end, $0.number) < ($1.end, $1.number) }
        }
    }

    private let state: Mutex<State>
    private let alarm = Alarm()

    /// A clock whose uptime is 0, at a date in milliseconds since 1970.
    public init(date: Int64 = 1_700_000_000_000) { state = Mutex(State(origin: date)) }

    /// The time that the clock was moved.
    public var uptime: Duration { state.withLock { $0.uptime } }

    /// The date, in milliseconds since 1970; it goes with the uptime.
    public var date: Int64 { state.withLock { $0.origin + $0.uptime.wholeMilliseconds } }

    /// The number of tasks that sleep.
    public var sleepers: Int { state.withLock { $0.sleepers.count } }

    /// The time until the next task wakes; nil if none sleeps.
    public var untilNextWaking: Duration? {
        state.withLock { state in state.next.map { $0.end - state.uptime } }
    }

    /// Waits until the clock was moved to a time.
    public func sleep(until uptime: Duration) async throws(CancellationError) {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let isDue = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Bool? in
                    guard !Task.isCancelled else { return false }
                    guard uptime > state.uptime else { return true }
                    state.sleepers[number] = Sleeper(end: uptime, continuation: continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) } else { alarm.ring() }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation.resume(returning: false)
        }
        guard isDue else { throw CancellationError() }
    }

    /// Moves the clock, and wakes the tasks whose time has come.
    ///
    /// They are woken in the order of their times, and those of one time in the order in which they came. Each is woken
    /// when the clock shows its time, but runs when it gets its turn: what it does then, it does at the clock's new time.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a clock cannot be moved back by \(duration)")
        let end = uptime + duration
        while let sleeper = wakeNext(by: end) { sleeper.continuation.resume(returning: true) }
    }

    /// Moves the clock to the time of the next task that wakes, and wakes all tasks of that time.
    ///
    /// - Returns: By how much it was moved; nil if no task sleeps.
    @discardableResult public func advanceToNextWaking() -> Duration? {
        guard let duration = untilNextWaking else { return nil }
        advance(by: duration)
        return duration
    }

    private func wakeNext(by end: Duration) -> Sleeper? {
        state.withLock { state in
            guard let next = state.next, next.end <= end else {
                state.uptime = max(state.uptime, end)
                return nil
            }
            state.uptime = max(state.uptime, next.end)
            return state.sleepers.removeValue(forKey: next.number)
        }
    }

    /// Sets the date, as a person or a time server does; the uptime stays.
    public func setDate(_ date: Int64) {
        state.withLock { $0.origin = date - $0.uptime.wholeMilliseconds }
    }

    /// Waits until at least so many tasks sleep; `limit` is by the system's clock.
    ///
    /// - Throws: ``WaitFailure`` if fewer sleep then, or if the task is cancelled.
    public func waitForSleepers(
        _ count: Int = 1, within limit: Duration = .seconds(10), file: String = #fileID, line: Int = #line
    ) async throws(WaitFailure) {
        if await alarm.wait(within: limit, until: { sleepers >= count }) { return }
        let (uptime, ends) = state.withLock { ($0.uptime, $0.sleepers.values.map(\.end).sorted()) }
        throw WaitFailure(
            """
            \(file):\(line): fewer than \(count) tasks sleep after \(limit); at \(uptime), they sleep until: \
            \(ends.isEmpty ? "none" : ends.map { "\($0)" }.joined(separator: ", "))
            """)
    }
}

extension Duration {
    var wholeMilliseconds: Int64 { components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000 }
}

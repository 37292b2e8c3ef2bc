import Synchronization

/// Wakes tasks that wait for a change, and remembers that there was one.
final class Alarm: Sendable {
    private struct State {
        var changes = 0
        var last = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    /// The parts of a wait, each of which is counted once however long it took.
    private static let parts = 50

    private let state = Mutex(State())

    /// There is a change.
    func ring() { wake { $0.changes += 1 } }

    /// Waits until a condition holds; looks at it after each change, and at the end.
    ///
    /// A wait is long only if it is long for those who are waited for: while other tasks take all threads, time does not
    /// count, because it is measured in parts by a task that waits for a thread as they do.
    ///
    /// - Returns: Whether it holds. If not, the time is over by the system's clock, or the task is cancelled.
    func wait(
        within limit: Duration, isolation: isolated (any Actor)? = #isolation, until isMet: () -> Bool
    ) async -> Bool {
        let part = limit / Self.parts
        async let _: Void = tick(each: part)
        var seen = state.withLock { $0.changes }
        if isMet() { return true }
        var (left, began) = (Self.parts, ContinuousClock.now)
        while left > 0, !Task.isCancelled {
            await sleep(since: seen)
            let changes = state.withLock { $0.changes }
            if changes != seen {
                seen = changes
                if isMet() { return true }
            }
            if began.duration(to: .now) >= part { (left, began) = (left - 1, .now) }
        }
        return isMet()
    }

    /// Wakes those who wait from time to time, until the task is cancelled.
    private func tick(each part: Duration) async {
        while (try? await Task.sleep(for: part)) != nil { wake { _ in } }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits until it is woken, or there was a change since then.
    private func sleep(since seen: Int) async {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard state.changes == seen, !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}

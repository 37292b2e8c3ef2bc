import Synchronization

/// Wakes one task that waits for work.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Wakes the task, or lets its next wait return at once.
    func ring() {
        let waiting = state.withLock { state in
            state.isRung = state.waiting == nil
            return state.waiting.take()
        }
        waiting?.resume()
    }

    /// Waits until the bell has rung; false if the task is cancelled.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    guard !state.isRung, !Task.isCancelled else {
                        state.isRung = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.take() }?.resume()
        }
        return !Task.isCancelled
    }
}

import Synchronization

/// A child of a task group that can be cancelled by itself.
final class CancellableChild: Sendable {
    private struct State {
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Cancels it, also before it runs.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Runs it to its end.
    func run(_ body: @escaping @Sendable () async -> Void) async {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard !state.isCancelled else { return nil }
            let task = Task(operation: body)
            state.task = task
            return task
        }
        guard let task else { return }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

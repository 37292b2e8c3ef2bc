import Synchronization

/// A value that comes once, for any number of tasks that wait for it.
final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var result: Result<Value, ClientError>?
        var waiting: [Int: CheckedContinuation<Result<Value, ClientError>, Never>] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Whether the value has come.
    var isFulfilled: Bool { state.withLock { $0.result != nil } }

    /// Gives the value; a second one changes nothing.
    func fulfil(_ result: Result<Value, ClientError>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [] as [CheckedContinuation<Result<Value, ClientError>, Never>] }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: result) }
    }

    /// The value.
    ///
    /// A task that is cancelled while it waits gets ``ClientError/Code/cancelled``.
    func value() async throws(ClientError) -> Value {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Result<Value, ClientError>? in
                    if let result = state.result { return result }
                    if Task.isCancelled { return .failure(Self.cancellation) }
                    state.waiting[number] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let waiting = state.withLock { $0.waiting.removeValue(forKey: number) }
            waiting?.resume(returning: .failure(Self.cancellation))
        }
        return try result.get()
    }

    private static var cancellation: ClientError {
        ClientError(.cancelled, "the task was cancelled; what it asked for may still happen")
    }
}

import Synchronization

/// Runs what waits for nothing but default actors to its end, within the job that asks for it.
final class ImmediateExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// The result of `body`.
    ///
    /// - Precondition: called outside any task; `body` waits for nothing that others have to do.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
        let box = Box<Value>()
        _ = Task(executorPreference: self) {
            let value = await body()
            box.value.withLock { $0 = value }
        }
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        }
        guard let value = box.value.withLock({ $0 }) else {
            preconditionFailure("something waits for what does not happen here")
        }
        return value
    }

    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }
}

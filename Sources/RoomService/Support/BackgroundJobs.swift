/// Runs work in the background, and ends when all of it has ended.
package final class BackgroundJobs: Sendable {
    /// A piece of work.
    package typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation

    package init() {
        (jobs, continuation) = AsyncStream.makeStream(of: Job.self)
    }

    /// Starts `job` soon; false after ``close()``, when it never runs.
    @discardableResult
    package func start(_ job: @escaping Job) -> Bool {
        if case .enqueued = continuation.yield(job) { true } else { false }
    }

    /// Lets ``run()`` return once all started jobs have ended.
    package func close() {
        continuation.finish()
    }

    /// Runs jobs until ``close()`` and the end of the last one.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await job in jobs { group.addTask(operation: job) }
        }
    }
}

/// Runs work that nobody waits for, so that somebody knows when all of it has ended.
final class BackgroundJobs: Sendable {
    /// A piece of work.
    typealias Job = @Sendable () async -> Void

    private let jobs: AsyncStream<Job>
    private let continuation: AsyncStream<Job>.Continuation

    init() {
        (jobs, continuation) = AsyncStream.makeStream(of: Job.self)
    }

    /// Starts `job` soon; after ``close()`` it is dropped.
    func start(_ job: @escaping Job) {
        continuation.yield(job)
    }

    /// Lets ``run()`` return once all started jobs have ended.
    func close() {
        continuation.finish()
    }

    /// Runs jobs until ``close()`` and the end of the last one.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await job in jobs { group.addTask(operation: job) }
        }
    }
}

import Glibc
import NIOPosix

/// Threads for long computations: tasks that prefer them run there, never on Swift's own threads.
///
/// They run at a lower priority, so that event loops are served first.
package final class WorkerThreads: TaskExecutor {
    private let threads: NIOThreadPool
    private let niceness: Int32

    /// Starts this many threads; `niceness` is 0 to 19, and a higher one gets less of a busy processor.
    package init(count: Int, niceness: Int32) {
        self.niceness = niceness
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.submit { [niceness] state in
            // On Linux the niceness belongs to the calling thread; elsewhere it belongs to the process and is left
            // unchanged. Lowering one's own priority is always allowed.
            #if os(Linux)
                if case .active = state { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
            #endif
            // The job runs even after the stop, because something waits for the task's end.
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// Ends the threads once the waiting jobs have run.
    package func stop() async {
        try? await threads.shutdownGracefully()
    }
}

import Glibc
import NIOPosix

/// Threads for work that computes for long: tasks that prefer them run there, never on Swift's own threads.
///
/// They step back where others want the processor: event loops are served first.
package final class WorkerThreads: TaskExecutor {
    private let threads: NIOThreadPool
    private let niceness: Int32

    /// Starts so many threads; `niceness` is 0 to 19, the higher, the less of a busy processor they get.
    package init(count: Int, niceness: Int32) {
        self.niceness = niceness
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.submit { [niceness] state in
            // On Linux the niceness is the calling thread's; elsewhere it is the process's and stays. Stepping back is
            // always allowed.
            #if os(Linux)
                if case .active = state { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
            #endif
            // Also after the stop: somebody waits for the task's end.
            unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// Ends the threads once what waits for them has run.
    package func stop() async {
        try? await threads.shutdownGracefully()
    }
}

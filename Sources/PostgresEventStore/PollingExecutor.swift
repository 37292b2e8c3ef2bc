import CPostgres
import Glibc
import Synchronization
import SystemCalls

/// The client of a ``PollingExecutor``; called only on the executor's thread.
protocol PollingHandler: AnyObject, Sendable {
    /// A watched descriptor can be read or written, or has failed; `token` identifies it.
    func descriptorIsReady(_ token: UInt64)

    /// Ends a turn: all jobs and descriptors that were ready have been served.
    ///
    /// - Returns: The time by which the next turn must begin; nil if it begins only with a job or a ready descriptor.
    func turnEnded(at now: ContinuousClock.Instant) -> ContinuousClock.Instant?
}

/// A thread that runs an actor's jobs and waits for the sockets of its connections, with `epoll` and an `eventfd`.
///
/// It also runs tasks that prefer it, so that they can call the actor without switching threads.
///
/// It exists because SwiftNIO cannot wait for a descriptor that another library owns, and libpq owns its sockets. The
/// thread sleeps whenever there is nothing to do. It runs until ``stop()``: the actor that it serves stops it in its
/// `deinit`, when no job of that actor can be left. Code that lets tasks run here must keep the actor alive until they
/// have ended.
final class PollingExecutor: SerialExecutor, TaskExecutor {
    /// The condition that calls a descriptor's handler.
    enum Interest {
        case reading
        case writing
        case both
    }

    private struct Shared {
        var jobs: [UnownedJob] = []
        var isAsleep = false
        var isStopped = false
        weak var handler: (any PollingHandler)?
        /// What is added to the time, so that tests need not wait.
        var ahead = Duration.zero
    }

    private let shared = Mutex(Shared())
    private let pollDescriptor: Int32
    private let wakeDescriptor: Int32
    /// The thread's `pthread_t`; 0 until it runs.
    private let thread = Atomic<UInt>(0)

    /// The token of the descriptor that wakes the thread for jobs.
    private static let wakeToken = UInt64.max
    /// The number of rounds in which jobs may create further jobs before the sockets are served.
    private static let roundsPerTurn = 16

    /// Starts the thread.
    ///
    /// Throws the `errno` if descriptors or a thread cannot be created.
    init() throws(SystemError) {
        pollDescriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        let pollError = errno
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        let wakeError = errno
        guard pollDescriptor >= 0 else { throw SystemError(code: pollError) }
        guard wakeDescriptor >= 0 else { throw SystemError(code: wakeError) }
        try watch(wakeDescriptor, token: Self.wakeToken, for: .reading)
        try DetachedThread.run { self.run() }
    }

    deinit {
        if pollDescriptor >= 0 { close(pollDescriptor) }
        if wakeDescriptor >= 0 { close(wakeDescriptor) }
    }

    /// Sets the one client; the executor does not retain it.
    func serve(_ handler: any PollingHandler) {
        shared.withLock { $0.handler = handler }
    }

    /// Ends the thread once its jobs are done.
    func stop() {
        shared.withLock { $0.isStopped = true }
        wake()
    }

    /// The time by which deadlines are judged.
    var now: ContinuousClock.Instant { .now + shared.withLock(\.ahead) }

    /// Moves the time forward: a test has waited as long.
    func advance(by time: Duration) {
        shared.withLock { $0.ahead += time }
        wake()
    }

    // MARK: Descriptors

    /// Watches a descriptor, level-triggered, until ``unwatch(_:)``.
    func watch(_ descriptor: Int32, token: UInt64, for interest: Interest) throws(SystemError) {
        try control(EPOLL_CTL_ADD, descriptor, token: token, interest: interest)
    }

    /// Changes the condition for which a descriptor is watched.
    func rewatch(_ descriptor: Int32, token: UInt64, for interest: Interest) throws(SystemError) {
        try control(EPOLL_CTL_MOD, descriptor, token: token, interest: interest)
    }

    /// Stops watching a descriptor; a closed descriptor is no longer watched anyway.
    func unwatch(_ descriptor: Int32) {
        // Fails only for a descriptor that is not watched.
        _ = epoll_ctl(pollDescriptor, EPOLL_CTL_DEL, descriptor, nil)
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, token: UInt64, interest: Interest
    ) throws(SystemError) {
        let events =
            switch interest {
            case .reading: EPOLLIN.rawValue
            case .writing: EPOLLOUT.rawValue
            case .both: EPOLLIN.rawValue | EPOLLOUT.rawValue
            }
        // The kernel copies the event, whose union is used as a number only, during the call.
        var event = unsafe epoll_event(events: events, data: epoll_data_t(u64: token))
        guard unsafe epoll_ctl(pollDescriptor, operation, descriptor, &event) == 0 else {
            throw SystemError(code: errno)
        }
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let mustWake = shared.withLock { shared in
            shared.jobs.append(job)
            defer { shared.isAsleep = false }
            return shared.isAsleep
        }
        if mustWake { wake() }
    }

    func checkIsolated() {
        precondition(isCurrent, "called outside the executor's thread")
    }

    func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    private var isCurrent: Bool {
        thread.load(ordering: .relaxed) == pthread_self()
    }

    private func wake() {
        // Fails only if the counter is full, and then the thread is awake.
        _ = eventfd_write(wakeDescriptor, 1)
    }

    // MARK: Thread

    private func run() {
        thread.store(pthread_self(), ordering: .relaxed)
        blockSignals()
        var events = unsafe [epoll_event](repeating: epoll_event(), count: 64)
        while let timeout = runTurn() {
            let count = unsafe epoll_wait(pollDescriptor, &events, Int32(events.count), timeout)
            shared.withLock { $0.isAsleep = false }
            // A negative count is an interrupted wait: the next turn waits again.
            guard count > 0 else { continue }
            let handler = shared.withLock { $0.handler }
            for index in 0..<Int(count) {
                let token = unsafe events[index].data.u64
                if token == Self.wakeToken {
                    var counter = eventfd_t()
                    // The pointer is used during the call only.
                    _ = unsafe eventfd_read(wakeDescriptor, &counter)
                } else {
                    handler?.descriptorIsReady(token)
                }
            }
        }
    }

    /// Runs the waiting jobs and the jobs that they create, and ends the turn.
    ///
    /// - Returns: The time to sleep in milliseconds, -1 without limit; nil if the thread is to end.
    private func runTurn() -> Int32? {
        // A call is a chain of jobs, each created by the one before it.
        var rounds = 0
        while rounds < Self.roundsPerTurn, runJobs() > 0 { rounds += 1 }
        let now = now
        let deadline = shared.withLock { $0.handler }?.turnEnded(at: now)
        return shared.withLock { shared -> Int32? in
            guard shared.jobs.isEmpty else { return 0 }
            guard !shared.isStopped else { return nil }
            shared.isAsleep = true
            guard let deadline else { return -1 }
            // Rounded up, so that the deadline has passed when its turn begins.
            let milliseconds = ((deadline - now) / .milliseconds(1)).rounded(.up)
            return Int32(min(max(0, milliseconds), Double(Int32.max)))
        }
    }

    /// Runs the waiting jobs, but not the jobs that they create; returns their number.
    private func runJobs() -> Int {
        let jobs = shared.withLock { shared in
            defer { shared.jobs = [] }
            return shared.jobs
        }
        for job in jobs {
            // The thread retains the executor for as long as it runs.
            unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        return jobs.count
    }

    /// Leaves signals to the threads that wait for them.
    private func blockSignals() {
        var all = sigset_t()
        // Both pointers are used during the calls only.
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}

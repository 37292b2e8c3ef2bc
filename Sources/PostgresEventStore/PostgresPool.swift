import EventStorage
import SystemErrors

/// A few connections to one database, and the queue of requests for them.
///
/// The pool and its connections are isolated on one ``PollingExecutor``, whose thread also waits for their sockets:
/// there is no thread per connection and no lock. Lost connections are replaced after a ``Backoff``. While none is left
/// and the last attempt failed, one connection at a time is tried and requests fail at once; requests made before that
/// failure is known wait for ``PostgresConfiguration/connectionWait`` at most.
/// is known wait for ``PostgresConfiguration/connectionWait`` at most.
actor PostgresPool: PollingHandler {
    nonisolated let executor: PollingExecutor
    private let configuration: PostgresConfiguration
    private(set) var connections: [PooledConnection] = []
    private(set) var waiting: [Request] = []
    /// The reason why the last attempt failed; nil before the first one, and if it succeeded.
    private var failure: StorageFault.Cause?
    private var nextAttempt = ContinuousClock.now
    private var backoff: Backoff
    private var generator = SystemRandomNumberGenerator()
    private var lastToken: UInt64 = 0
    private var isStarted = false
    private var isClosing = false
    private var closers: [CheckedContinuation<Void, Never>] = []
    private var channels: [NotificationChannel] = []
    private weak var listener: (any NotificationListener)?

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The pool retains its executor, and a job of the pool retains the pool.
        unsafe executor.asUnownedSerialExecutor()
    }

    /// Makes a pool that connects with its first request.
    ///
    /// Throws ``StorageFault/exhausted(_:)`` if the process can have no more descriptors or threads.
    init(_ configuration: PostgresConfiguration) throws(StorageFault) {
        do throws(SystemError) {
            executor = try PollingExecutor()
        } catch {
            throw .exhausted(StorageFault.Cause(code: error.name, message: "no descriptor or thread for a connection"))
        }
        self.configuration = configuration
        backoff = Backoff(base: configuration.firstBackoff, limit: configuration.largestBackoff)
        executor.serve(self)
    }

    deinit {
        executor.stop()
    }

    // MARK: Requests

    /// Sends a request over the connection with the least load; returns the answers in the order of its calls.
    ///
    /// `isWrite` says whether the request may change data: a lost connection then throws
    /// ``StorageFault/outcomeUnknown(_:)``, otherwise ``StorageFault/unreachable(_:)``.
    func run(_ work: Request.Work, isWrite: Bool) async throws(StorageFault) -> [PostgresResult] {
        let outcome: Request.Outcome = await withCheckedContinuation { sender in
            // Checked here and not earlier, because other calls may run before the continuation begins.
            guard !isClosing else { return sender.resume(returning: .failure(.closed)) }
            guard waiting.count < configuration.waitingLimit else {
                let cause = StorageFault.Cause(message: "too many requests wait for a connection")
                return sender.resume(returning: .failure(.exhausted(cause)))
            }
            isStarted = true
            waiting.append(Request(work: work, isWrite: isWrite, madeAt: .now, sender: sender))
        }
        return try outcome.get()
    }

    /// Refuses further requests, waits for those under way, and closes the connections.
    func close() async {
        isClosing = true
        await withCheckedContinuation { closers.append($0) }
    }

    // MARK: Notifications

    /// Listens to channels on connections made from now on; existing connections are given up.
    ///
    /// A pool that listens has one connection, and keeps it open even without requests. `listener` is not retained.
    func listen(to channels: [NotificationChannel], _ listener: (any NotificationListener)?) {
        let now = ContinuousClock.now
        for connection in connections {
            tend(connection, at: now) { $0.lose(StorageFault.Cause(message: "the connection is replaced")) }
        }
        self.channels = channels
        self.listener = listener
        nextAttempt = now
        isStarted = true
    }

    // MARK: Turns

    nonisolated func descriptorIsReady(_ token: UInt64) {
        assumeIsolated { pool in
            guard let connection = pool.connections.first(where: { $0.token == token }) else { return }
            let now = ContinuousClock.now
            pool.tend(connection, at: now) { $0.serve(at: now) }
            while let notification = connection.takeNotification() {
                pool.listener?.notified(notification.payload, from: notification.sender)
            }
        }
    }

    nonisolated func turnEnded(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        assumeIsolated { pool in
            pool.giveUpLateConnections(at: now)
            pool.connect(at: now)
            pool.beginRequests(at: now)
            pool.failLateRequests(at: now)
            pool.closeIfDone()
            return pool.nextDeadline
        }
    }

    /// Lets a connection do something, and handles the results.
    private func tend(
        _ connection: PooledConnection, at now: ContinuousClock.Instant, _ body: (PooledConnection) -> Void
    ) {
        let wasEstablished = connection.wasEstablished
        body(connection)
        if connection.wasEstablished, !wasEstablished {
            failure = nil
            nextAttempt = now
            if !channels.isEmpty { listener?.listeningBegan() }
        }
        for ended in connection.takeEnded() {
            // A server that accepts connections and drops them does not get this far.
            if ended.wasAnswered { backoff.reset() }
            ended.request.sender.resume(returning: ended.outcome)
        }
        guard case .lost(let cause) = connection.state, let index = connections.firstIndex(where: { $0 === connection })
        else { return }
        connections.remove(at: index)
        listener?.listeningEnded()
        nextAttempt = now + backoff.next(using: &generator)
        if !connection.wasEstablished || !configuration.reconnects { failure = cause }
    }

    private func giveUpLateConnections(at now: ContinuousClock.Instant) {
        for connection in connections {
            guard let deadline = connection.deadline, deadline <= now else { continue }
            let cause = StorageFault.Cause(code: "ETIMEDOUT", message: "the server does not answer")
            tend(connection, at: now) { $0.lose(cause) }
            // A server that does not answer will probably not answer on the next connection either.
            failure = cause
        }
    }

    private func connect(at now: ContinuousClock.Instant) {
        while wantsConnection, now >= nextAttempt {
            lastToken += 1
            guard
                let connection = PooledConnection(
                    token: lastToken, configuration: configuration, channels: channels, executor: executor,
                    at: now)
            else {
                failure = StorageFault.Cause(code: "ENOMEM", message: "no memory for a connection")
                nextAttempt = now + backoff.next(using: &generator)
                return
            }
            connections.append(connection)
            tend(connection, at: now) { $0.start() }
        }
    }

    /// Whether one more connection is needed, now or at ``nextAttempt``.
    private var wantsConnection: Bool {
        guard isStarted, !isClosing || !waiting.isEmpty else { return false }
        guard configuration.reconnects else { return connections.isEmpty && failure == nil }
        guard connections.count < configuration.connections else { return false }
        // One attempt at a time is enough to find out whether a server is back.
        return failure == nil || connections.allSatisfy { $0.isEstablished }
    }

    private func beginRequests(at now: ContinuousClock.Instant) {
        while let request = waiting.first, let connection = leastLoadedConnection(for: request) {
            if connection.isIdle {
                tend(connection, at: now) { $0.probe() }
                guard connection.isIdle else { continue }
            }
            waiting.removeFirst()
            tend(connection, at: now) { $0.begin(request, at: now) }
        }
    }

    /// Returns an idle connection, else one that accepts the request after others.
    ///
    /// If there is none, later requests wait too, so that this one's turn comes.
    private func leastLoadedConnection(for request: Request) -> PooledConnection? {
        connections.filter { $0.accepts(request) }.min { $0.load < $1.load }
    }

    /// Fails the requests that have waited for a connection long enough.
    private func failLateRequests(at now: ContinuousClock.Instant) {
        while let request = waiting.first {
            let fault: StorageFault
            if hasEstablishedConnection {
                fault = .exhausted(StorageFault.Cause(message: "no connection was free in time"))
                guard request.madeAt + configuration.answerTimeout <= now else { return }
            } else if let failure {
                fault = .unreachable(failure)
            } else {
                fault = .unreachable(StorageFault.Cause(code: "ETIMEDOUT", message: "not connected in time"))
                guard request.madeAt + configuration.connectionWait <= now else { return }
            }
            waiting.removeFirst()
            request.sender.resume(returning: .failure(fault))
        }
    }

    private func closeIfDone() {
        guard isClosing, waiting.isEmpty else { return }
        connections.removeAll { $0.isIdle || !$0.isEstablished }
        guard connections.isEmpty else { return }
        for closer in closers { closer.resume() }
        closers = []
    }

    private var hasEstablishedConnection: Bool {
        connections.contains { $0.isEstablished }
    }

    private var nextDeadline: ContinuousClock.Instant? {
        var deadlines = connections.compactMap(\.deadline)
        if wantsConnection {
            deadlines.append(nextAttempt)
        }
        if let request = waiting.first {
            let patience = hasEstablishedConnection ? configuration.answerTimeout : configuration.connectionWait
            deadlines.append(request.madeAt + patience)
        }
        return deadlines.min()
    }
}

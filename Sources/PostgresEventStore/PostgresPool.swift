import EventStorage
import SystemCalls

/// A few connections to one database, and the queue of requests for them.
///
/// The pool and its connections are isolated on one ``PollingExecutor``, whose thread also waits for their sockets:
/// there is no thread per connection and no lock. Lost connections are replaced after a ``Backoff``. While none is left
/// and the last attempt failed, one connection at a time is tried and requests fail at once; requests made before that
/// failure is known wait for ``PostgresConfiguration/connectionWait`` at most.
actor PostgresPool: PollingHandler {
    nonisolated let executor: PollingExecutor
    private let configuration: PostgresConfiguration
    private let addresses: PostgresAddresses
    /// The servers that are tried one after the other; nil is one that libpq finds.
    private var servers: [PostgresHost?] = []
    /// The server that is tried next, and how many have failed one after the other.
    private var turn = (next: 0, failed: 0)
    /// Whether there is no address yet, and somebody is looking for it.
    private var isAwaitingNames = false
    private(set) var connections: [PooledConnection] = []
    private(set) var waiting: [Request] = []
    /// The reason why the last attempt failed; nil before the first one, and if it succeeded.
    private var failure: StorageFault.Cause?
    private var nextAttempt = ContinuousClock.now
    /// The last time at which a server that did not answer a write was asked for another answer.
    private var asked = ContinuousClock.now
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
    ///
    /// `resolve` looks names up, on another thread.
    init(
        _ configuration: PostgresConfiguration,
        resolve: @escaping PostgresAddresses.Resolver = PostgresAddresses.systemLookup
    ) throws(StorageFault) {
        do throws(SystemError) {
            executor = try PollingExecutor()
        } catch {
            throw .exhausted(StorageFault.Cause(code: error.name, message: "no descriptor or thread for a connection"))
        }
        self.configuration = configuration
        addresses = PostgresAddresses(configuration.hosts, resolve: resolve)
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
            waiting.append(Request(work: work, isWrite: isWrite, madeAt: executor.now, sender: sender))
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
        let now = executor.now
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
            let now = pool.executor.now
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
            pool.refuseWritesBehindLateOnes()
            pool.beginRequests(at: now)
            pool.askIfAlive(at: now)
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
            turn.failed = 0
            nextAttempt = now
            if !channels.isEmpty { listener?.listeningBegan() }
            // What another server still has to answer matters to nobody.
            for other in connections where other.isLate && other.server != connection.server {
                tend(other, at: now) { $0.lose(StorageFault.Cause(message: "another server is used")) }
            }
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
        let triesAnother = passOver(connection, cause)
        nextAttempt = triesAnother ? now : now + backoff.next(using: &generator)
        // A server that does not answer will probably not answer on the next connection either.
        let goesOn =
            connection.wasEstablished
            ? configuration.reconnects && (cause.code != Self.timeout || triesAnother) : triesAnother
        if !goesOn { failure = cause }
    }

    /// Lets the next attempt go to another server, where this one cannot be used.
    ///
    /// - Returns: Whether there is one that has not been tried since a connection was established.
    private func passOver(_ connection: PooledConnection, _ cause: StorageFault.Cause) -> Bool {
        // One that has become a standby serves nobody who writes, and one that hangs nobody.
        let isOfNoUse = !connection.wasEstablished || ["25006", Self.timeout].contains(cause.code)
        guard isOfNoUse, !servers.isEmpty else { return false }
        // Of several attempts at once, the first one counts.
        if servers[turn.next % servers.count] == connection.server {
            turn = ((turn.next + 1) % servers.count, turn.failed + 1)
        }
        return turn.failed % servers.count != 0
    }

    private func giveUpLateConnections(at now: ContinuousClock.Instant) {
        for connection in connections {
            guard let deadline = connection.deadline, deadline <= now else { continue }
            if isAlive(connection) {
                tend(connection, at: now) { $0.becomeLate(Self.late) }
                continue
            }
            // After a pause of this process nobody has been asked.
            if let since = doubtTime(of: connection), asked < since, let idle = idleBeside(connection) {
                askIfAlive(over: idle, at: now)
                connection.wait(until: now + configuration.answerTimeout / 2)
                continue
            }
            let cause = StorageFault.Cause(code: Self.timeout, message: "the server does not answer")
            tend(connection, at: now) { $0.lose(cause) }
        }
    }

    /// The code where a server has not answered in time.
    private static let timeout = "ETIMEDOUT"

    /// The cause of a write that is not answered by a server that answers others.
    private static let late = StorageFault.Cause(
        code: timeout, message: "a write is not answered in time; perhaps it waits for a synchronous standby")

    /// The time from which an answer on another connection shows that a server lives which does not answer a write; nil
    /// if no write is waited for.
    private func doubtTime(of connection: PooledConnection) -> ContinuousClock.Instant? {
        guard configuration.reconnects, connection.awaitsWrite, let deadline = connection.deadline else { return nil }
        return deadline - configuration.answerTimeout / 2
    }

    /// Whether the server that does not answer a write answers others.
    private func isAlive(_ connection: PooledConnection) -> Bool {
        guard let since = doubtTime(of: connection) else { return false }
        return connections.contains { other in
            other !== connection && other.server == connection.server && other.lastAnswer.map { $0 >= since } ?? false
        }
    }

    private func idleBeside(_ connection: PooledConnection) -> PooledConnection? {
        connections.first { $0.isIdle && $0.server == connection.server }
    }

    /// The time at which a server that does not answer a write is to be asked for another answer; nil if nobody is to be
    /// asked.
    private func askTime(about connection: PooledConnection) -> ContinuousClock.Instant? {
        guard let since = doubtTime(of: connection), asked < since, !isAlive(connection),
            idleBeside(connection) != nil
        else { return nil }
        return since
    }

    private func askIfAlive(at now: ContinuousClock.Instant) {
        for connection in connections {
            guard let time = askTime(about: connection), time <= now, let idle = idleBeside(connection) else {
                continue
            }
            askIfAlive(over: idle, at: now)
        }
    }

    private func askIfAlive(over idle: PooledConnection, at now: ContinuousClock.Instant) {
        asked = now
        tend(idle, at: now) { $0.askIfAlive(at: now) }
    }

    /// The most connections with writes under way: one of several is for those who read.
    private var connectionsForWrites: Int { max(1, configuration.connections - 1) }

    /// Refuses writes while all connections for them wait for late answers: nothing of them has been sent.
    private func refuseWritesBehindLateOnes() {
        guard connections.count(where: \.isLate) >= connectionsForWrites else { return }
        let refused = waiting.filter(\.isWrite)
        waiting.removeAll(where: \.isWrite)
        for request in refused { request.sender.resume(returning: .failure(.exhausted(Self.late))) }
    }

    private func connect(at now: ContinuousClock.Instant) {
        while wantsConnection, !isAwaitingNames, now >= nextAttempt {
            guard findServers(at: now) else { return }
            lastToken += 1
            guard
                let connection = PooledConnection(
                    token: lastToken, server: servers[turn.next % servers.count], configuration: configuration,
                    channels: channels, executor: executor, at: now)
            else {
                failure = StorageFault.Cause(code: "ENOMEM", message: "no memory for a connection")
                nextAttempt = now + backoff.next(using: &generator)
                return
            }
            connections.append(connection)
            tend(connection, at: now) { $0.start() }
        }
    }

    /// Learns the servers' addresses; false if there is none to connect to now.
    private func findServers(at now: ContinuousClock.Instant) -> Bool {
        let known = addresses.take(at: now) { [weak self] in Task { await self?.namesWereLookedUp() } }
        switch known {
        case .addresses(let found):
            servers = found
            return true
        case .awaited: isAwaitingNames = true
        case .none(let fault):
            failure = StorageFault.Cause(code: "EAI", message: fault.message)
            nextAttempt = now + backoff.next(using: &generator)
        }
        return false
    }

    private func namesWereLookedUp() { isAwaitingNames = false }

    /// Whether one more connection is needed, now or at ``nextAttempt``.
    private var wantsConnection: Bool {
        guard isStarted, !isClosing || !waiting.isEmpty else { return false }
        guard configuration.reconnects else { return connections.isEmpty && failure == nil }
        guard connections.count < configuration.connections else { return false }
        // One attempt at a time is enough to find out whether a server is back.
        return failure == nil || !connections.contains { $0.isConnecting }
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
        let writing = request.isWrite ? connections.count(where: \.holdsWrite) : 0
        return connections.filter { $0.accepts(request) && ($0.holdsWrite || writing < connectionsForWrites) }
            .min { $0.load < $1.load }
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
        var next: ContinuousClock.Instant?
        func note(_ time: ContinuousClock.Instant?) {
            if let time { next = min(next ?? time, time) }
        }
        for connection in connections {
            note(connection.deadline)
            note(askTime(about: connection))
        }
        if wantsConnection, !isAwaitingNames { note(nextAttempt) }
        if let request = waiting.first {
            let patience = hasEstablishedConnection ? configuration.answerTimeout : configuration.connectionWait
            note(request.madeAt + patience)
        }
        return next
    }
}

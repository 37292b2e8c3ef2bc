import CPostgres
import EventStorage

/// What the pool is asked to do on one connection.
struct Request: Sendable {
    /// What is sent.
    enum Work: Sendable {
        /// Statements, sent together; an error skips those that follow.
        case calls([Call])
        /// A text of several statements without parameters.
        case script(String)
    }

    /// What its sender gets: the answers to its calls, in order.
    typealias Outcome = Result<[PostgresResult], StorageFault>

    /// What is sent.
    let work: Work
    /// Whether it may change anything, so that a lost connection leaves its outcome unknown.
    let isWrite: Bool
    /// When it was made.
    let madeAt: ContinuousClock.Instant
    /// Who waits for its outcome.
    let sender: CheckedContinuation<Outcome, Never>
}

/// One of the pool's connections, from its first attempt to its loss.
///
/// It belongs to the pool's executor and serves one request at a time. All of a request's calls are sent at once, with
/// what is not prepared yet on this connection prepared before it.
final class PooledConnection {
    /// What the connection is at.
    enum State {
        /// Connecting, then fitting the session.
        case connecting
        /// Waiting for a request.
        case idle
        /// Serving a request.
        case serving(Request)
        /// Rolling back the transaction that a request left open.
        case rollingBack
        /// Nothing any more.
        case lost(StorageFault.Cause)
    }

    /// What a call to this connection brought about.
    enum Event {
        /// Nothing to be told.
        case none
        /// It is connected, and ready for its first request.
        case connected
        /// A request has its outcome.
        case answered(Request, Request.Outcome)
        /// The connection is lost, with the request it was serving, if any.
        case lost(StorageFault.Cause, Request?)
    }

    /// What the next answers belong to.
    private enum Expected {
        case preparation(name: String)
        case execution
    }

    /// Under what the executor watches its socket.
    let token: UInt64
    /// What it is at.
    private(set) var state = State.connecting
    /// When it is to be given up, unless something happens before.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether it has come so far as to serve requests.
    private(set) var wasEstablished = false

    private let executor: PollingExecutor
    private let configuration: PostgresConfiguration
    private let channels: [NotificationChannel]
    private var connection: PostgresConnection
    private var watched: (descriptor: Int32, interest: PollingExecutor.Interest)?
    private var isConnected = false
    private var prepared: Set<String> = []
    private var expected: ArraySlice<Expected> = []
    private var results: [PostgresResult] = []
    private var error: StorageFault.Cause?

    /// Begins to connect, and to listen to `channels` then; nil where there is no memory for it.
    init?(
        token: UInt64, configuration: PostgresConfiguration, channels: [NotificationChannel] = [],
        executor: PollingExecutor, at now: ContinuousClock.Instant
    ) {
        guard let connection = PostgresConnection(connectionString: configuration.connectionString) else { return nil }
        self.token = token
        self.configuration = configuration
        self.channels = channels
        self.executor = executor
        self.connection = connection
        deadline = now + configuration.connectTimeout
    }

    deinit {
        if let watched { executor.unwatch(watched.descriptor) }
    }

    /// Whether it waits for a request.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether it is connected and not lost.
    var isEstablished: Bool {
        switch state {
        case .idle, .serving, .rollingBack: true
        case .connecting, .lost: false
        }
    }

    /// Waits for the socket of an attempt that has just begun.
    func start() -> Event {
        // libpq wants the first call when the socket is writable.
        connection.isLost ? lose(connection.cause) : watch(.writing)
    }

    /// Serves the socket, which is ready.
    func serve(at now: ContinuousClock.Instant) -> Event {
        switch state {
        case .connecting where !isConnected: return connect()
        case .connecting, .idle, .serving, .rollingBack:
            let isAlive = connection.receive()
            let event = takeAnswers(at: now)
            switch event {
            case .lost: return event
            case .answered:
                // What was answered before the loss stands.
                if !isAlive { _ = lose(connection.cause) }
                return event
            case .none, .connected:
                guard isAlive else { return lose(connection.cause) }
                if case .lost(let cause, let request) = flush() { return .lost(cause, request) }
                return event
            }
        case .lost: return .none
        }
    }

    /// Looks whether the server has ended an idle connection, so that no request is sent into the void.
    func probe() -> Event {
        // The first look may find the server's farewell, the second then the end.
        connection.receive() && connection.receive() ? .none : lose(connection.cause)
    }

    /// Begins to serve a request; the connection is idle.
    func begin(_ request: Request, at now: ContinuousClock.Instant) -> Event {
        state = .serving(request)
        switch request.work {
        case .calls(let calls): return send(calls, until: now + configuration.answerTimeout)
        case .script(let sql):
            reset(deadline: now + configuration.answerTimeout)
            return connection.sendScript(sql) ? flush() : lose(connection.cause)
        }
    }

    /// Takes the next notification; nil where there is none, and of a connection that listens no longer.
    func takeNotification() -> (payload: [UInt8], sender: Int32)? {
        isEstablished ? connection.takeNotification() : nil
    }

    /// Gives the connection up.
    func lose(_ cause: StorageFault.Cause) -> Event {
        var request: Request?
        if case .serving(let served) = state { request = served }
        state = .lost(cause)
        deadline = nil
        if let watched { executor.unwatch(watched.descriptor) }
        watched = nil
        return .lost(cause, request)
    }

    // MARK: Connecting

    private func connect() -> Event {
        // The next step may close the socket and open another one.
        if let watched { executor.unwatch(watched.descriptor) }
        watched = nil
        switch connection.advance() {
        case .reading: return watch(.reading)
        case .writing: return watch(.writing)
        case .failed(let cause): return lose(cause)
        case .connected:
            isConnected = true
            let timeout = Int((configuration.statementTimeout / .milliseconds(1)).rounded(.up))
            var calls = [Call(.prepareSession, String(timeout))]
            if !channels.isEmpty { calls += [Call(.prepareBus)] + channels.map { Call(Statement(listening: $0)) } }
            return send(calls, until: deadline)
        }
    }

    private func watch(_ interest: PollingExecutor.Interest) -> Event {
        let descriptor = connection.descriptor
        do throws(SystemError) {
            switch watched {
            case .some((descriptor, interest)): break
            case .some((descriptor, _)): try executor.rewatch(descriptor, token: token, for: interest)
            case .some, .none: try executor.watch(descriptor, token: token, for: interest)
            }
            watched = (descriptor, interest)
            return .none
        } catch {
            return lose(StorageFault.Cause(code: error.name, message: "no descriptor or thread for a connection"))
        }
    }

    // MARK: Requests

    private func send(_ calls: [Call], until deadline: ContinuousClock.Instant?) -> Event {
        reset(deadline: deadline)
        var isPrepared = prepared
        for call in calls {
            if isPrepared.insert(call.statement.name).inserted {
                guard connection.sendPreparation(call) else { return lose(connection.cause) }
                expected.append(.preparation(name: call.statement.name))
            }
            guard connection.sendExecution(call) else { return lose(connection.cause) }
            expected.append(.execution)
        }
        return connection.sendSync() ? flush() : lose(connection.cause)
    }

    private func reset(deadline: ContinuousClock.Instant?) {
        self.deadline = deadline
        expected = []
        results = []
        error = nil
    }

    private func flush() -> Event {
        switch connection.flush() {
        case .done: watch(.reading)
        case .pending: watch(.both)
        case .failed: lose(connection.cause)
        }
    }

    private func takeAnswers(at now: ContinuousClock.Instant) -> Event {
        while true {
            switch connection.takeAnswer() {
            case .nothing: return connection.isLost ? lose(connection.cause) : .none
            case .endOfStatement:
                if connection.isLost { return lose(connection.cause) }
                switch state {
                case .idle: return .none
                case .serving(let request):
                    if case .script = request.work { return endScript(at: now) }
                case .connecting, .rollingBack, .lost: break
                }
                guard expected.popFirst() != nil else { return lose(Self.outOfStep) }
            case .result(let result):
                switch result.status {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    if case .preparation(let name) = expected.first {
                        prepared.insert(name)
                    } else {
                        results.append(result)
                    }
                case PGRES_PIPELINE_ABORTED: break
                case PGRES_FATAL_ERROR:
                    guard !result.endsConnection else { return lose(result.cause) }
                    // The errors that follow a request's first are its consequences.
                    error = error ?? result.cause
                case PGRES_PIPELINE_SYNC: return end(at: now)
                default: return lose(Self.outOfStep)
                }
            }
        }
    }

    private func endScript(at now: ContinuousClock.Instant) -> Event {
        connection.endScript() ? end(at: now) : lose(connection.cause)
    }

    /// Ends what was sent last.
    private func end(at now: ContinuousClock.Instant) -> Event {
        deadline = nil
        let (answers, error) = (results, error)
        results = []
        switch state {
        case .serving(let request):
            state = .idle
            guard let error else { return .answered(request, .success(answers)) }
            let meaning = SQLState(error.code).meaning
            if meaning.renewsConnection {
                _ = lose(error)
            } else if connection.isInTransaction {
                state = .rollingBack
                _ = send([Call(.rollback)], until: now + configuration.answerTimeout)
            }
            return .answered(request, .failure(meaning.kind.fault(error)))
        case .connecting:
            if let error { return lose(error) }
            state = .idle
            wasEstablished = true
            return .connected
        case .rollingBack:
            if let error { return lose(error) }
            state = .idle
            return .none
        case .idle, .lost: return .none
        }
    }

    private static let outOfStep = StorageFault.Cause(message: "the server's answers do not fit what it was asked")
}

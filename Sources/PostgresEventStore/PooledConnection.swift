import CPostgres
import EventStorage
import SystemCalls

/// A request for the pool to run on one connection.
struct Request: Sendable {
    /// The statements of the request.
    enum Work: Sendable {
        /// Statements, sent together; an error skips those that follow.
        case calls([Call])
        /// A text of several statements without parameters.
        case script(String)
    }

    /// The result for the sender: the answers to its calls, in order.
    typealias Outcome = Result<[PostgresResult], StorageFault>

    /// The statements to send.
    let work: Work
    /// Whether it may change data, so that a lost connection leaves its outcome unknown.
    let isWrite: Bool
    /// The time when it was made.
    let madeAt: ContinuousClock.Instant
    /// The continuation that waits for its outcome.
    let sender: CheckedContinuation<Outcome, Never>

    /// Whether nothing may be sent after it until it has ended: an error would leave its transaction open, and a script
    /// cannot be pipelined.
    var endsLine: Bool {
        switch work {
        case .calls(let calls): calls.contains(where: \.statement.opensTransaction)
        case .script: true
        }
    }
}

/// One of the pool's connections, from its first attempt to its loss.
///
/// It belongs to the pool's executor. All of a request's calls are sent at once; statements that this connection has
/// not prepared yet are prepared before them, and a Sync follows them, which bounds what an error skips. Further
/// requests are sent while earlier ones are under way: the server carries them out in order, and the failure of one
/// does not affect the others. A request follows another only if its statements are all prepared, so that none relies
/// on a preparation that an error may have skipped.
final class PooledConnection {
    /// The phase of the connection.
    enum State {
        /// Connecting, then applying the session's settings.
        case connecting
        /// Serving requests, or waiting for one.
        case ready
        /// Waiting for the answer to a write whose sender waits no longer, and taking nothing: it keeps its place, because
        /// the server's process waits as well, perhaps for a synchronous standby, and would not be gone with the socket.
        case late
        /// Finishing the requests that were sent, and taking no more: it is about to be replaced.
        case leaving(StorageFault.Cause)
        /// Rolling back the transaction that a request left open.
        case rollingBack
        /// Lost: it does nothing any more.
        case lost(StorageFault.Cause)
    }

    /// A request that has ended.
    struct Ended {
        /// The request.
        var request: Request
        /// The outcome for its sender.
        var outcome: Request.Outcome
        /// Whether the outcome is an answer of the server, and not the loss of the connection.
        var wasAnswered: Bool
    }

    /// The kind of message that the next answers belong to.
    private enum Expected {
        case preparation(name: String)
        case execution
    }

    /// Messages that were sent up to a Sync, and the answers to them so far.
    private struct Sent {
        /// The request; nil for the connection's own statements.
        var request: Request?
        var expected: ArraySlice<Expected>
        var results: [PostgresResult] = []
        var error: StorageFault.Cause?
        /// Whether a part of the answer to the first of `expected` has arrived.
        var hasBegun = false
    }

    /// The token under which the executor watches its socket.
    let token: UInt64
    /// The server to which it connects; nil: libpq finds it.
    let server: PostgresHost?
    /// The current phase.
    private(set) var state = State.connecting
    /// The time at which it is given up unless an answer arrives before; nil without a limit.
    private(set) var deadline: ContinuousClock.Instant?
    /// Whether it has ever been ready to serve requests.
    private(set) var wasEstablished = false
    /// The time of the last whole answer; nil before the first.
    private(set) var lastAnswer: ContinuousClock.Instant?

    private let executor: PollingExecutor
    private let configuration: PostgresConfiguration
    private let channels: [NotificationChannel]
    private var connection: PostgresConnection
    private var watched: (descriptor: Int32, interest: PollingExecutor.Interest)?
    private var isConnected = false
    private var prepared: Set<String> = []
    /// The requests that were sent and have not ended, in order.
    private var line: [Sent] = []
    private var ended: [Ended] = []

    /// Begins to connect, and listens to `channels` once connected; nil if there is no memory for it.
    init?(
        token: UInt64, server: PostgresHost? = nil, configuration: PostgresConfiguration,
        channels: [NotificationChannel] = [],
        executor: PollingExecutor, at now: ContinuousClock.Instant
    ) {
        guard
            let connection = PostgresConnection(
                connectionString: configuration.connectionString, server: server, writes: configuration.onlyWrites)
        else { return nil }
        self.token = token
        self.server = server
        self.configuration = configuration
        self.channels = channels
        self.executor = executor
        self.connection = connection
        deadline = now + configuration.connectTimeout
    }

    deinit {
        if let watched { executor.unwatch(watched.descriptor) }
    }

    /// Whether it is waiting for a request.
    var isIdle: Bool { isReady && line.isEmpty }

    /// Whether it is connected and has not been lost.
    var isEstablished: Bool {
        switch state {
        case .ready, .leaving, .rollingBack: true
        case .connecting, .late, .lost: false
        }
    }

    var isConnecting: Bool {
        if case .connecting = state { true } else { false }
    }

    /// Whether it waits for the answer to a write whose sender waits no longer.
    var isLate: Bool {
        if case .late = state { true } else { false }
    }

    /// Whether a write is under way, or late.
    var holdsWrite: Bool { isLate || line.contains { $0.request?.isWrite == true } }

    /// Whether what it waits for is the answer to a write.
    var awaitsWrite: Bool {
        guard isReady, let first = line.first?.request, first.isWrite, case .calls = first.work else { return false }
        return true
    }

    /// The number of requests under way.
    var load: Int { line.count }

    private var isReady: Bool {
        if case .ready = state { true } else { false }
    }

    /// Whether a request may be sent after those under way.
    func accepts(_ request: Request) -> Bool {
        guard isReady else { return false }
        guard let last = line.last else { return true }
        guard line.count < configuration.requestsPerConnection, last.request?.endsLine == false,
            case .calls(let calls) = request.work
        else { return false }
        return calls.allSatisfy { prepared.contains($0.statement.name) }
    }

    /// The requests that have ended since this was last called, in order.
    func takeEnded() -> [Ended] {
        defer { ended = [] }
        return ended
    }

    /// Starts to watch the socket of an attempt that has just begun.
    func start() {
        // libpq expects the first call when the socket is writable.
        if connection.isLost { lose(connection.cause) } else { watch(.writing) }
    }

    /// Handles the socket, which is ready.
    func serve(at now: ContinuousClock.Instant) {
        switch state {
        case .connecting where !isConnected: connect()
        case .connecting, .ready, .late, .leaving, .rollingBack:
            let isAlive = connection.receive()
            // Answers that arrived before a loss remain valid.
            takeAnswers(at: now)
            if isAlive { flush() } else { lose(connection.cause) }
        case .lost: break
        }
    }

    /// Checks whether the server has ended an idle connection, so that no request is sent on a dead connection.
    func probe() {
        // The first read may find the server's last message, and the second the end of the stream.
        if !connection.receive() || !connection.receive() { lose(connection.cause) }
    }

    /// Sends a request for which ``accepts(_:)`` is true.
    func begin(_ request: Request, at now: ContinuousClock.Instant) {
        let deadline = now + configuration.answerTimeout
        switch request.work {
        case .calls(let calls): send(calls, of: request, until: deadline)
        case .script(let sql):
            append(Sent(request: request, expected: []), until: deadline)
            if connection.sendScript(sql) { flush() } else { lose(connection.cause) }
        }
    }

    /// Asks for an answer that takes the server no time, while nothing else is under way.
    func askIfAlive(at now: ContinuousClock.Instant) {
        send([Call(.probe)], of: nil, until: now + configuration.answerTimeout)
    }

    /// Waits longer for the answer under way.
    func wait(until deadline: ContinuousClock.Instant) { self.deadline = deadline }

    /// Tells the senders of the requests under way that there is no answer yet, and keeps waiting for it.
    func becomeLate(_ cause: StorageFault.Cause) {
        endLine(cause)
        for index in line.indices { line[index].request = nil }
        state = .late
        deadline = nil
    }

    /// Returns the next notification; nil if there is none, or if the connection no longer listens.
    func takeNotification() -> (payload: [UInt8], sender: Int32)? {
        isEstablished ? connection.takeNotification() : nil
    }

    /// Gives the connection up; requests that were sent may have been carried out or not.
    func lose(_ cause: StorageFault.Cause) {
        if case .lost = state { return }
        endLine(cause)
        line = []
        state = .lost(cause)
        deadline = nil
        if let watched { executor.unwatch(watched.descriptor) }
        watched = nil
    }

    /// Ends the requests under way, without an answer.
    private func endLine(_ cause: StorageFault.Cause) {
        for request in line.compactMap(\.request) {
            let fault = request.isWrite ? StorageFault.outcomeUnknown(cause) : .unreachable(cause)
            ended.append(Ended(request: request, outcome: .failure(fault), wasAnswered: false))
        }
    }

    // MARK: Connecting

    private func connect() {
        // The next step may close the socket and open another one.
        if let watched { executor.unwatch(watched.descriptor) }
        watched = nil
        switch connection.advance() {
        case .reading: watch(.reading)
        case .writing: watch(.writing)
        case .failed(let cause): lose(cause)
        case .connected:
            isConnected = true
            let timeout = Int((configuration.statementTimeout / .milliseconds(1)).rounded(.up))
            var calls = [Call(.prepareSession, String(timeout))]
            if !channels.isEmpty { calls += [Call(.prepareBus)] + channels.map { Call(Statement(listening: $0)) } }
            send(calls, of: nil, until: deadline)
        }
    }

    private func watch(_ interest: PollingExecutor.Interest) {
        let descriptor = connection.descriptor
        do throws(SystemError) {
            switch watched {
            case .some((descriptor, interest)): break
            case .some((descriptor, _)): try executor.rewatch(descriptor, token: token, for: interest)
            case .some, .none: try executor.watch(descriptor, token: token, for: interest)
            }
            watched = (descriptor, interest)
        } catch {
            lose(StorageFault.Cause(code: error.name, message: "no descriptor or thread for a connection"))
        }
    }

    // MARK: Sending

    private func send(_ calls: [Call], of request: Request?, until deadline: ContinuousClock.Instant?) {
        var expected: [Expected] = []
        var isPrepared = prepared
        var isSent = true
        for call in calls where isSent {
            if isPrepared.insert(call.statement.name).inserted {
                expected.append(.preparation(name: call.statement.name))
                isSent = connection.sendPreparation(call)
            }
            expected.append(.execution)
            isSent = isSent && connection.sendExecution(call)
        }
        append(Sent(request: request, expected: expected[...]), until: deadline)
        if isSent, connection.sendSync() { flush() } else { lose(connection.cause) }
    }

    /// Appends to the line; its time limit begins when it is the first of the line.
    private func append(_ sent: Sent, until deadline: ContinuousClock.Instant?) {
        if line.isEmpty { self.deadline = deadline }
        line.append(sent)
    }

    private func flush() {
        if case .lost = state { return }
        switch connection.flush() {
        case .done: watch(.reading)
        case .pending: watch(.both)
        case .failed: lose(connection.cause)
        }
    }

    // MARK: Receiving

    private func takeAnswers(at now: ContinuousClock.Instant) {
        while !line.isEmpty {
            switch connection.takeAnswer() {
            case .nothing:
                if connection.isLost { lose(connection.cause) }
                return
            case .endOfStatement:
                if connection.isLost { return lose(connection.cause) }
                if case .script = line[0].request?.work {
                    guard connection.endScript() else { return lose(connection.cause) }
                    end(at: now)
                    continue
                }
                // An end without an answer: libpq has no more answers, although more are expected.
                guard line[0].hasBegun, line[0].expected.popFirst() != nil else { return lose(Self.outOfStep) }
                line[0].hasBegun = false
            case .result(let result): take(result, at: now)
            }
        }
    }

    private func take(_ result: PostgresResult, at now: ContinuousClock.Instant) {
        line[0].hasBegun = true
        switch result.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            if case .preparation(let name) = line[0].expected.first {
                prepared.insert(name)
            } else {
                line[0].results.append(result)
            }
        case PGRES_PIPELINE_ABORTED: break
        case PGRES_FATAL_ERROR:
            guard !result.endsConnection else { return lose(result.cause) }
            // The errors after a request's first one are its consequences.
            line[0].error = line[0].error ?? result.cause
        case PGRES_PIPELINE_SYNC: end(at: now)
        default: lose(Self.outOfStep)
        }
    }

    /// Ends the first request of the line.
    private func end(at now: ContinuousClock.Instant) {
        let sent = line.removeFirst()
        deadline = line.isEmpty ? nil : now + configuration.answerTimeout
        lastAnswer = now
        if let request = sent.request {
            end(request, sent.results, sent.error, at: now)
        } else if let error = sent.error {
            lose(SQLState(error.code).meaning.explained(error))
        } else if line.isEmpty {
            state = .ready
            wasEstablished = true
        }
        if case .leaving(let cause) = state, line.isEmpty { lose(cause) }
    }

    private func end(
        _ request: Request, _ results: [PostgresResult], _ error: StorageFault.Cause?, at now: ContinuousClock.Instant
    ) {
        guard let error else {
            ended.append(Ended(request: request, outcome: .success(results), wasAnswered: true))
            return
        }
        let meaning = SQLState(error.code).meaning
        ended.append(Ended(request: request, outcome: .failure(meaning.fault(error)), wasAnswered: true))
        if meaning.renewsConnection {
            state = .leaving(error)
        } else if line.isEmpty, connection.isInTransaction {
            // Nothing was sent after a request that opens a transaction.
            state = .rollingBack
            send([Call(.rollback)], of: nil, until: now + configuration.answerTimeout)
        }
    }

    private static let outOfStep = StorageFault.Cause(message: "the server's answers do not fit what it was asked")
}

import EventStorage
import Logging
import NIOCore
import Synchronization

/// Whether the event log can be reached and written, judged by the last attempts.
///
/// After a failed write the log counts as not writable until a write succeeds: an append, or a probe that writes like
/// an append and rolls back. A server with a full disk is therefore not ready although its log can be read, and
/// recovers by itself although no client sends it anything to write. Checks run one at a time, and there is at most one
/// probe a second, however many callers ask.
final class LogHealth: Sendable {
    /// The time between probes of a log whose last write failed.
    static let probeInterval = TimeAmount.seconds(1)
    /// The time for which a result replaces a late one.
    static let memory = TimeAmount.seconds(2)
    /// The time after which a late result is replaced by the last one.
    static let patience = TimeAmount.milliseconds(20)
    /// The time after which a log that does not answer counts as out of reach.
    static let limit = TimeAmount.seconds(2)
    private static let late = StorageFault.unreachable(.init(code: "ETIMEDOUT", message: "no answer in time"))

    private typealias Answer = Result<Void, StorageFault>

    private struct Waiter {
        var ticket: Int
        var continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        /// The fault of the last write; nil if it succeeded, and before the first one.
        var writeFault: StorageFault?
        /// The number of failed writes: a probe that began before the last of them says nothing about it.
        var failures = 0
        /// The result of the last check, and its time.
        var last: (answer: Answer, at: NIODeadline)?
        /// The callers that wait for the check under way.
        var waiters: [Waiter] = []
        var tickets = 0
        var isChecking = false
        var told = ToldCause()
    }

    private let store: any EventStore
    private let jobs: BackgroundJobs
    private let loop: any EventLoop
    private let logger: Logger
    private let state = Mutex(State())

    init(store: any EventStore, jobs: BackgroundJobs, loop: any EventLoop, logger: Logger) {
        self.store = store
        self.jobs = jobs
        self.loop = loop
        self.logger = logger
    }

    /// Records a successful write.
    func wrote() {
        state.withLock { state in
            guard state.writeFault != nil else { return }
            state.writeFault = nil
            state.last = nil
            tell(nil, &state)
        }
    }

    /// Records a failed write.
    func failed(_ fault: StorageFault) {
        guard fault != .closed else { return }
        state.withLock { state in
            state.writeFault = fault
            state.failures += 1
            state.last = nil
            tell(fault, &state)
        }
    }

    /// Tells the operator, once each, that the server is not ready because of a fault, and that it is ready again.
    private func tell(_ fault: StorageFault?, _ state: inout State) {
        if fault == .closed { return }
        guard let cause = fault?.cause else {
            guard state.told.ends() else { return }
            return logger.notice("The event log can be read and written again: the server is ready")
        }
        // A conflict with another writer ends with the next attempt.
        if case .transient? = fault { return }
        guard state.told.begins(cause.code, at: loop.now) else { return }
        logger.warning(
            "The event log is out of reach or takes no writes: the server is not ready",
            metadata: ["cause": "\(cause.message)", "code": "\(cause.code)"])
    }

    /// Returns when the log can be reached and its last write succeeded.
    ///
    /// - Throws: The fault of the last write, or else of the last check.
    func check() async throws(StorageFault) {
        let answer: Answer = await withCheckedContinuation { continuation in
            enum Step {
                case answer(Answer)
                case wait(ticket: Int, starts: Bool, standIn: Answer?)
            }
            let step: Step = state.withLock { state in
                let age = state.last.map { loop.now - $0.at } ?? .hours(1)
                if state.writeFault != nil, age < Self.probeInterval, let last = state.last {
                    return .answer(last.answer)
                }
                state.tickets += 1
                state.waiters.append(Waiter(ticket: state.tickets, continuation: continuation))
                defer { state.isChecking = true }
                return .wait(
                    ticket: state.tickets, starts: !state.isChecking,
                    standIn: age < Self.memory ? state.last?.answer : nil)
            }
            switch step {
            case .answer(let answer): continuation.resume(returning: answer)
            case .wait(let ticket, let starts, let standIn):
                let late = standIn ?? .failure(Self.late)
                loop.scheduleTask(in: standIn == nil ? Self.limit : Self.patience) {
                    guard let waiter = self.waiter(ticket) else { return }
                    if standIn == nil { self.state.withLock { self.tell(Self.late, &$0) } }
                    waiter.resume(returning: late)
                }
                if starts, !jobs.start({ await self.run() }) { end(.failure(.closed)) }
            }
        }
        try answer.get()
    }

    /// Takes a waiting caller, which has to be answered now; nil if it was answered already.
    private func waiter(_ ticket: Int) -> CheckedContinuation<Answer, Never>? {
        state.withLock { state in
            state.waiters.firstIndex { $0.ticket == ticket }.map { state.waiters.remove(at: $0).continuation }
        }
    }

    private func run() async {
        let (isProbe, failures) = state.withLock { ($0.writeFault != nil, $0.failures) }
        do throws(StorageFault) {
            if isProbe { try await store.probeWriting() } else { try await store.checkHealth() }
            let laterFault = state.withLock { state in
                if isProbe, state.failures == failures { state.writeFault = nil }
                return state.writeFault
            }
            end(laterFault.map { .failure($0) } ?? .success(()))
        } catch {
            end(.failure(error))
        }
    }

    private func end(_ answer: Answer) {
        let waiters = state.withLock { state in
            state.last = (answer, loop.now)
            state.isChecking = false
            switch answer {
            case .success: tell(nil, &state)
            case .failure(let fault): tell(fault, &state)
            }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: answer) }
    }
}

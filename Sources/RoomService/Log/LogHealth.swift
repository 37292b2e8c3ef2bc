import EventStorage
import NIOCore
import Synchronization

/// Whether the event log can be reached and written, as the last attempts have shown.
///
/// After a write that failed the log counts as not writable until one succeeds: an append, or a probe that writes as an
/// append does and takes it back. So a server whose disk is full says so although its log can be read, and finds by
/// itself that there is room again although nobody sends it anything to write. Checks run one at a time, and a probe once a
/// second at most, however many ask.
final class LogHealth: Sendable {
    /// How often a log is probed whose last write failed.
    static let probeInterval = TimeAmount.seconds(1)
    /// For how long a result stands in for one that is late.
    static let memory = TimeAmount.seconds(2)
    /// How long a result may take before the last one stands in for it.
    static let patience = TimeAmount.milliseconds(20)

    private typealias Answer = Result<Void, StorageFault>

    private struct Waiter {
        var ticket: Int
        var continuation: CheckedContinuation<Answer, Never>
    }

    private struct State {
        /// Why the last write failed; nil where it succeeded, and before the first one.
        var writeFault: StorageFault?
        /// Writes that failed: a probe that began before the last of them says nothing of it.
        var failures = 0
        /// What the last check found, and when.
        var last: (answer: Answer, at: NIODeadline)?
        /// Those that wait for the check under way.
        var waiters: [Waiter] = []
        var tickets = 0
        var isChecking = false
    }

    private let store: any EventStore
    private let jobs: BackgroundJobs
    private let loop: any EventLoop
    private let state = Mutex(State())

    init(store: any EventStore, jobs: BackgroundJobs, loop: any EventLoop) {
        self.store = store
        self.jobs = jobs
        self.loop = loop
    }

    /// Notes that something was written.
    func wrote() {
        state.withLock { state in
            guard state.writeFault != nil else { return }
            state.writeFault = nil
            state.last = nil
        }
    }

    /// Notes that something could not be written.
    func failed(_ fault: StorageFault) {
        guard fault != .closed else { return }
        state.withLock { state in
            state.writeFault = fault
            state.failures += 1
            state.last = nil
        }
    }

    /// Returns when the log can be reached and its last write succeeded.
    ///
    /// - Throws: why the last write, or else the last check, failed.
    func check() async throws(StorageFault) {
        let answer: Answer = await withCheckedContinuation { continuation in
            enum Step {
                case answer(Answer)
                case wait(ticket: Int, starts: Bool, standIn: Answer?)
            }
            let step: Step = state.withLock { state in
                let age = state.last.map { NIODeadline.now() - $0.at } ?? .hours(1)
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
                if let standIn {
                    loop.scheduleTask(in: Self.patience) { self.waiter(ticket)?.resume(returning: standIn) }
                }
                if starts, !jobs.start({ await self.run() }) { end(.failure(.closed)) }
            }
        }
        try answer.get()
    }

    /// A waiter that was not answered yet, which is to be answered now.
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
            state.last = (answer, .now())
            state.isChecking = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: answer) }
    }
}

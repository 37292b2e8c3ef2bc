package import NIOCore
import RoomDomain
import Synchronization

/// Runs work whose cost grows with a room or a log outside the event loops: a limited number of each kind side by side,
/// on separate threads, with a queue that is fair to addresses, and within an address to sessions.
///
/// It holds no event loop and no thread of Swift's own pool, so that sockets, health checks and all short work
/// continue. Each kind has its own places and its own queue, so no kind delays another
/// ([why](../../Documentation/Decisions/0019-heavy-work-beside-the-loops.md)).
package final class HeavyWork: Sendable {
    /// The limits on running and waiting work.
    package struct Limits: Sendable {
        /// The work items of one kind that run side by side.
        package var sideBySide: [HeavyWorkKind: Int]
        /// The work items of one kind that may wait for one session; a room's own work is not counted.
        package var waitingPerSession = 4
        /// The work items of one kind that may wait for one address, where it is known.
        package var waitingPerAddress: [HeavyWorkKind: Int]
        /// The work items of one kind that may wait for all sessions together.
        package var waiting = 4_096

        /// Allows two work items of each kind side by side.
        ///
        /// A crowd behind one address comes back at once when its network does, and leaves a quarter of the places to
        /// others. Questions about statistics take longest.
        package init() {
            sideBySide = Self.each { $0 == .watched ? 1 : 2 }
            waitingPerAddress = Self.each { $0 == .statistics ? 256 : 3_072 }
        }

        private static func each(_ number: (HeavyWorkKind) -> Int) -> [HeavyWorkKind: Int] {
            Dictionary(uniqueKeysWithValues: HeavyWorkKind.allCases.map { ($0, number($0)) })
        }
    }

    /// Gives each kind of work the threads that it runs on; nil: those of the calling task.
    package typealias Executors = @Sendable (HeavyWorkKind) -> (any TaskExecutor)?

    fileprivate struct Ticket {
        var id: Int
        var since: NIODeadline
        var enter: CheckedContinuation<HeavyWorkRefusal?, Never>
    }

    fileprivate struct Line {
        var free: Int
        /// An address that is not known is a group of its own for each session.
        var queue: GroupedQueue<HeavyWorkOrigin, SessionID, Ticket>
        /// The waiting work of rooms and of the server itself: at most some for each room, and a few more.
        var own: CircularBuffer<Ticket> = []
    }

    private struct State {
        var lines: [HeavyWorkKind: Line]
        var nextTicket = 0
    }

    private let state: Mutex<State>
    private let executors: Executors
    private let jobs: BackgroundJobs
    private let metrics: HeavyWorkMetrics

    init(limits: Limits, executors: @escaping Executors, jobs: BackgroundJobs, metrics: HeavyWorkMetrics) {
        self.executors = executors
        self.jobs = jobs
        self.metrics = metrics
        state = Mutex(
            State(
                lines: Dictionary(
                    uniqueKeysWithValues: HeavyWorkKind.allCases.map { kind in
                        (
                            kind,
                            Line(
                                free: max(1, limits.sideBySide[kind] ?? 1),
                                queue: GroupedQueue(
                                    maximum: limits.waiting,
                                    perGroup: limits.waitingPerAddress[kind] ?? limits.waiting,
                                    perKey: limits.waitingPerSession))
                        )
                    })))
    }

    /// Runs `body` when its turn comes, and returns its result.
    ///
    /// Turns go round the waiting addresses, and within an address round its sessions. Work without an asker is a room's or
    /// the server's own: it comes first, and is never refused because of a full queue. A task that is cancelled while it
    /// waits leaves the queue. `body` runs on the kind's threads, also after each of its `await`s, and keeps its place
    /// until it returns.
    package func run<Value: Sendable>(
        _ kind: HeavyWorkKind, for asker: Asker? = nil, _ body: @escaping @Sendable () async -> Value
    ) async throws(HeavyWorkRefusal) -> Value {
        if let refusal = await enter(kind, asker) {
            metrics.refused(kind, because: refusal)
            throw refusal
        }
        defer { leave(kind) }
        return await withTaskExecutorPreference(executors(kind)) { await body() }
    }

    /// Runs `body` when its turn comes, and then `done` on `loop`, once and never within this call.
    ///
    /// May be called on any thread, including an event loop's. See ``run(_:for:_:)``; if the process ends in the
    /// meantime, `done` is given ``HeavyWorkRefusal/stopped``.
    package func start<Value: Sendable>(
        _ kind: HeavyWorkKind, for asker: Asker? = nil, thenOn loop: any EventLoop,
        _ body: @escaping @Sendable () async -> Value,
        _ done: @escaping @Sendable (Result<Value, HeavyWorkRefusal>) -> Void
    ) {
        let isStarted = jobs.start {
            let result: Result<Value, HeavyWorkRefusal>
            do throws(HeavyWorkRefusal) {
                result = .success(try await self.run(kind, for: asker, body))
            } catch {
                result = .failure(error)
            }
            loop.execute { done(result) }
        }
        guard !isStarted else { return }
        metrics.refused(kind, because: .stopped)
        loop.execute { done(.failure(.stopped)) }
    }

    /// Waits for a place; returns nil once there is one.
    private func enter(_ kind: HeavyWorkKind, _ asker: Asker?) async -> HeavyWorkRefusal? {
        let id = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        let now = NIODeadline.now()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ticket = Ticket(id: id, since: now, enter: continuation)
                let outcome = state.withLock { state -> Result<Bool, HeavyWorkRefusal> in
                    // A cancellation after this check finds the ticket.
                    guard !Task.isCancelled else { return .failure(.cancelled) }
                    return Result { () throws(HeavyWorkRefusal) in
                        try state.lines[kind]?.enter(ticket, asker) ?? true
                    }
                }
                switch outcome {
                case .success(true):
                    metrics.began(kind, after: 0)
                    continuation.resume(returning: nil)
                case .success(false): metrics.beganWaiting(kind)
                case .failure(let refusal): continuation.resume(returning: refusal)
                }
            }
        } onCancel: {
            let ticket = state.withLock { $0.lines[kind]?.remove(id, of: asker) }
            guard let ticket else { return }
            metrics.endedWaiting(kind)
            ticket.enter.resume(returning: .cancelled)
        }
    }

    /// Releases a place, or passes it on.
    private func leave(_ kind: HeavyWorkKind) {
        metrics.ended(kind)
        guard let next = state.withLock({ $0.lines[kind]?.leave() }) else { return }
        metrics.endedWaiting(kind)
        metrics.began(kind, after: (NIODeadline.now() - next.since).nanoseconds)
        next.enter.resume(returning: nil)
    }
}

extension HeavyWork.Line {
    /// Takes a place if there is one; otherwise the ticket waits, or is refused.
    fileprivate mutating func enter(
        _ ticket: HeavyWork.Ticket, _ asker: Asker?
    ) throws(HeavyWorkRefusal) -> Bool {
        guard free == 0 else {
            free -= 1
            return true
        }
        guard let asker else {
            own.append(ticket)
            return false
        }
        do {
            try queue.append(ticket, of: asker.session, in: asker.origin)
        } catch {
            switch error {
            case .keyIsFull: throw .sessionIsBusy
            case .groupIsFull: throw .addressIsBusy
            case .isFull: throw .queueIsFull
            }
        }
        return false
    }

    /// Returns the ticket that takes over a released place; nil if none waits.
    fileprivate mutating func leave() -> HeavyWork.Ticket? {
        if let next = own.popFirst() ?? queue.popFirst() { return next }
        free += 1
        return nil
    }

    /// Removes a waiting ticket from the queue.
    fileprivate mutating func remove(_ id: Int, of asker: Asker?) -> HeavyWork.Ticket? {
        guard let asker else {
            return own.firstIndex { $0.id == id }.map { own.remove(at: $0) }
        }
        return queue.remove(where: { $0.id == id }, of: asker.session, in: asker.origin)
    }
}

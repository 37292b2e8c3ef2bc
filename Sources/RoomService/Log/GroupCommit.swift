import EventStorage
import Logging
import NIOCore
import Synchronization

/// Collects the appends of all rooms into few transactions: while one flush is in flight, the next one is collected.
///
/// A room has at most one append under way (its ``AppendQueue`` ensures that), so flushes may run side by side. A
/// further flush starts in two cases. Either as much waits as is under way, because large transactions cost less than
/// many small ones; or something has waited for some milliseconds, so that a flush that hangs delays no other room.
final class GroupCommit: Sendable {
    /// The most rooms in one transaction: enough to make the cost of the commit small compared with the rows'.
    private static let roomsPerFlush = 256
    /// The bytes of payload in one transaction: the room that reaches this number is the last.
    private static let bytesPerFlush = 16 << 20
    /// The cost, in the units of ``LogShares``, above which an append is long.
    private static let costOfShort = 64
    /// The cost of long appends in one transaction; the last of them may exceed it.
    private static let costPerFlush = 512
    /// The time for which appends wait in favour of larger transactions: longer than most transactions take.
    private static let patience = TimeAmount.milliseconds(5)
    /// The time for which a room's queue rests: other servers read its events, decide and append in less.
    private static let rest = TimeAmount.milliseconds(4)
    /// The time between two lines of the server's log that say that the event log could not be written: while it is out
    /// of reach, each write fails.
    private static let timeBetweenLines = TimeAmount.seconds(1)

    private struct State {
        /// Rooms with something to write and no append under way.
        var listed: [AppendQueue] = []
        /// The number of rooms with an append under way.
        var underWay = 0
        /// Rooms with something to write that let other servers append first.
        var resting: [AppendQueue] = []
        var idle: [CheckedContinuation<Void, Never>] = []
        /// Whether the next transaction is for short appends, if there are any: they wait for one long one at most.
        var isForShort = false
        /// Whether the time is set at which the listed rooms have waited long enough.
        var isTimed = false
        var isDue = false
        var isClosed = false
        /// The rooms whose writes have failed since the last line of the server's log about it, and the time of that line.
        var untold = 0
        var toldAt: NIODeadline?

        var isWorthFlushing: Bool { !listed.isEmpty && (listed.count >= underWay || isDue || isClosed) }
        var isOver: Bool { listed.isEmpty && resting.isEmpty && isClosed }

        /// Returns an idle flusher that is to be woken.
        mutating func sleeper() -> CheckedContinuation<Void, Never>? {
            isWorthFlushing ? idle.popLast() : nil
        }

        /// Returns whether a time has to be set for the listed rooms.
        mutating func mustBeTimed() -> Bool {
            guard !listed.isEmpty, !isWorthFlushing, !isTimed else { return false }
            isTimed = true
            return true
        }
    }

    /// One room's append in a transaction.
    private struct Entry {
        var queue: AppendQueue
        var append: StreamAppend
    }

    private let store: any EventStore
    private let health: LogHealth
    private let metrics: LogMetrics
    private let logger: Logger
    /// The loop of the timers, whose time is measured.
    private let loop: any EventLoop
    private let state = Mutex(State())

    init(store: any EventStore, health: LogHealth, loop: any EventLoop, metrics: LogMetrics, logger: Logger) {
        self.store = store
        self.health = health
        self.loop = loop
        self.metrics = metrics
        self.logger = logger
    }

    /// Adds `commands` decided commands of a room behind those that its queue has already.
    ///
    /// After ``close()`` they are not taken, and the queue ends with ``StorageFault/closed``.
    func submit(_ append: StreamAppend, commands: Int, to queue: AppendQueue) {
        guard !state.withLock(\.isClosed) else { return queue.close() }
        if queue.add(append, commands: commands) { list([queue]) }
    }

    private func list(_ queues: [AppendQueue]) {
        let (sleeper, mustBeTimed) = state.withLock { state in
            state.listed += queues
            return (state.sleeper(), state.mustBeTimed())
        }
        sleeper?.resume()
        if mustBeTimed { setMoment() }
    }

    private func setMoment() {
        loop.scheduleTask(in: Self.patience) {
            let sleeper = self.state.withLock { state in
                state.isTimed = false
                state.isDue = !state.listed.isEmpty
                return state.sleeper()
            }
            sleeper?.resume()
        }
    }

    /// Lets ``run(flushes:)`` return once everything that was submitted has been written.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            state.listed += state.resting
            state.resting = []
            defer { state.idle = [] }
            return state.idle
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Writes the submitted appends, with `flushes` transactions side by side, until ``close()`` was called and nothing
    /// is left.
    func run(flushes: Int) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<flushes {
                group.addTask(executorPreference: store.executor) {
                    while let batch = await self.next() { await self.flush(batch) }
                }
            }
        }
    }

    private func next() async -> [Entry]? {
        while true {
            let (batch, sleeper, mustBeTimed) = state.withLock { state in
                var batch: [AppendQueue] = []
                if state.isWorthFlushing {
                    batch += state.listed.prefix(Self.roomsPerFlush)
                    state.listed.removeFirst(batch.count)
                    state.underWay += batch.count
                    state.isDue = false
                }
                return (batch, state.sleeper(), state.mustBeTimed())
            }
            sleeper?.resume()
            if mustBeTimed { setMoment() }
            let entries = entries(of: batch)
            if !entries.isEmpty { return entries }
            if state.withLock(\.isOver) { return nil }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard !state.isWorthFlushing, !state.isOver else { return false }
                    state.idle.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    /// Chooses the appends of one transaction.
    ///
    /// Short appends that it leaves out return to the head of the list, and long ones to its end.
    private func entries(of queues: [AppendQueue]) -> [Entry] {
        guard !queues.isEmpty else { return [] }
        var entries: [Entry] = []
        var bytes = 0
        var cost = 0
        var long: [AppendQueue] = []
        var short: [AppendQueue] = []
        for queue in queues { if queue.cost > Self.costOfShort { long.append(queue) } else { short.append(queue) } }
        let isForShort = state.withLock { state in
            defer { state.isForShort = !long.isEmpty && !state.isForShort }
            return state.isForShort && !short.isEmpty
        }
        // Short appends that have waited behind a long one come first, and in a transaction of their own.
        let most = isForShort ? 0 : Self.costPerFlush
        var rest = (short + long)[...]
        while bytes < Self.bytesPerFlush, let queue = rest.first {
            let isLong = rest.count <= long.count
            guard !isLong || cost < most else { break }
            rest.removeFirst()
            guard let append = queue.begin() else { continue }
            bytes += append.payloadBytes
            if isLong { cost += LogShares.cost(of: append) }
            entries.append(Entry(queue: queue, append: append))
        }
        let (sleeper, mustBeTimed) = state.withLock { state in
            state.underWay -= queues.count - entries.count
            state.listed.insert(contentsOf: rest.dropLast(long.count), at: 0)
            state.listed += rest.suffix(long.count)
            return (state.sleeper(), state.mustBeTimed())
        }
        sleeper?.resume()
        if mustBeTimed { setMoment() }
        return entries
    }

    private func flush(_ batch: [Entry]) async {
        do throws(StorageFault) {
            let outcomes = try await append(batch)
            for (entry, outcome) in zip(batch, outcomes) {
                metrics.appendEnded(outcome, events: entry.append.events.count)
            }
            end(batch, outcomes.map { .success($0) })
        } catch {
            switch error {
            case .rejected where batch.count > 1, .corrupt where batch.count > 1:
                // If one room's append cannot be written, the others are written without it.
                for entry in batch {
                    await flush([entry])
                    // Work that becomes due here is for another flush, because this one continues.
                    state.withLock { $0.sleeper() }?.resume()
                }
            case .rejected, .corrupt:
                // It is this room's own, and no other line says so.
                log(error, of: batch.count)
                end(batch, batch.map { _ in .failure(error) })
            case .unreachable, .outcomeUnknown, .transient, .exhausted, .closed:
                tell(error, of: batch.count)
                end(batch, batch.map { _ in .failure(error) })
            }
        }
    }

    private func log(_ fault: StorageFault, of rooms: Int) {
        logger.error("The event log could not be written", metadata: ["fault": "\(fault)", "rooms": "\(rooms)"])
    }

    /// Writes a line about rooms whose writes have failed, or counts them for the next one.
    private func tell(_ fault: StorageFault, of rooms: Int) {
        let now = loop.now
        let told = state.withLock { state -> Int? in
            state.untold += rooms
            if let last = state.toldAt, now - last < Self.timeBetweenLines { return nil }
            state.toldAt = now
            defer { state.untold = 0 }
            return state.untold
        }
        if let told { log(fault, of: told) }
    }

    private func end(_ batch: [Entry], _ outcomes: [Result<AppendOutcome, StorageFault>]) {
        var (goOn, resting): ([AppendQueue], [AppendQueue]) = ([], [])
        for (entry, outcome) in zip(batch, outcomes) {
            switch entry.queue.end(outcome) {
            case .append: goOn.append(entry.queue)
            case .rest: resting.append(entry.queue)
            case .nothing: break
            }
        }
        let mustBeSet = state.withLock { state in
            state.underWay -= batch.count
            // The caller continues with the listed rooms.
            state.listed += goOn
            guard !state.isClosed else {
                state.listed += resting
                return false
            }
            state.resting += resting
            return !resting.isEmpty
        }
        guard mustBeSet else { return }
        loop.scheduleTask(in: Self.rest) {
            let rested = self.state.withLock { state in
                defer { state.resting = [] }
                return state.resting
            }
            if !rested.isEmpty { self.list(rested) }
        }
    }

    private func append(_ batch: [Entry]) async throws(StorageFault) -> [AppendOutcome] {
        let start = loop.now
        let appends = batch.map(\.append)
        defer { metrics.appended(appends, in: loop.now - start) }
        do throws(StorageFault) {
            let outcomes = try await store.append(appends)
            health.wrote()
            return outcomes
        } catch {
            health.failed(error)
            metrics.appendFailed(error)
            throw error
        }
    }
}

import EventStorage
import Logging
import NIOCore
import Synchronization

/// Gathers the appends of all rooms into few transactions: while one flush is in flight, the next one gathers.
///
/// A stream has at most one append here at a time (its room sees to that), so flushes may run side by side.
final class GroupCommit: Sendable {
    /// One room's append and what is called, once and on any thread, when its fate is known.
    struct Submission: Sendable {
        var append: StreamAppend
        var complete: @Sendable (Result<AppendOutcome, StorageFault>) -> Void
    }

    /// Rooms in one transaction: enough to make the commit's cost small beside the rows'.
    private static let roomsPerFlush = 256
    /// Bytes of payload in one transaction: the room that reaches it is the last.
    private static let bytesPerFlush = 16 << 20

    private struct State {
        var gathered: [Submission] = []
        var idle: [CheckedContinuation<Void, Never>] = []
        var isClosed = false
    }

    private let store: any EventStore
    private let metrics: RoomMetrics
    private let logger: Logger
    private let state = Mutex(State())

    init(store: any EventStore, metrics: RoomMetrics, logger: Logger) {
        self.store = store
        self.metrics = metrics
        self.logger = logger
    }

    /// Hands over an append.
    ///
    /// After ``close()`` it fails with ``StorageFault/closed``.
    func submit(_ submission: Submission) {
        let (sleeper, refused) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard !state.isClosed else { return (nil, true) }
            state.gathered.append(submission)
            return (state.idle.popLast(), false)
        }
        if refused { submission.complete(.failure(.closed)) }
        sleeper?.resume()
    }

    /// Lets ``run(flushes:)`` return once everything handed over has been written.
    func close() {
        let sleepers = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for sleeper in sleepers { sleeper.resume() }
    }

    /// Writes what is handed over, `flushes` transactions side by side, until ``close()`` and nothing is left.
    func run(flushes: Int) async {
        await withDiscardingTaskGroup { group in
            for _ in 0..<flushes {
                group.addTask(executorPreference: store.executor) {
                    while let batch = await self.next() { await self.flush(batch) }
                }
            }
        }
    }

    private func next() async -> [Submission]? {
        while true {
            let (batch, isClosed) = state.withLock { state in
                var bytes = 0
                let batch = Array(
                    state.gathered.prefix(Self.roomsPerFlush).prefix { submission in
                        defer { bytes += submission.append.events.reduce(0) { $0 + $1.payload.count } }
                        return bytes < Self.bytesPerFlush
                    })
                state.gathered.removeFirst(batch.count)
                return (batch, state.isClosed)
            }
            if !batch.isEmpty { return batch }
            if isClosed { return nil }
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.gathered.isEmpty, !state.isClosed else { return false }
                    state.idle.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        }
    }

    private func flush(_ batch: [Submission]) async {
        do {
            let outcomes = try await write(batch)
            for (submission, outcome) in zip(batch, outcomes) {
                metrics.appendEnded(outcome, events: submission.append.events.count)
                submission.complete(.success(outcome))
            }
        } catch .rejected where batch.count > 1, .corrupt where batch.count > 1 {
            // One room's append cannot be written; the others must not suffer for it.
            for submission in batch { await flush([submission]) }
        } catch {
            logger.error(
                "The event log could not be written", metadata: ["fault": "\(error)", "rooms": "\(batch.count)"])
            for submission in batch { submission.complete(.failure(error)) }
        }
    }

    private func write(_ batch: [Submission]) async throws(StorageFault) -> [AppendOutcome] {
        let start = NIODeadline.now()
        defer { metrics.appended(batch, in: .now() - start) }
        do throws(StorageFault) {
            return try await store.append(batch.map(\.append))
        } catch {
            metrics.appendFailed(error)
            throw error
        }
    }
}

import EventStorage
import Logging
import NIOCore
import Synchronization

/// Gathers the appends of all rooms into few transactions: while one flush is in flight, the next one gathers.
///
/// A room has at most one append under way (its ``AppendChain`` sees to that), so flushes may run side by side. They do
/// where it gains something: as much must wait as is under way, for large transactions cost less than many small ones.
final class GroupCommit: Sendable {
    /// Rooms in one transaction: enough to make the commit's cost small beside the rows'.
    private static let roomsPerFlush = 256
    /// Bytes of payload in one transaction: the room that reaches it is the last.
    private static let bytesPerFlush = 16 << 20

    private struct State {
        /// Rooms with something to write and nothing under way.
        var listed: [AppendChain] = []
        /// Rooms whose append is under way.
        var underWay = 0
        var idle: [CheckedContinuation<Void, Never>] = []
        var isClosed = false

        var isWorthFlushing: Bool { !listed.isEmpty && (listed.count >= underWay || isClosed) }
        var isOver: Bool { listed.isEmpty && isClosed }
    }

    /// A room in a transaction.
    private struct Entry {
        var chain: AppendChain
        var append: StreamAppend
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

    /// Hands over what a room has decided, `commands` commands, behind what its chain has already.
    ///
    /// After ``close()`` a chain that is written no more breaks with ``StorageFault/closed``.
    func submit(_ append: StreamAppend, commands: Int, to chain: AppendChain) {
        guard chain.add(append, commands: commands) else { return }
        let (sleeper, refused) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard !state.isClosed else { return (nil, true) }
            state.listed.append(chain)
            return (state.isWorthFlushing ? state.idle.popLast() : nil, false)
        }
        if refused { chain.tear(.fault(.closed)) }
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

    private func next() async -> [Entry]? {
        while true {
            let (batch, isOver) = state.withLock { state -> ([AppendChain], Bool) in
                guard state.isWorthFlushing else { return ([], state.isOver) }
                let batch = Array(state.listed.prefix(Self.roomsPerFlush))
                state.listed.removeFirst(batch.count)
                state.underWay += batch.count
                return (batch, false)
            }
            if !batch.isEmpty { return entries(of: batch) }
            if isOver { return nil }
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

    /// What the rooms write, as many of them as fit into one transaction; the others go back to the head of the list.
    private func entries(of chains: [AppendChain]) -> [Entry] {
        var entries: [Entry] = []
        var bytes = 0
        for chain in chains {
            guard bytes < Self.bytesPerFlush else { break }
            guard let append = chain.begin() else { continue }
            bytes += append.events.reduce(0) { $0 + $1.payload.count }
            entries.append(Entry(chain: chain, append: append))
        }
        let rest = chains.dropFirst(entries.count)
        if !rest.isEmpty {
            state.withLock { state in
                state.listed.insert(contentsOf: rest, at: 0)
                state.underWay -= rest.count
            }
        }
        return entries
    }

    private func flush(_ batch: [Entry]) async {
        do throws(StorageFault) {
            for (entry, outcome) in zip(batch, try await append(batch)) {
                metrics.appendEnded(outcome, events: entry.append.events.count)
                end(entry, .success(outcome))
            }
        } catch {
            switch error {
            case .rejected where batch.count > 1, .corrupt where batch.count > 1:
                // One room's append cannot be written; the others must not suffer for it.
                for entry in batch { await flush([entry]) }
            default:
                logger.error(
                    "The event log could not be written", metadata: ["fault": "\(error)", "rooms": "\(batch.count)"])
                for entry in batch { end(entry, .failure(error)) }
            }
        }
    }

    private func end(_ entry: Entry, _ outcome: Result<AppendOutcome, StorageFault>) {
        let goesOn = entry.chain.end(outcome)
        state.withLock { state in
            state.underWay -= 1
            if goesOn { state.listed.append(entry.chain) }
        }
    }

    private func append(_ batch: [Entry]) async throws(StorageFault) -> [AppendOutcome] {
        let start = NIODeadline.now()
        let appends = batch.map(\.append)
        defer { metrics.appended(appends, in: .now() - start) }
        do throws(StorageFault) {
            return try await store.append(appends)
        } catch {
            metrics.appendFailed(error)
            throw error
        }
    }
}

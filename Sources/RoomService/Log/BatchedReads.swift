import EventStorage
import FoundationEssentials
import NIOCore
import Synchronization

/// Gathers what rooms want to read of the log beyond what they have: while one query is in flight, the next one
/// gathers.
///
/// A room has at most one read here at a time. As ``GroupCommit`` writes for many rooms at once, this reads for them: all
/// rooms that other servers have moved are caught up with by one query.
final class BatchedReads: Sendable {
    /// What a read gives: what the room lacks, or nil where there is no such room.
    typealias Outcome = Result<LoadedStream?, StorageFault>

    private struct Wish {
        var stream: UUID
        var after: StreamVersion
        var complete: @Sendable (Outcome) -> Void
    }

    private struct State {
        var gathered: [Wish] = []
        var underWay = 0
    }

    /// Rooms in one query: few enough that what it gives is small beside the rooms themselves.
    private static let roomsPerQuery = 256
    /// Queries side by side: one may wait for a slow answer while the other goes on.
    private static let queries = 2

    private let store: any EventStore
    private let jobs: BackgroundJobs
    private let state = Mutex(State())

    init(store: any EventStore, jobs: BackgroundJobs) {
        self.store = store
        self.jobs = jobs
    }

    /// Reads what a room has beyond `version`; `complete` is called once, on any thread.
    ///
    /// What was durable when this is called is in what it gives.
    func read(_ stream: UUID, after version: StreamVersion, _ complete: @escaping @Sendable (Outcome) -> Void) {
        let mustStart = state.withLock { state in
            state.gathered.append(Wish(stream: stream, after: version, complete: complete))
            guard state.underWay < Self.queries else { return false }
            state.underWay += 1
            return true
        }
        guard mustStart, !jobs.start({ await self.run() }) else { return }
        while let wishes = next() {
            for wish in wishes { wish.complete(.failure(.closed)) }
        }
    }

    private func run() async {
        while let wishes = next() { await answer(wishes) }
    }

    /// What one query is to read; nil where nothing is left, which ends the row of queries.
    private func next() -> [Wish]? {
        state.withLock { state in
            let part = Array(state.gathered.prefix(Self.roomsPerQuery))
            state.gathered.removeFirst(part.count)
            guard part.isEmpty else { return part }
            state.underWay -= 1
            return nil
        }
    }

    private func answer(_ wishes: [Wish]) async {
        do throws(StorageFault) {
            let found = try await store.catchUp(
                Dictionary(wishes.map { ($0.stream, $0.after) }, uniquingKeysWith: { first, _ in first }))
            for wish in wishes { wish.complete(.success(found[wish.stream])) }
        } catch {
            switch error {
            case .rejected, .corrupt:
                // One room's log cannot be read; the others must not suffer for it.
                guard wishes.count == 1 else {
                    for wish in wishes { await answer([wish]) }
                    return
                }
            case .unreachable, .outcomeUnknown, .transient, .exhausted, .closed: break
            }
            for wish in wishes { wish.complete(.failure(error)) }
        }
    }
}

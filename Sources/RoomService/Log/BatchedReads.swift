import EventStorage
import FoundationEssentials
import NIOCore
import Synchronization

/// Collects the rooms' reads of newer events into few queries: while one query is in flight, the next one is collected.
///
/// A room has at most one read here at a time. ``GroupCommit`` writes for many rooms at once, and this type reads for
/// them: one query brings all rooms up to date to which other servers have appended.
final class BatchedReads: Sendable {
    /// The result of a read: the events that the room lacks, or nil if there is no such room.
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

    /// The rooms in one query: few enough that its result is small compared with the rooms themselves.
    private static let roomsPerQuery = 256
    /// The queries side by side: one may wait for a slow answer while the other continues.
    private static let queries = 2

    private let store: any EventStore
    private let jobs: BackgroundJobs
    private let state = Mutex(State())

    init(store: any EventStore, jobs: BackgroundJobs) {
        self.store = store
        self.jobs = jobs
    }

    /// Reads the events of a room after `version`; `complete` is called once, on any thread.
    ///
    /// The result contains all events that are durable at the time of this call.
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

    /// The reads of the next query; nil if none wait, which ends this series of queries.
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
                // If one room's log cannot be read, the others are read without it.
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

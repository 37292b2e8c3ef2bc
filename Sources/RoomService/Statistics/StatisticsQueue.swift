import EventStorage
import RoomDomain

/// What is counted, as everybody but the counter reads it: when the turn of whoever asks comes; may be used on any
/// thread.
///
/// A question may take some tens of milliseconds, and would else keep readers of the log waiting
/// ([why](../../Documentation/Decisions/0019-heavy-work-beside-the-loops.md)).
struct StatisticsQueue: Sendable {
    private let store: any StatisticsStore
    private let heavyWork: HeavyWork

    init(_ store: any StatisticsStore, _ heavyWork: HeavyWork) {
        self.store = store
        self.heavyWork = heavyWork
    }

    /// Asks the store; nobody's turn comes before the server's own questions, which name no asker.
    func ask<Value: Sendable>(
        for asker: Asker? = nil, _ body: @escaping @Sendable (any StatisticsStore) async throws(StorageFault) -> Value
    ) async throws(RoomFailure) -> Value {
        let store = store
        return try await heavyWork.perform(.statistics, for: asker) { () async throws(RoomFailure) in
            do throws(StorageFault) {
                return try await body(store)
            } catch {
                throw RoomFailure(error)
            }
        }
    }
}

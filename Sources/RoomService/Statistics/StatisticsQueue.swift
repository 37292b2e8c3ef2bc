import EventStorage
import RoomDomain

/// What is counted, as everybody but the counter reads it; may be used on any thread.
///
/// A question may take some tens of milliseconds: it is answered when the turn of whoever asks comes. What the server
/// reads for those who watch, and for all, has a line of its own: neither waits for the other
/// ([why](../../Documentation/Decisions/0019-heavy-work-beside-the-loops.md)).
struct StatisticsQueue: Sendable {
    private let store: any StatisticsStore
    private let heavyWork: HeavyWork

    init(_ store: any StatisticsStore, _ heavyWork: HeavyWork) {
        self.store = store
        self.heavyWork = heavyWork
    }

    /// Asks the store for somebody, or in the line of the server's own reads.
    func ask<Value: Sendable>(
        for asker: Asker?, _ body: @escaping @Sendable (any StatisticsStore) async throws(StorageFault) -> Value
    ) async throws(RoomFailure) -> Value {
        let store = store
        return try await heavyWork.perform(asker == nil ? .watched : .statistics, for: asker) {
            () async throws(RoomFailure) in
            do throws(StorageFault) {
                return try await body(store)
            } catch {
                throw RoomFailure(error)
            }
        }
    }
}

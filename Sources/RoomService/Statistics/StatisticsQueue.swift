import EventStorage
import Logging
import NIOCore
import RoomDomain
import Synchronization

/// What is counted, as everybody but the counter reads it; may be used on any thread.
///
/// A question may take some tens of milliseconds: it is answered when the turn of whoever asks comes. What the server
/// reads for those who watch, and for all, has a line of its own: neither waits for the other
/// ([why](../../Documentation/Decisions/0019-heavy-work-beside-the-loops.md)).
final class StatisticsQueue: Sendable {
    private let store: any StatisticsStore
    private let heavyWork: HeavyWork
    private let loop: any EventLoop
    private let logger: Logger
    private let told = Mutex(ToldCause())

    init(_ store: any StatisticsStore, _ heavyWork: HeavyWork, loop: any EventLoop, logger: Logger) {
        self.store = store
        self.heavyWork = heavyWork
        self.loop = loop
        self.logger = logger
    }

    /// Asks the store for somebody, or in the line of the server's own reads.
    func ask<Value: Sendable>(
        for asker: Asker?, _ body: @escaping @Sendable (any StatisticsStore) async throws(StorageFault) -> Value
    ) async throws(RoomFailure) -> Value {
        try await heavyWork.perform(asker == nil ? .watched : .statistics, for: asker) {
            () async throws(RoomFailure) in
            do throws(StorageFault) {
                let value = try await body(self.store)
                if self.told.withLock({ $0.ends() }) { self.logger.notice("Statistics can be read again") }
                return value
            } catch {
                self.tell(error)
                throw RoomFailure(error)
            }
        }
    }

    /// The connections for statistics are others than the log's, of which readiness tells.
    private func tell(_ fault: StorageFault) {
        if case .transient = fault { return }
        guard let cause = fault.cause, told.withLock({ $0.begins(cause.code, at: loop.now) }) else {
            return
        }
        logger.warning(
            "Statistics cannot be read: whoever asks gets an error",
            metadata: ["cause": "\(cause.message)", "code": "\(cause.code)"])
    }
}

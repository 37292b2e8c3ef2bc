import EventStorage
import FoundationEssentials
package import NIOCore
package import RoomDomain

/// All rooms of this process: finds them, loads them, and passes requests to them.
///
/// Every room belongs to one event loop, chosen by its id.
package final class RoomRegistry: Sendable {
    let dependencies: Dependencies
    let codes = RoomCodes()
    let tables: [RoomTable]
    private let turns: [LoopTurns]

    /// Makes the rooms of a process, which live on `loops`, of which there must be at least one.
    init(dependencies: Dependencies, loops: [any EventLoop]) {
        self.dependencies = dependencies
        turns = loops.map { LoopTurns(of: $0) }
        let codes = codes
        tables = turns.map { RoomTable(turns: $0, dependencies: dependencies, codes: codes) }
    }

    /// The number of rooms in memory.
    package func liveRooms() async -> Int {
        var count = 0
        for table in tables { count += await table.liveRooms }
        return count
    }

    // MARK: Visiting rooms

    /// Calls `visit` on the room's event loop.
    ///
    /// Calls from one event loop about one room keep their order.
    package func visit(_ id: RoomID, _ visit: @escaping RoomTable.Visit) {
        let table = table(of: id)
        if table.loop.inEventLoop {
            table.assumeIsolated { $0.visit(id, visit) }
        } else {
            table.loop.execute { table.assumeIsolated { $0.visit(id, visit) } }
        }
    }

    /// The turns of one of the rooms' loops, which its rooms share with other users of the loop.
    package func turns(of loop: any EventLoop) -> LoopTurns {
        turns.first { $0.loop === loop } ?? LoopTurns(of: loop)
    }

    /// The table to which a room belongs.
    func table(of id: RoomID) -> RoomTable {
        tables[Int(UInt(bitPattern: id.uuid.hashValue) % UInt(tables.count))]
    }

    /// Runs `body` on the room's event loop and returns its result, once the room is known to be at its log's head, or
    /// the log is out of reach.
    func withRoom<Value: Sendable>(
        _ id: RoomID, _ body: @escaping @Sendable (isolated LiveRoom) -> Value
    ) async throws(RoomFailure) -> Value {
        let result: Result<Value, RoomFailure> = await withCheckedContinuation { continuation in
            visitVerified(id) { result in
                continuation.resume(returning: result.map { room in room.assumeIsolated { body($0) } })
            }
        }
        return try result.get()
    }

    /// The same for a session that may look at the room.
    func withRoom<Value: Sendable>(
        _ id: RoomID, for session: SessionID, _ body: @escaping @Sendable (isolated LiveRoom) -> Value
    ) async throws(RoomFailure) -> Value {
        let result: Result<Value, RoomFailure> = try await withRoom(id) { room in
            room.refusal(of: session).map { .failure(.refused($0)) } ?? .success(body(room))
        }
        return try result.get()
    }

    /// Calls `visit` on the room's event loop, once the room is known to be at its log's head, or the log is out of
    /// reach.
    func visitVerified(_ id: RoomID, _ visit: @escaping @Sendable (Result<LiveRoom, RoomFailure>) -> Void) {
        self.visit(id) { result in
            switch result {
            case .success(let room):
                room.assumeIsolated { isolated in
                    isolated.verify {
                        let isForgotten = room.assumeIsolated { $0.isForgotten }
                        visit(isForgotten ? .failure(.noSuchRoom) : .success(room))
                    }
                }
            case .failure(let failure):
                visit(.failure(failure))
            }
        }
    }

    /// Makes a room in memory read its log again, whatever is known of it.
    func readAgain(_ id: RoomID) {
        let table = table(of: id)
        table.loop.execute { table.assumeIsolated { $0.readAgain(id) } }
    }

    /// Runs `body` on their event loops with those of the rooms that are in memory, with one hop for each loop.
    func withLiveRooms<Value: Sendable>(
        _ values: [RoomID: Value], _ body: @escaping @Sendable (isolated LiveRoom, Value) -> Void
    ) {
        for (_, values) in Dictionary(grouping: values, by: { ObjectIdentifier(table(of: $0.key)) }) {
            guard let first = values.first else { continue }
            let table = table(of: first.key)
            table.loop.execute {
                table.assumeIsolated { table in
                    for (id, value) in values { table.visitLive(id) { body($0, value) } }
                }
            }
        }
    }

    // MARK: The log

    /// Tells the rooms in memory that others have appended to their logs, with one hop for each event loop.
    func hear(_ moved: [RoomID: Int]) {
        for table in tables {
            let part = moved.filter { self.table(of: $0.key) === table }
            guard !part.isEmpty else { continue }
            table.loop.execute { table.assumeIsolated { $0.hear(part) } }
        }
    }

    /// Makes the rooms with followers read the events that the log has beyond theirs.
    func compareFollowedRooms() async {
        var followed: [UUID] = []
        for table in tables { followed += await table.followedRooms().map(\.uuid) }
        guard !followed.isEmpty, let heads = try? await dependencies.store.heads(of: followed) else { return }
        for table in tables { await table.compare(with: heads, of: followed) }
    }

    /// Makes rooms with followers that could not be read try again.
    func readStale() async {
        for table in tables { await table.readStale() }
    }

    /// Removes idle rooms from memory.
    func evictIdle() async {
        for table in tables { await table.evictIdle() }
    }
}

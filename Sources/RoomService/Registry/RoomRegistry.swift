import EventStorage
import FoundationEssentials
package import NIOCore
package import RoomDomain

/// All rooms of this process: found, brought into memory, and asked.
///
/// Every room belongs to one event loop, chosen by its id.
package final class RoomRegistry: Sendable {
    let dependencies: Dependencies
    let codes = LiveRoomCodes()
    let shelves: [RoomShelf]
    private let turns: [LoopTurns]

    /// Makes the rooms of a process, which may live on any of `loops`: at least one.
    init(dependencies: Dependencies, loops: [any EventLoop]) {
        self.dependencies = dependencies
        turns = loops.map { LoopTurns(of: $0) }
        let codes = codes
        shelves = turns.map { RoomShelf(turns: $0, dependencies: dependencies, codes: codes) }
    }

    /// How many rooms are in memory.
    package func liveRooms() async -> Int {
        var count = 0
        for shelf in shelves { count += await shelf.liveRooms }
        return count
    }

    // MARK: Visiting rooms

    /// Calls `visit` on the room's event loop.
    ///
    /// Calls from one event loop about one room keep their order.
    package func visit(_ id: RoomID, _ visit: @escaping RoomShelf.Visit) {
        let shelf = shelf(of: id)
        if shelf.loop.inEventLoop {
            shelf.assumeIsolated { $0.visit(id, visit) }
        } else {
            shelf.loop.execute { shelf.assumeIsolated { $0.visit(id, visit) } }
        }
    }

    /// What one of the rooms' loops does in turns: the same for its rooms and for whoever else asks.
    package func turns(of loop: any EventLoop) -> LoopTurns {
        turns.first { $0.loop === loop } ?? LoopTurns(of: loop)
    }

    /// The shelf on which a room stands, where it is in memory.
    func shelf(of id: RoomID) -> RoomShelf {
        shelves[Int(UInt(bitPattern: id.uuid.hashValue) % UInt(shelves.count))]
    }

    /// Runs `body` on the room's event loop, once the room is known to be at its log's head or the log to be out of
    /// reach, and returns what it gives.
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

    /// Calls `visit` on the room's event loop, once the room is known to be at its log's head or the log to be out of
    /// reach.
    func visitVerified(_ id: RoomID, _ visit: @escaping @Sendable (Result<LiveRoom, RoomFailure>) -> Void) {
        self.visit(id) { result in
            switch result {
            case .success(let room):
                room.assumeIsolated { isolated in
                    isolated.verify {
                        let isForgotten = room.assumeIsolated { $0.condition == .forgotten }
                        visit(isForgotten ? .failure(.noSuchRoom) : .success(room))
                    }
                }
            case .failure(let failure):
                visit(.failure(failure))
            }
        }
    }

    /// Lets a room that is in memory read its log again, whatever is known of it.
    func readAgain(_ id: RoomID) {
        let shelf = shelf(of: id)
        shelf.loop.execute { shelf.assumeIsolated { $0.readAgain(id) } }
    }

    /// Runs `body` on their event loops with those of the rooms that are in memory, one hop for each loop.
    func withLiveRooms<Value: Sendable>(
        _ values: [RoomID: Value], _ body: @escaping @Sendable (isolated LiveRoom, Value) -> Void
    ) {
        for (_, values) in Dictionary(grouping: values, by: { ObjectIdentifier(shelf(of: $0.key)) }) {
            guard let first = values.first else { continue }
            let shelf = shelf(of: first.key)
            shelf.loop.execute {
                shelf.assumeIsolated { shelf in
                    for (id, value) in values { shelf.visitLive(id) { body($0, value) } }
                }
            }
        }
    }

    // MARK: The log

    /// Lets the rooms that are in memory know that others have appended to their logs: one hop for each event loop.
    func hear(_ moved: [RoomID: Int]) {
        for shelf in shelves {
            let part = moved.filter { self.shelf(of: $0.key) === shelf }
            guard !part.isEmpty else { continue }
            shelf.loop.execute { shelf.assumeIsolated { $0.hear(part) } }
        }
    }

    /// Lets the rooms that somebody follows read what the log has beyond them.
    func compareFollowedRooms() async {
        var followed: [UUID] = []
        for shelf in shelves { followed += await shelf.followedRooms().map(\.uuid) }
        guard !followed.isEmpty, let heads = try? await dependencies.store.heads(of: followed) else { return }
        for shelf in shelves { await shelf.compare(with: heads, of: followed) }
    }

    /// Lets rooms that are followed and that could not be read try again.
    func readStale() async {
        for shelf in shelves { await shelf.readStale() }
    }

    /// Takes idle rooms out of memory.
    func evictIdle() async {
        for shelf in shelves { await shelf.evictIdle() }
    }
}

import NIOCore
package import RoomDomain
import RoomWire

extension RoomRegistry {
    /// Returns a part of a room's pool as JSON, from its state in memory, for somebody who may look at the room.
    ///
    /// The pool is that of the time when the asker's turn comes; it is searched and encoded outside the event loops.
    package func pool(
        of room: RoomID, _ query: PoolQuery, for asker: Asker
    ) async throws(RoomFailure) -> [UInt8] {
        // The room is loaded and at its log's head before the turn comes, so that no turn waits for the log.
        let live = try await withRoom(room, for: asker.session) { $0 }
        return try await dependencies.heavyWork.perform(.pool, for: asker) { () async throws(RoomFailure) in
            let (position, pool) = try await live.pool(for: asker.session)
            return HTTPBody.pool(pool.page(query), at: position)
        }
    }
}

extension LiveRoom {
    /// The pool at the last durable event, and that event's position, for a session that may still look.
    fileprivate func pool(for session: SessionID) throws(RoomFailure) -> (Position, PoolView) {
        guard !isForgotten else { throw .noSuchRoom }
        if let refusal = refusal(of: session) { throw .refused(refusal) }
        noteUse()
        return (position, confirmed.pool)
    }
}

import NIOCore
package import RoomDomain
package import RoomWire

extension RoomHost {
    /// A part of a room's pool, read from its state in memory, for a session that may look at the room.
    package func pool(
        of room: RoomID, _ query: PoolQuery, for session: SessionID
    ) async throws(RoomFailure) -> (Position, PoolPage) {
        try await withRoom(room, for: session) { $0.pool(query) }
    }
}

extension LiveRoom {
    /// A part of the pool as of the last durable event, and that event's position.
    fileprivate func pool(_ query: PoolQuery) -> (Position, PoolPage) {
        lastUse = loop.now
        return (position, confirmed.poolPage(query))
    }
}

import NIOCore
package import RoomDomain
package import RoomWire

extension RoomHost {
    /// A part of a room's pool, read from its state in memory.
    package func pool(of room: RoomID, _ query: PoolQuery) async throws(RoomFailure) -> (Position, PoolPage) {
        try await withRoom(room) { $0.pool(query) }
    }
}

extension LiveRoom {
    /// A part of the pool as of the last durable event, and that event's position.
    fileprivate func pool(_ query: PoolQuery) -> (Position, PoolPage) {
        lastUse = loop.now
        return (position, confirmed.poolPage(query))
    }
}

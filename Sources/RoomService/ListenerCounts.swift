import RoomDomain
import Synchronization

/// How many members listen in each live room of this process; rooms with none are left out.
final class ListenerCounts: Sendable {
    private let counts = Mutex<[RoomID: Int]>([:])

    /// Notes a room's count.
    func set(_ count: Int, of room: RoomID) {
        counts.withLock { $0[room] = count == 0 ? nil : count }
    }

    /// A room's count.
    func count(of room: RoomID) -> Int {
        counts.withLock { $0[room] ?? 0 }
    }

    /// All rooms with listeners, most listeners first, ties by id.
    func ranked() -> [(room: RoomID, listeners: Int)] {
        counts.withLock { counts in counts.map { ($0.key, $0.value) } }
            .sorted { ($1.listeners, $0.room.uuid) < ($0.listeners, $1.room.uuid) }
    }
}

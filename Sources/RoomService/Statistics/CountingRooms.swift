import NIOCore
import RoomDomain
import Synchronization

/// The rooms that have counted something since they were last asked.
final class CountingRooms: Sendable {
    /// A room that has counted something.
    struct Room: Sendable {
        var id: RoomID
        var loop: any EventLoop
        /// Takes what it has counted; called on its loop.
        var take: @Sendable () -> CountedRoom.Taken?
    }

    private let enlisted = Mutex<[Room]>([])

    /// Asks a room, soon, for what it has counted; may be called on any thread.
    func enlist(_ room: Room) {
        enlisted.withLock { $0.append(room) }
    }

    /// Takes what the enlisted rooms have counted.
    func take() async -> [(room: RoomID, taken: CountedRoom.Taken)] {
        let rooms = enlisted.withLock { rooms in
            defer { rooms = [] }
            return rooms
        }
        var byLoop: [(loop: any EventLoop, rooms: [Room])] = []
        for room in rooms {
            if let place = byLoop.firstIndex(where: { $0.loop === room.loop }) {
                byLoop[place].rooms.append(room)
            } else {
                byLoop.append((room.loop, [room]))
            }
        }
        var all: [(room: RoomID, taken: CountedRoom.Taken)] = []
        for (loop, rooms) in byLoop {
            all += await withCheckedContinuation { continuation in
                loop.execute {
                    continuation.resume(returning: rooms.compactMap { room in room.take().map { (room.id, $0) } })
                }
            }
        }
        return all
    }
}

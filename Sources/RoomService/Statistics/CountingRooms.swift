import NIOCore
import RoomDomain
import RoomStatistics
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
    /// What was counted of rooms that were made.
    private let made = Mutex<[RoomTally]>([])

    /// Asks a room, soon, for what it has counted; may be called on any thread.
    func enlist(_ room: Room) {
        enlisted.withLock { $0.append(room) }
    }

    /// Adds what is counted of a room that was made, which begins at the start of its log; may be called on any thread.
    func begin(_ tally: RoomTally) {
        made.withLock { $0.append(tally) }
    }

    /// Takes what the enlisted rooms have counted, behind what was counted of those that were made.
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
        // After the rooms were taken: what a room counts follows its beginning.
        var all = made.withLock { made in
            defer { made = [] }
            return made.map { (room: $0.room, taken: CountedRoom.Taken.tally($0)) }
        }
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

import NIOCore
import RoomDomain
import Synchronization

/// The rooms that have listeners here, or had some since they were last asked.
final class ObservedRooms: Sendable {
    /// Takes what a room has seen, and whether it is quiet now; called on its loop.
    typealias Take = @Sendable () -> (minutes: [Int: AudienceTally.Minute], isQuiet: Bool)

    private struct Room: Sendable {
        var id: RoomID
        var loop: any EventLoop
        var take: Take
    }

    private let enlisted = Mutex<[RoomID: Room]>([:])

    /// Asks a room for what it sees, once a minute, until it is quiet; may be called on any thread.
    func enlist(_ id: RoomID, on loop: any EventLoop, take: @escaping Take) {
        enlisted.withLock { $0[id] = Room(id: id, loop: loop, take: take) }
    }

    /// Takes what the enlisted rooms have seen, in the order of their ids.
    func take() async -> [(room: RoomID, minutes: [Int: AudienceTally.Minute])] {
        let rooms = enlisted.withLock { Array($0.values) }.sorted { $0.id.uuid < $1.id.uuid }
        var byLoop: [(loop: any EventLoop, rooms: [Room])] = []
        for room in rooms {
            if let place = byLoop.firstIndex(where: { $0.loop === room.loop }) {
                byLoop[place].rooms.append(room)
            } else {
                byLoop.append((room.loop, [room]))
            }
        }
        var all: [(room: RoomID, minutes: [Int: AudienceTally.Minute])] = []
        for (loop, rooms) in byLoop {
            all += await withCheckedContinuation { continuation in
                loop.execute {
                    let taken = rooms.map { room in
                        let (minutes, isQuiet) = room.take()
                        // On its loop: a room that has listeners again is enlisted again after this.
                        if isQuiet { self.enlisted.withLock { $0[room.id] = nil } }
                        return (room: room.id, minutes: minutes)
                    }
                    continuation.resume(returning: taken.filter { !$0.minutes.isEmpty })
                }
            }
        }
        return all
    }
}

import RoomDomain
import Synchronization

/// The codes of this process's live rooms, so that they are found without the event log.
final class LiveRoomCodes: Sendable {
    private let rooms = Mutex<[RoomCode: RoomID]>([:])

    /// Notes a live room's code.
    func set(_ code: RoomCode, of room: RoomID) {
        rooms.withLock { $0[code] = room }
    }

    /// Forgets a room's code, unless another room has it by now.
    func remove(_ code: RoomCode, of room: RoomID) {
        rooms.withLock { if $0[code] == room { $0[code] = nil } }
    }

    /// The live room with this code.
    func room(_ code: RoomCode) -> RoomID? {
        rooms.withLock { $0[code] }
    }
}

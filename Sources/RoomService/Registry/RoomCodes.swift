import RoomDomain
import Synchronization

/// The live rooms of this process by their codes, so that they are found without the event log.
final class RoomCodes: Sendable {
    private struct State {
        var rooms: [RoomCode: RoomID] = [:]
        var live: Set<RoomID> = []
    }

    private let state = Mutex(State())

    /// Records a live room with its code.
    func set(_ code: RoomCode, of room: RoomID) {
        state.withLock { state in
            state.rooms[code] = room
            state.live.insert(room)
        }
    }

    /// Forgets a room, and its code unless another room has it now.
    func remove(_ code: RoomCode, of room: RoomID) {
        state.withLock { state in
            if state.rooms[code] == room { state.rooms[code] = nil }
            state.live.remove(room)
        }
    }

    /// The live room with this code.
    func room(_ code: RoomCode) -> RoomID? {
        state.withLock { $0.rooms[code] }
    }

    /// Whether a room is live.
    func isLive(_ room: RoomID) -> Bool {
        state.withLock { $0.live.contains(room) }
    }
}

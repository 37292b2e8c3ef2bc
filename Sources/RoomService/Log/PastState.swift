import EventStorage
import Logging
import RoomDomain
import RoomLog
import RoomWire

extension EventStore {
    /// Returns a room at its event `seq`, folded from the nearest earlier snapshot, and the bytes that were read for it;
    /// 0: before its first event.
    ///
    /// - Throws: ``StorageFault``, or ``LogFault`` if the log lacks one of these events or has one that cannot be read.
    func state(of room: RoomID, at seq: Int, logger: Logger) async throws -> (state: RoomState, bytes: Int) {
        var state = RoomState(id: room)
        guard seq > 0 else { return (state, 0) }
        let snapshot = try await snapshot(of: room.uuid, atMost: seq, reducerVersion: StoredStateJSON.reducerVersion)
        var bytes = snapshot?.state.count ?? 0
        if let kept = snapshot?.state(of: room, logger: logger) { state = kept }
        while state.seq < seq {
            let events = try await read(
                room.uuid, after: state.seq, limit: min(1_000, seq - state.seq), bytes: RoomHistory.bytesOfEvents)
            bytes += events.reduce(0) { $0 + $1.payload.count }
            try state.fold(events, through: events.last?.seq ?? seq)
        }
        return (state, bytes)
    }
}

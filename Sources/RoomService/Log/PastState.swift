import EventStorage
import Logging
import RoomDomain
import RoomLog
import RoomWire

extension EventStore {
    /// Returns a room at its event `seq`, folded from the nearest earlier snapshot; 0: before its first event.
    ///
    /// `charge` is called with the bytes of all that is read for it, also where it then cannot be used.
    ///
    /// - Throws: ``StorageFault``, or ``LogFault`` if the log lacks one of these events or has one that cannot be read.
    func state(of room: RoomID, at seq: Int, logger: Logger, charge: (Int) -> Void = { _ in }) async throws -> RoomState
    {
        var state = RoomState(id: room)
        guard seq > 0 else { return state }
        let snapshot = try await snapshot(of: room.uuid, atMost: seq, reducerVersion: StoredStateJSON.reducerVersion)
        charge(snapshot?.state.count ?? 0)
        if let kept = snapshot?.state(of: room, logger: logger) { state = kept }
        while state.seq < seq {
            let events = try await read(
                room.uuid, after: state.seq, limit: min(1_000, seq - state.seq), bytes: RoomHistory.bytesOfEvents)
            charge(events.payloadBytes)
            try state.fold(events, through: events.last?.seq ?? seq)
        }
        return state
    }
}

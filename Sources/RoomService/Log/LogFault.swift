import EventStorage
import Logging
import RoomDomain
import RoomWire

/// Why a room's log cannot be folded: it was written by something else, or damaged.
enum LogFault: Error, Equatable {
    /// An event or a snapshot that cannot be read.
    case unreadable(StoredEventFault)
    /// The event with this number is not where it belongs.
    case hole(at: Int)
}

extension [StoredEvent] {
    /// The events as they happened; throws unless they are all those after `seq` up to `last`.
    ///
    /// A log with a hole in it must not get further than this: who numbers events, or sends them, relies on there being
    /// none.
    func recorded(after seq: Int, through last: Int) throws(LogFault) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        events.reserveCapacity(count)
        for stored in self {
            guard stored.seq == seq + events.count + 1 else { throw .hole(at: seq + events.count + 1) }
            do throws(StoredEventFault) {
                events.append(try EventJSON.recorded(stored))
            } catch {
                throw .unreadable(error)
            }
        }
        guard seq + events.count == last else { throw .hole(at: seq + events.count + 1) }
        return events
    }
}

extension StoredSnapshot {
    /// The room as it was; nil, and a warning, where the snapshot is not what was kept.
    ///
    /// Who gets nil replays the log from its beginning: nothing is lost but time.
    func state(of room: RoomID, logger: Logger) -> RoomState? {
        do throws(LogFault) {
            return try wholeState(of: room)
        } catch {
            logger.warning(
                "A snapshot is damaged and is not used: delete its row, nothing is lost with it",
                metadata: ["room": "\(room)", "seq": "\(seq)", "fault": "\(error)"])
            return nil
        }
    }

    private func wholeState(of room: RoomID) throws(LogFault) -> RoomState {
        if let checksum {
            let computed = LogChecksum.snapshot(
                room: room.uuid, seq: seq, reducerVersion: reducerVersion, state: self.state)
            guard checksum == computed else { throw .unreadable(.field("the snapshot must be as it was kept")) }
        }
        let state: RoomState
        do throws(StoredEventFault) {
            state = try StoredStateJSON.decode(self.state)
        } catch {
            throw .unreadable(error)
        }
        guard state.id == room else { throw .unreadable(.field("the snapshot must be the room's own")) }
        guard state.seq == seq else { throw .unreadable(.field("the snapshot must be of its position")) }
        return state
    }
}

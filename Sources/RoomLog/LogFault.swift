package import EventStorage
package import RoomDomain
package import RoomWire

/// Why a room's log cannot be folded: it was written by something else, or damaged.
package enum LogFault: Error, Equatable {
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
    package func recorded(after seq: Int, through last: Int) throws(LogFault) -> [RecordedEvent] {
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
    /// The room as it was; throws where the snapshot is not what was kept.
    ///
    /// A reader replays the log from its beginning then: nothing is lost but time.
    package func state(of room: RoomID) throws(LogFault) -> RoomState {
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

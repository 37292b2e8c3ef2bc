package import EventStorage
package import RoomDomain
package import RoomWire

/// The reason why a room's log cannot be folded: another program wrote it, or it is damaged.
package enum LogFault: Error, Equatable {
    /// An event or a snapshot that cannot be read.
    case unreadable(StoredEventFault)
    /// The event with this number is missing or out of order.
    case hole(at: Int)
}

extension [StoredEvent] {
    /// Returns the decoded events; throws unless they are exactly those after `seq` up to `last`.
    ///
    /// A log with a gap must be stopped here: the code that numbers or sends events relies on there being no gap.
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
    /// Returns the room at the snapshot's position; throws if the snapshot is damaged.
    ///
    /// The reader then replays the log from its beginning, which costs only time.
    package func state(of room: RoomID) throws(LogFault) -> RoomState {
        if let checksum {
            let computed = LogChecksum.snapshot(
                room: room.uuid, seq: seq, reducerVersion: reducerVersion, state: self.state)
            guard checksum == computed else { throw .unreadable(.field("the snapshot must match its checksum")) }
        }
        let state: RoomState
        do throws(StoredEventFault) {
            state = try StoredStateJSON.decode(self.state)
        } catch {
            throw .unreadable(error)
        }
        guard state.id == room else { throw .unreadable(.field("the snapshot must be the room's own")) }
        guard state.seq == seq else { throw .unreadable(.field("the snapshot must have the position of its row")) }
        return state
    }
}

package import EventStorage
package import RoomDomain
package import RoomWire

// Rows of the log with their checksums. All rows of a room are made here.

extension CommandKey {
    /// The same key with its checksum.
    package func sealed(in room: RoomID) -> CommandKey {
        var sealed = self
        sealed.checksum = LogChecksum.key(
            room: room.uuid, ordinal: ordinal, session: session, key: key, fingerprint: fingerprint, seq: seq,
            result: result)
        return sealed
    }
}

extension StoredSnapshot {
    /// Makes the snapshot of a room's current state.
    package init(of state: RoomState) {
        let (version, bytes) = (StoredStateJSON.reducerVersion, StoredStateJSON.encode(state))
        self.init(
            seq: state.seq, reducerVersion: version, state: bytes,
            checksum: LogChecksum.snapshot(
                room: state.id.uuid, seq: state.seq, reducerVersion: version, state: bytes))
    }
}

extension EpochRenewal {
    /// Gives a room the epoch that is `random` in hexadecimal: the room never had it before, and nobody can predict it.
    package init(of room: RoomID, random: UInt64) {
        let digits = String(random, radix: 16)
        let epoch = String(repeating: "0", count: 16 - digits.count) + digits
        self.init(stream: room.uuid, epoch: epoch, checksum: LogChecksum.head(room: room.uuid, epoch: epoch))
    }
}

extension EventJSON {
    /// Returns the row of an event.
    package static func stored(_ recorded: RecordedEvent, in room: RoomID) -> StoredEvent {
        let (type, payload) = (recorded.event.kind.rawValue, encodeLog(recorded.event))
        return StoredEvent(
            seq: recorded.seq, at: recorded.at.milliseconds, type: type, payload: payload,
            checksum: LogChecksum.event(
                room: room.uuid, seq: recorded.seq, at: recorded.at.milliseconds, type: type, payload: payload))
    }

    /// Returns the event of a row.
    package static func recorded(_ stored: StoredEvent) throws(StoredEventFault) -> RecordedEvent {
        try decodeLog(type: stored.type, seq: stored.seq, at: stored.at, payload: stored.payload)
    }
}

package import EventStorage
package import RoomDomain
import RoomWire

// Rows of the log with their checksums: every row of a room is made here.

extension CommandKey {
    /// The same with its checksum.
    package func sealed(in room: RoomID) -> CommandKey {
        var sealed = self
        sealed.checksum = LogChecksum.key(
            room: room.uuid, ordinal: ordinal, session: session, key: key, fingerprint: fingerprint, seq: seq,
            result: result)
        return sealed
    }
}

extension StoredSnapshot {
    /// The snapshot of a room as it is.
    package init(of state: RoomState) {
        let (version, bytes) = (StoredStateJSON.reducerVersion, StoredStateJSON.encode(state))
        self.init(
            seq: state.seq, reducerVersion: version, state: bytes,
            checksum: LogChecksum.snapshot(
                room: state.id.uuid, seq: state.seq, reducerVersion: version, state: bytes))
    }
}

extension EpochRenewal {
    /// Gives a room the epoch that `random` is in hexadecimal: one that it never had, nobody else may foresee it.
    package init(of room: RoomID, random: UInt64) {
        let digits = String(random, radix: 16)
        let epoch = String(repeating: "0", count: 16 - digits.count) + digits
        self.init(stream: room.uuid, epoch: epoch, checksum: LogChecksum.head(room: room.uuid, epoch: epoch))
    }
}

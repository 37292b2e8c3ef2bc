import EventStorage
import RoomDomain
import RoomLog
import RoomWire

/// A room that is being imported: checks its lines one by one, and makes the rows for the store from them.
struct ImportedRoom {
    private let head: ArchivedRoom
    private var state: RoomState
    private var events: [StoredEvent] = []
    private var keys: [CommandKey] = []
    private var nextKey: Int

    init(_ head: ArchivedRoom) {
        self.head = head
        state = RoomState(id: RoomID(head.id))
        nextKey = max(1, head.head.version.keyed - CommandKey.window + 1)
    }

    /// Its id as text.
    var id: String { state.id.description }

    mutating func take(_ event: StoredEvent) throws(ArchiveLineFault) {
        guard event.seq == state.seq + 1, event.seq <= head.head.version.seq else {
            throw ArchiveLineFault(
                message: "event \(event.seq) is in the place of event \(state.seq + 1) of \(head.head.version.seq)")
        }
        if let checksum = event.checksum {
            let computed = LogChecksum.event(
                room: head.id, seq: event.seq, at: event.at, type: event.type, payload: event.payload)
            guard computed == checksum else {
                throw ArchiveLineFault(message: "event \(event.seq) does not match its checksum")
            }
        }
        do throws(StoredEventFault) {
            state.evolve(try EventJSON.recorded(event))
        } catch {
            throw ArchiveLineFault(message: "event \(event.seq) cannot be read: \(error)")
        }
        events.append(event)
    }

    mutating func take(_ key: CommandKey) throws(ArchiveLineFault) {
        guard key.ordinal == nextKey, key.ordinal <= head.head.version.keyed else {
            throw ArchiveLineFault(message: "key \(key.ordinal) is in the place of key \(nextKey)")
        }
        let computed = LogChecksum.key(
            room: head.id, ordinal: key.ordinal, session: key.session, key: key.key, fingerprint: key.fingerprint,
            seq: key.seq, result: key.result)
        guard key.checksum == nil || key.checksum == computed else {
            throw ArchiveLineFault(message: "key \(key.ordinal) does not match its checksum")
        }
        nextKey += 1
        keys.append(key)
    }

    /// Takes everything added since the last part.
    ///
    /// The directory shows the room as closed until all of it is written: another room may have taken its code
    /// meanwhile.
    mutating func takePart() -> ImportedStream? {
        guard state.seq > 0 else { return nil }
        var entry = DirectoryEntry(of: state)
        entry.closedAt = entry.closedAt ?? entry.createdAt
        return part(entry)
    }

    /// Returns the last part.
    mutating func finish() throws(ArchiveLineFault) -> ImportedStream {
        let version = head.head.version
        guard state.seq == version.seq, version.seq > 0 else {
            throw ArchiveLineFault(message: "it has \(state.seq) events before this line; its head says \(version.seq)")
        }
        guard nextKey == version.keyed + 1 else {
            throw ArchiveLineFault(message: "its keys end at \(nextKey - 1); its head says \(version.keyed)")
        }
        guard head.checksum == nil || head.checksum == LogChecksum.head(room: head.id, epoch: head.head.epoch) else {
            throw ArchiveLineFault(message: "its epoch does not match its checksum")
        }
        var part = part(DirectoryEntry(of: state))
        part.members = state.listedMembers
        // The room is forgotten again, whether or not the export contains its events already rewritten.
        part.forgetAt = state.forgetAt
        part.clearing = state.clearing
        return part
    }

    private mutating func part(_ entry: DirectoryEntry) -> ImportedStream {
        var part = ImportedStream(stream: head.id, head: head.head, checksum: head.checksum, entry: entry)
        (part.events, part.keys) = (events, keys)
        (events, keys) = ([], [])
        return part
    }
}

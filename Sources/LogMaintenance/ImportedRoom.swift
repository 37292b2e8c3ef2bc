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
    private var waveforms: [Waveform] = []
    /// The names of all waveforms that were given, ascending as text.
    private var names: [String] = []

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

    mutating func take(_ waveform: Waveform) throws(ArchiveLineFault) {
        let name = waveform.name.description
        guard names.last.map({ $0.utf8.lexicographicallyPrecedes(name.utf8) }) ?? true else {
            throw ArchiveLineFault(message: "waveform \(name) is out of order")
        }
        names.append(name)
        waveforms.append(waveform)
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
        let named = Set(state.waveformNames.map(\.description))
        if let name = named.symmetricDifference(names).min() {
            throw ArchiveLineFault(
                message: named.contains(name)
                    ? "it lacks the waveform \(name), which a track has" : "no track has the waveform \(name)")
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
        part.attachments = waveforms.map { Attachment(name: $0.name.description, bytes: $0.data) }
        (events, keys, waveforms) = ([], [], [])
        return part
    }
}

import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomWire

/// Checks one room: folds its events one by one and compares all other stored data of it with the fold.
///
/// It is given the events up to the head with which it was made, in their order, each snapshot just after the event of
/// its position, and then the end.
struct RoomProof {
    /// The faults found.
    private(set) var findings: [Finding] = []
    /// The number of rows that were written without a checksum.
    private(set) var withoutChecksum = 0
    /// The number of events that were given.
    private(set) var events = 0

    private let archived: ArchivedStream
    private var state: RoomState
    /// The number of the last event that was given.
    private var lastSeq = 0
    /// Its checksum.
    private var lastChecksum: Int64?
    /// Whether the fold includes all events that were given.
    private var isWhole = true

    init(_ archived: ArchivedStream) {
        self.archived = archived
        state = RoomState(id: RoomID(archived.stream))
    }

    private mutating func find(
        _ what: String, expected: some CustomStringConvertible, found: some CustomStringConvertible,
        _ remedy: Finding.Remedy
    ) {
        findings.append(
            Finding(room: archived.stream, what, expected: "\(expected)", found: "\(found)", remedy))
    }

    /// Compares a stored checksum with the computed one, which is nil if the row is not JSON text.
    private mutating func compare(checksum: Int64?, of what: String, with computed: Int64?, _ remedy: Finding.Remedy) {
        guard let checksum else {
            withoutChecksum += 1
            return
        }
        guard checksum != computed else { return }
        find(
            "\(what): checksum", expected: hexadecimal(checksum),
            found: computed.map(hexadecimal) ?? "text that is not JSON", remedy)
    }

    // MARK: Events

    mutating func take(_ event: StoredEvent) {
        events += 1
        if event.seq != lastSeq + 1 {
            find("event \(lastSeq + 1)", expected: "an event", found: "none before \(event.seq)", .restore)
            isWhole = false
        }
        lastSeq = event.seq
        lastChecksum = event.checksum
        let checksum = LogChecksum.event(
            room: archived.stream, seq: event.seq, at: event.at, type: event.type, payload: event.payload)
        compare(checksum: event.checksum, of: "event \(event.seq)", with: checksum, .restore)
        do throws(StoredEventFault) {
            fold(try EventJSON.recorded(event))
        } catch {
            find("event \(event.seq)", expected: "an event that can be read", found: "\(error)", .restore)
            isWhole = false
        }
    }

    private mutating func fold(_ event: RecordedEvent) {
        if event.seq == 1 {
            guard case .roomCreated(let room) = event.event, room.id == state.id else {
                find("event 1", expected: "the room's making", found: event.event.kind.rawValue, .restore)
                isWhole = false
                return
            }
        }
        if event.at < state.lastEventAt {
            find(
                "event \(event.seq): at", expected: "\(state.lastEventAt.milliseconds) or later",
                found: event.at.milliseconds, .restore)
        }
        if archived.entry?.isForgotten == true, event.withoutPersonalData != event {
            find(
                "event \(event.seq)", expected: "no location and no names: the room was forgotten", found: "some",
                .forget)
        }
        if let entry = archived.entry, let clearing = entry.clearing, event.seq < min(clearing, entry.cleared + 1),
            event.event.withoutLocation != event.event
        {
            find("event \(event.seq)", expected: "no location: it was cleared", found: "some", .clear)
        }
        if isWhole { state.evolve(event) }
    }

    // MARK: Snapshots

    mutating func take(_ snapshot: StoredSnapshot) {
        let what = "snapshot \(snapshot.seq)"
        let checksum = LogChecksum.snapshot(
            room: archived.stream, seq: snapshot.seq, reducerVersion: snapshot.reducerVersion, state: snapshot.state)
        compare(checksum: snapshot.checksum, of: what, with: checksum, .deleteSnapshot)
        // Snapshots of other versions are never read.
        guard snapshot.reducerVersion == StoredStateJSON.reducerVersion, isWhole, state.seq == snapshot.seq else {
            return
        }
        let replayed = StoredStateJSON.encode(state)
        guard replayed != snapshot.state else { return }
        let common = zip(replayed, snapshot.state).prefix { $0.0 == $0.1 }.count
        find(
            what, expected: "the \(replayed.count) bytes of the replay",
            found: "\(snapshot.state.count) bytes, others from offset \(common) on", .deleteSnapshot)
    }

    // MARK: Waveforms

    mutating func take(_ attachment: Attachment) {
        let waveform = Waveform(data: attachment.bytes)
        guard waveform?.name.description != attachment.name else { return }
        find(
            "waveform \(attachment.name)", expected: "\(Waveform.byteCount) bytes with this hash",
            found: waveform.map { "bytes with the hash \($0.name)" } ?? "\(attachment.bytes.count) bytes",
            .restoreWaveform)
    }

    // MARK: The rest

    /// Compares the data stored beside the events; no more events are given after this.
    mutating func finish() {
        let head = archived.head.version
        if lastSeq < head.seq || head.seq < 1 {
            find("event \(lastSeq + 1)", expected: "an event: the head is at \(head.seq)", found: "none", .restore)
            isWhole = false
        }
        if archived.lastEvent > head.seq {
            find("head: seq", expected: "\(archived.lastEvent), the last event", found: head.seq, .restore)
        }
        compare(
            checksum: archived.checksum, of: "epoch \(archived.head.epoch)",
            with: LogChecksum.head(room: archived.stream, epoch: archived.head.epoch), .renewEpoch)
        if let tail = head.tail, isWhole, let lastChecksum, tail != lastChecksum {
            find(
                "head: tail", expected: "\(hexadecimal(lastChecksum)), the last event's checksum",
                found: hexadecimal(tail), .renewEpoch)
        }
        for seq in archived.snapshots where seq < 1 || seq > max(head.seq, archived.lastEvent) {
            find("snapshot \(seq)", expected: "a position of the log, 1 to \(head.seq)", found: seq, .deleteSnapshot)
        }
        if archived.entry == nil { find("directory", expected: "a row", found: "no row", .rebuild) }
        if let entry = archived.entry, let twin = entry.codeTwin {
            find(
                "code \(entry.entry.code)", expected: "no other open room with it",
                found: twin.uuidString.lowercased(), .rebuild)
        }
        proveKeys()
        // Data that depends on the fold cannot be compared without it.
        guard isWhole else { return }
        for violation in state.invariantViolations(atCommandBoundary: true) {
            find("the room at \(state.seq)", expected: "the invariants of a room", found: violation, .restore)
        }
        proveDirectory()
        proveMemberships()
        proveWaveforms()
    }

    private mutating func proveKeys() {
        let keyed = archived.head.version.keyed
        var next = max(1, keyed - CommandKey.window + 1)
        var names: [KeyName: Int] = [:]
        var position = 1
        for kept in archived.keys {
            let (key, what) = (kept.key, "key \(kept.key.ordinal)")
            if key.ordinal != next {
                find("keys", expected: "ordinal \(next)", found: key.ordinal, .deleteKeys)
            }
            next = key.ordinal + 1
            if kept.slot != key.ordinal % CommandKey.window {
                find("\(what): slot", expected: key.ordinal % CommandKey.window, found: kept.slot, .deleteKeys)
            }
            if key.seq < position || key.seq > archived.head.version.seq {
                find(
                    "\(what): seq", expected: "\(position) to \(archived.head.version.seq)", found: key.seq,
                    .deleteKeys)
            }
            position = max(position, key.seq)
            if let earlier = names.updateValue(key.ordinal, forKey: KeyName(session: key.session, key: key.key)) {
                find(what, expected: "a key used once", found: "the same as key \(earlier)", .deleteKeys)
            }
            let computed = LogChecksum.key(
                room: archived.stream, ordinal: key.ordinal, session: key.session, key: key.key,
                fingerprint: key.fingerprint, seq: key.seq, result: key.result)
            compare(checksum: key.checksum, of: what, with: computed, .deleteKeys)
        }
        if next != keyed + 1 {
            find("keys", expected: "the last ordinal \(keyed), the head's", found: next - 1, .deleteKeys)
        }
    }

    private struct KeyName: Hashable {
        var session: UUID
        var key: String
    }

    private mutating func proveDirectory() {
        guard let archived = archived.entry else { return }
        let (expected, found) = (DirectoryEntry(of: state).columns, archived.entry.columns)
        for (expected, found) in zip(expected, found) where Array(expected.text.utf8) != Array(found.text.utf8) {
            find("directory: \(expected.name)", expected: expected.text, found: found.text, .rebuild)
        }
        func text(_ number: (some CustomStringConvertible)?) -> String { number.map { "\($0)" } ?? "nothing" }
        if archived.forgetAt != state.forgetAt {
            find(
                "directory: forget_at", expected: text(state.forgetAt), found: text(archived.forgetAt), .rebuild)
        }
        if archived.clearing != state.clearing {
            find(
                "directory: clearing_seq", expected: text(state.clearing), found: text(archived.clearing), .rebuild)
        }
        if archived.cleared < 0 || archived.cleared > archived.clearing ?? 0 {
            find(
                "directory: cleared_seq", expected: "0 to \(archived.clearing ?? 0)", found: archived.cleared, .clear)
        }
    }

    private mutating func proveMemberships() {
        let expected = Set(state.listedMembers)
        let found = Set(archived.members)
        for session in expected.subtracting(found).sorted() {
            find("memberships", expected: "session \(session.uuidString.lowercased())", found: "no row", .rebuild)
        }
        for session in found.subtracting(expected).sorted() {
            find("memberships", expected: "no row", found: "session \(session.uuidString.lowercased())", .rebuild)
        }
    }

    private mutating func proveWaveforms() {
        var named = Set(state.waveformNames.map(\.description))
        for attachment in archived.attachments {
            let isNamed = named.remove(attachment.name) != nil
            if isNamed, let since = attachment.unneededSince {
                find(
                    "waveform \(attachment.name): unneeded_since", expected: "nothing: a track has it", found: since,
                    .unmarkWaveform)
            }
            if !isNamed, attachment.unneededSince == nil {
                find(
                    "waveform \(attachment.name)", expected: "a track that has it, or unneeded_since",
                    found: "neither", .deleteWaveform)
            }
        }
        for name in named.sorted() {
            find("waveform \(name)", expected: "a row: a track has it", found: "no row", .restoreWaveform)
        }
    }
}

extension DirectoryEntry {
    /// The columns' names with their values as text.
    fileprivate var columns: [(name: String, text: String)] {
        func text(_ value: (some CustomStringConvertible)?) -> String { value.map { "\($0)" } ?? "nothing" }
        func quoted(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "nothing" }
        return [
            ("code", quoted(code)), ("name", quoted(name)), ("is_public", text(isPublic)),
            ("latitude", text(latitude.map { $0 + 0 })), ("longitude", text(longitude.map { $0 + 0 })),
            ("created_at", text(createdAt)), ("closed_at", text(closedAt)),
            ("owner", text(owner?.uuidString.lowercased())), ("dj_name", quoted(djName)),
            ("now_playing_title", quoted(nowPlayingTitle)), ("now_playing_artist", quoted(nowPlayingArtist)),
        ]
    }
}

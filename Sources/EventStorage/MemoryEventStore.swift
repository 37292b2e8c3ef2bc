import ByteText
package import FoundationEssentials

/// The event store that keeps everything in this process's memory and loses it when the process ends.
///
/// It is the reference for the meaning of ``EventStore``, and a store for servers whose rooms need not outlive the
/// process. Every call takes effect at one instant: none is suspended while it is carried out. The log grows without
/// limit.
package actor MemoryEventStore: EventStore {
    var streams: [UUID: Stream] = [:]
    var importIsUnfinished = false
    /// The streams of each code, open or closed.
    var streamsByCode: [String: Set<UUID>] = [:]
    /// The open streams of each owner.
    private var openStreams: [UUID: Set<UUID>] = [:]
    var creations: [CreationName: Creation] = [:]
    /// The streams that each session is a member of; sessions without memberships are left out.
    var memberships: [UUID: Set<UUID>] = [:]
    /// The streams whose entries were written, oldest write first.
    private var listed: [UUID] = []
    /// The number of writes before those in `listed`.
    private var forgottenListings = 0
    var sessions: [UUID: SessionRecord] = [:]
    var sessionsByHash: [[UInt8]: UUID] = [:]
    /// What is counted of each stream whose counting has begun.
    var counted: [UUID: Counted] = [:]
    /// The songs that counted plays name.
    var countedTracks: [UUID: CountedTrack] = [:]

    /// At least this many of the latest writes of entries are kept, at most twice as many; a reader with an older mark
    /// reads all entries.
    package static let keptListings = 10_000

    /// Makes an empty store.
    package init() {}

    // MARK: Streams

    package func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        let stream = creation.first.stream
        let entry = creation.checkedEntry()
        let key = creation.key.map { CreationName(session: creation.creator, key: Array($0.utf8)) }
        if let key, let earlier = creations[key], earlier.at >= creation.keysSince {
            return .existing(stream: earlier.stream, fingerprint: earlier.fingerprint)
        }
        guard openStreams[creation.creator, default: []].count < creation.ownerLimit else { return .ownerLimitReached }
        guard openStream(code: entry.code) == nil else { return .codeTaken }
        guard streams[stream] == nil else { throw .rejected(.init(message: "a stream with this id exists")) }
        streams[stream] = Stream(
            head: StreamHead(epoch: creation.epoch, version: .start), checksum: creation.checksum, entry: entry)
        if let key {
            creations[key] = Creation(stream: stream, fingerprint: creation.fingerprint, at: creation.at)
        }
        write(creation.first)
        return .created
    }

    package func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        batch.checkPreconditions()
        let matching = batch.filter { part in
            guard let head = streams[part.stream]?.head else { return false }
            return part.expected.isMet(by: head.version) && head.epoch == part.epoch ?? head.epoch
        }
        for part in matching {
            guard let entry = part.directory, entry.closedAt == nil else { continue }
            if let other = openStream(code: entry.code), other != part.stream {
                throw .rejected(.init(message: "another open stream has this code"))
            }
        }
        for part in matching {
            write(part)
        }
        let appended = Set(matching.map(\.stream))
        return batch.map { appended.contains($0.stream) ? .appended : .conflict }
    }

    package func load(
        _ stream: UUID, reducerVersion: Int, after: StreamVersion?
    ) async throws(StorageFault) -> LoadedStream? {
        guard let stored = streams[stream] else { return nil }
        let snapshot =
            after == nil ? stored.snapshot(atMost: stored.head.version.seq, reducerVersion: reducerVersion) : nil
        return LoadedStream(
            head: stored.head, snapshot: snapshot,
            events: Array(stored.events(after: after?.seq ?? snapshot?.seq ?? 0)),
            keys: stored.keys.filter { $0.ordinal > after?.keyed ?? 0 })
    }

    package func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        var found: [UUID: LoadedStream] = [:]
        for (stream, after) in positions {
            guard let stored = streams[stream] else { continue }
            found[stream] = LoadedStream(
                head: stored.head, snapshot: nil, events: Array(stored.events(after: after.seq)),
                keys: stored.keys.filter { $0.ordinal > after.keyed }, continues: stored.continues(after))
        }
        return found
    }

    package func read(
        _ stream: UUID, after seq: Int, limit: Int, bytes: Int
    ) async throws(StorageFault) -> [StoredEvent] {
        guard let stored = streams[stream] else { return [] }
        var (events, size): ([StoredEvent], Int) = ([], 0)
        for event in stored.events(after: seq).prefix(max(0, limit)) {
            guard events.isEmpty || size < bytes else { break }
            size += event.payload.count
            events.append(event)
        }
        return events
    }

    package func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool {
        guard streams[renewal.stream]?.head.epoch == epoch else { return false }
        streams[renewal.stream]?.renew(renewal)
        streams[renewal.stream]?.snapshots = [:]
        return true
    }

    package func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead] {
        var heads: [UUID: StreamHead] = [:]
        for stream in streams {
            heads[stream] = self.streams[stream]?.head
        }
        return heads
    }

    package func snapshot(
        of stream: UUID, atMost seq: Int, reducerVersion: Int
    ) async throws(StorageFault) -> StoredSnapshot? {
        streams[stream]?.snapshot(atMost: seq, reducerVersion: reducerVersion)
    }

    package func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]? {
        streams[stream]?.attachments[name]?.bytes
    }

    package func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault) {
        guard let stored = streams[stream], stored.forgetAt == nil, stored.head.epoch == epoch ?? stored.head.epoch,
            snapshot.seq >= stored.clearing ?? 0
        else {
            throw .rejected(.refusedSnapshot)
        }
        let start = snapshot.start(ofSpan: span)
        streams[stream]?.snapshots = stored.snapshots.filter { $0.key < start || $0.key > snapshot.seq }
        streams[stream]?.snapshots[snapshot.seq] = snapshot
    }

    // MARK: Directory

    package func stream(code: String) async throws(StorageFault) -> UUID? {
        openStream(code: code) ?? streamsByCode[code]?.max { closing(of: $0) < closing(of: $1) }
    }

    package func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord] {
        Set(streams).compactMap { stream in
            self.streams[stream].map { DirectoryRecord(stream: stream, entry: $0.entry) }
        }
    }

    package func openPublicStreams(
        matching: String?, before: UUID?, limit: Int
    ) async throws(StorageFault) -> [DirectoryRecord] {
        let text = matching.map { $0.utf8.map(\.asciiLowercased) }
        let found = streams.compactMap { stream, stored -> DirectoryRecord? in
            guard stored.entry.isPublic, stored.entry.closedAt == nil else { return nil }
            if let before, stream >= before { return nil }
            if let text, !stored.entry.name.utf8.map(\.asciiLowercased).contains(text) { return nil }
            return DirectoryRecord(stream: stream, entry: stored.entry)
        }
        return Array(found.sorted { $0.stream > $1.stream }.prefix(max(0, limit)))
    }

    package func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges {
        let written = forgottenListings + listed.count
        let now = DirectoryMark(String(written))
        guard let mark, let start = Int(mark.text), (forgottenListings...written).contains(start) else {
            return DirectoryChanges(records: nil, mark: now)
        }
        let streams = listed[(start - forgottenListings)...]
        return DirectoryChanges(records: try await directory(of: Array(streams)), mark: now)
    }

    package func memberships(of session: UUID) async throws(StorageFault) -> [UUID] {
        Array(memberships[session] ?? [])
    }

    // MARK: Sessions

    package func insert(_ session: SessionRecord) async throws(StorageFault) {
        guard sessions[session.id] == nil, sessionsByHash[session.tokenHash] == nil else {
            throw .rejected(.init(message: "a session with this id or token hash exists"))
        }
        sessions[session.id] = session
        sessionsByHash[session.tokenHash] = session.id
    }

    package func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord? {
        sessionsByHash[tokenHash].flatMap { sessions[$0] }
    }

    package func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool {
        sessions[session]?.name = name
        return sessions[session] != nil
    }

    package func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault) {
        guard let record = sessions[session], !record.hasEnded else { return }
        sessions[session]?.expiresAt = expiresAt
    }

    package func endSession(_ session: UUID, at now: Int64) async throws(StorageFault) {
        guard let record = sessions[session] else { return }
        sessions[session]?.hasEnded = true
        sessions[session]?.expiresAt = min(record.expiresAt, now)
    }

    package func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        let over = sessions.values.filter { $0.hasEnded || $0.expiresAt <= now }
        return Array(over.sorted { $0.expiresAt < $1.expiresAt }.prefix(max(0, limit)))
    }

    package func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID] {
        sessions.filter { self.sessions[$0]?.hasEnded ?? true }
    }

    package func deleteSession(_ session: UUID) async throws(StorageFault) {
        creations = creations.filter { $0.key.session != session }
        guard let record = sessions.removeValue(forKey: session) else { return }
        sessionsByHash[record.tokenHash] = nil
    }

    // MARK: Health

    package func checkHealth() async throws(StorageFault) {}

    // MARK: Parts

    /// Writes a part of an append that has been checked.
    private func write(_ part: StreamAppend) {
        streams[part.stream]?.write(part)
        if let entry = part.directory {
            list(part.stream, as: entry)
        }
        for session in part.joined {
            memberships[session, default: []].insert(part.stream)
        }
        for session in part.left {
            memberships[session]?.remove(part.stream)
        }
    }

    func list(_ stream: UUID, as entry: DirectoryEntry) {
        if let old = streams[stream]?.entry {
            streamsByCode[old.code]?.remove(stream)
            if let owner = old.owner { openStreams[owner]?.remove(stream) }
        }
        streams[stream]?.entry = entry
        listed.append(stream)
        if listed.count > 2 * Self.keptListings {
            listed.removeFirst(Self.keptListings)
            forgottenListings += Self.keptListings
        }
        streamsByCode[entry.code, default: []].insert(stream)
        if let owner = entry.owner, entry.closedAt == nil {
            openStreams[owner, default: []].insert(stream)
        }
    }

    func openStream(code: String) -> UUID? {
        streamsByCode[code]?.first { streams[$0]?.entry.closedAt == nil }
    }

    private func closing(of stream: UUID) -> (Int64, UUID) {
        (streams[stream]?.entry.closedAt ?? .min, stream)
    }
}

extension MemoryEventStore {
    /// One stream.
    struct Stream {
        var head: StreamHead
        /// The checksum of its id and epoch.
        var checksum: Int64?
        var entry: DirectoryEntry
        /// All events; the one numbered `seq` is at `seq - 1`.
        var events: [StoredEvent] = []
        /// The newest keyed commands, ascending.
        var keys: [CommandKey] = []
        var snapshots: [Int: StoredSnapshot] = [:]
        var attachments: [String: HeldAttachment] = [:]
        var forgetAt: Int64?
        var forgottenAt: Int64?
        var clearing: Int?
        /// The number of the last event that has been cleared, of the events before the clearing.
        var cleared = 0

        mutating func write(_ part: StreamAppend) {
            events += part.events
            keys += part.keys
            keys.removeFirst(max(0, keys.count - CommandKey.window))
            head.version = part.resulting
            forgetAt = part.forgetAt ?? forgetAt
            clearing = part.clearing ?? clearing
            if part.forgetAt != nil { (clearing, cleared) = (nil, 0) }
            for change in part.attachments { write(change) }
        }

        private mutating func write(_ change: AttachmentChange) {
            guard let bytes = change.bytes ?? attachments[change.name]?.bytes else { return }
            attachments[change.name] = HeldAttachment(bytes: bytes, unneededSince: change.unneededSince)
        }

        /// Begins another epoch, at the same version.
        mutating func renew(_ renewal: EpochRenewal) {
            head.epoch = renewal.epoch
            checksum = renewal.checksum
            refreshTail()
        }

        /// Makes the tail that of the event at the head.
        mutating func refreshTail() {
            let seq = head.version.seq
            head.version.tail = events.indices.contains(seq - 1) ? events[seq - 1].checksum : nil
        }

        func events(after seq: Int) -> ArraySlice<StoredEvent> {
            events.dropFirst(max(0, seq))
        }

        /// Whether it still has what it had at a version: ``LoadedStream/continues``.
        func continues(_ version: StreamVersion) -> Bool {
            guard version.seq <= head.version.seq, version.keyed <= head.version.keyed else { return false }
            guard version.seq > max(0, cleared), forgetAt == nil, let tail = version.tail else { return true }
            return events[version.seq - 1].checksum == tail
        }

        func snapshot(atMost seq: Int, reducerVersion: Int) -> StoredSnapshot? {
            snapshots.values.filter { $0.seq <= seq && $0.reducerVersion == reducerVersion }.max { $0.seq < $1.seq }
        }
    }

    struct HeldAttachment {
        var bytes: [UInt8]
        var unneededSince: Int64?
    }

    struct CreationName: Hashable {
        var session: UUID
        /// The key's UTF-8: two keys are the same only if all their bytes are.
        var key: [UInt8]
    }

    struct Creation {
        var stream: UUID
        var fingerprint: Int64
        var at: Int64
    }
}

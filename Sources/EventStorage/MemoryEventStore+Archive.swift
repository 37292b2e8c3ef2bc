package import FoundationEssentials

extension MemoryEventStore: LogArchive {
    // MARK: Reading

    package func streams(in part: LogPart, after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        let all: [UUID] =
            switch part {
            case .heads, .directory: Array(streams.keys)
            case .events: streams.filter { !$0.value.events.isEmpty }.map(\.key)
            case .keys: streams.filter { !$0.value.keys.isEmpty }.map(\.key)
            case .snapshots: streams.filter { !$0.value.snapshots.isEmpty }.map(\.key)
            case .attachments: streams.filter { !$0.value.attachments.isEmpty }.map(\.key)
            case .memberships: Array(memberships.values.reduce(into: Set()) { $0.formUnion($1) })
            }
        return Array(all.filter { stream in after.map { stream > $0 } ?? true }.sorted().prefix(max(0, limit)))
    }

    package func archived(_ stream: UUID) async throws(StorageFault) -> ArchivedStream? {
        guard let stored = streams[stream] else { return nil }
        let twin = openStream(code: stored.entry.code)
        return ArchivedStream(
            stream: stream, head: stored.head, checksum: stored.checksum, lastEvent: stored.events.last?.seq ?? 0,
            entry: ArchivedEntry(
                entry: stored.entry, codeTwin: stored.entry.closedAt == nil && twin != stream ? twin : nil,
                forgetAt: stored.forgetAt, isForgotten: stored.forgottenAt != nil, clearing: stored.clearing,
                cleared: stored.cleared),
            keys: stored.keys.map { ArchivedKey(slot: $0.ordinal % CommandKey.window, key: $0) },
            members: memberships.filter { $0.value.contains(stream) }.map(\.key),
            snapshots: stored.snapshots.keys.sorted(),
            attachments: stored.attachments.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
                ArchivedAttachment(name: $0.key, unneededSince: $0.value.unneededSince)
            })
    }

    package func events(
        of stream: UUID, after seq: Int, through last: Int, page: PageLimit
    ) async throws(StorageFault) -> [StoredEvent] {
        var bytes = 0
        var events: [StoredEvent] = []
        for event in streams[stream]?.events(after: seq) ?? [] {
            guard event.seq <= last, events.count < page.rows, bytes < page.bytes else { break }
            events.append(event)
            bytes += event.payload.count
        }
        return events
    }

    package func snapshot(of stream: UUID, at seq: Int) async throws(StorageFault) -> StoredSnapshot? {
        streams[stream]?.snapshots[seq]
    }

    package func attachments(_ names: [String], of stream: UUID) async throws(StorageFault) -> [Attachment] {
        let found = Set(names).compactMap { name in
            streams[stream]?.attachments[name].map { Attachment(name: name, bytes: $0.bytes) }
        }
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    package func creationKeys(after: CreationKey?, limit: Int) async throws(StorageFault) -> [CreationKey] {
        let all = creations.map { name, creation in
            CreationKey(
                session: name.session, key: String(decoding: name.key, as: UTF8.self), stream: creation.stream,
                fingerprint: creation.fingerprint, at: creation.at)
        }
        let following = all.filter { key in after.map { $0.isOrdered(before: key) } ?? true }
        return Array(following.sorted { $0.isOrdered(before: $1) }.prefix(max(0, limit)))
    }

    package func sessions(after: UUID?, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        let following = sessions.values.filter { session in after.map { session.id > $0 } ?? true }
        return Array(following.sorted { $0.id < $1.id }.prefix(max(0, limit)))
    }

    // MARK: Epochs

    package func renewEpochs(_ renewals: [EpochRenewal]) async throws(StorageFault) {
        for renewal in renewals { streams[renewal.stream]?.renew(renewal) }
    }

    // MARK: Importing

    package func beginImport() async throws(StorageFault) -> Bool {
        guard streams.isEmpty, sessions.isEmpty, !importIsUnfinished else { return false }
        importIsUnfinished = true
        return true
    }

    package func write(_ batch: ImportBatch) async throws(StorageFault) {
        for part in batch.streams {
            if part.entry.closedAt == nil, let twin = openStream(code: part.entry.code), twin != part.stream {
                throw .rejected(.init(message: "another open stream has this code"))
            }
        }
        for part in batch.streams {
            let stream = Stream(head: part.head, checksum: part.checksum, entry: part.entry)
            streams[part.stream, default: stream].events += part.events
            streams[part.stream]?.refreshTail()
            streams[part.stream]?.keys += part.keys
            for attachment in part.attachments {
                streams[part.stream]?.attachments[attachment.name] = HeldAttachment(bytes: attachment.bytes)
            }
            streams[part.stream]?.forgetAt = part.forgetAt
            streams[part.stream]?.clearing = part.clearing
            list(part.stream, as: part.entry)
            for session in part.members { memberships[session, default: []].insert(part.stream) }
        }
        for key in batch.creationKeys where streams[key.stream] != nil {
            creations[CreationName(session: key.session, key: Array(key.key.utf8))] = Creation(
                stream: key.stream, fingerprint: key.fingerprint, at: key.at)
        }
        for session in batch.sessions { try await insert(session) }
    }

    package func finishImport() async throws(StorageFault) {
        importIsUnfinished = false
    }

    package func hasUnfinishedImport() async throws(StorageFault) -> Bool {
        importIsUnfinished
    }
}

extension CreationKey {
    /// Whether this key sorts before the other: by session, then by the key's bytes.
    fileprivate func isOrdered(before other: CreationKey) -> Bool {
        session == other.session ? key.utf8.lexicographicallyPrecedes(other.key.utf8) : session < other.session
    }
}

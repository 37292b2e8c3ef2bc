package import EventStorage
package import FoundationEssentials

extension PostgresStore: LogArchive {
    // MARK: Reading

    package func streams(in part: LogPart, after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        let statement: Statement =
            switch part {
            case .heads: .roomsInHeads
            case .directory: .roomsInDirectory
            case .events: .roomsInEvents
            case .keys: .roomsInKeys
            case .snapshots: .roomsInSnapshots
            case .memberships: .roomsInMemberships
            case .attachments: .roomsInAttachments
            }
        let answer = try await query(Call(statement, after, max(0, limit)))
        return try answer.uuids()
    }

    package func archived(_ stream: UUID) async throws(StorageFault) -> ArchivedStream? {
        // All statements read one snapshot of the database.
        let calls = [
            Call(.beginReading), Call(.archivedHead, stream), Call(.archivedEntry, stream),
            Call(.archivedKeys, stream), Call(.archivedMembers, stream), Call(.archivedSnapshots, stream),
            Call(.archivedAttachments, stream), Call(.commit),
        ]
        let answers = try await pool.run(.calls(calls), isWrite: false)
        guard answers.count == calls.count else { throw .corrupt(.init(message: "a read lacks answers")) }
        let (head, entry, keys) = (answers[1], answers[2], answers[3])
        let (members, snapshots, attachments) = (answers[4], answers[5], answers[6])
        guard let row = head.rows.first else { return nil }
        return try ArchivedStream(
            stream: stream, head: Self.head(in: head, row),
            checksum: head.optionalInt(row, 4).map(Int64.init), lastEvent: head.optionalInt(row, 5) ?? 0,
            entry: Self.archivedEntry(in: entry),
            keys: zip(Self.keys(in: keys), keys.rows).map { (key, row) throws(StorageFault) in
                ArchivedKey(slot: try keys.int(row, 7), key: key)
            },
            members: members.rows.map { (row) throws(StorageFault) in try members.uuid(row, 0) },
            snapshots: snapshots.rows.map { (row) throws(StorageFault) in try snapshots.int(row, 0) },
            attachments: attachments.rows.map { (row) throws(StorageFault) in
                try ArchivedAttachment(
                    name: attachments.text(row, 0), unneededSince: attachments.optionalInt(row, 1).map(Int64.init))
            })
    }

    private static func archivedEntry(in answer: PostgresResult) throws(StorageFault) -> ArchivedEntry? {
        guard let row = answer.rows.first, let record = try records(in: answer).first else { return nil }
        return try ArchivedEntry(
            entry: record.entry, codeTwin: answer.optionalUUID(row, 12),
            forgetAt: answer.optionalInt(row, 13).map(Int64.init), isForgotten: answer.bool(row, 14),
            clearing: answer.optionalInt(row, 15), cleared: answer.int(row, 16))
    }

    package func events(
        of stream: UUID, after seq: Int, through last: Int, page: PageLimit
    ) async throws(StorageFault) -> [StoredEvent] {
        guard seq < last else { return [] }
        // Where the log has holes, as many events reach further.
        let events = try await events(
            of: stream, after: seq, limit: min(page.rows, last - seq), bytes: page.bytes, perStatement: page.rows)
        return Array(events.prefix { $0.seq <= last })
    }

    package func snapshot(of stream: UUID, at seq: Int) async throws(StorageFault) -> StoredSnapshot? {
        let answer = try await query(Call(.archivedSnapshot, stream, seq))
        guard let row = answer.rows.first else { return nil }
        return try Self.snapshot(in: answer, reducerVersion: answer.int(row, 3))
    }

    package func attachments(_ names: [String], of stream: UUID) async throws(StorageFault) -> [Attachment] {
        let answer = try await query(Call(.attachments, stream, names))
        return try answer.rows.map { (row) throws(StorageFault) in
            try Attachment(name: answer.text(row, 0), bytes: answer.bytes(row, 1))
        }
    }

    package func creationKeys(after: CreationKey?, limit: Int) async throws(StorageFault) -> [CreationKey] {
        let call =
            if let after {
                Call(.archivedCreationsAfter, max(0, limit), after.session, after.key)
            } else {
                Call(.archivedCreations, max(0, limit))
            }
        let answer = try await query(call)
        return try answer.rows.map { (row) throws(StorageFault) in
            try CreationKey(
                session: answer.uuid(row, 0), key: answer.text(row, 1), stream: answer.uuid(row, 2),
                fingerprint: Int64(answer.int(row, 3)), at: Int64(answer.int(row, 4)))
        }
    }

    package func sessions(after: UUID?, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await Self.sessions(in: query(Call(.archivedSessions, after, max(0, limit))))
    }

    // MARK: Epochs

    package func renewEpochs(_ renewals: [EpochRenewal]) async throws(StorageFault) {
        _ = try await execute(
            Call(.renewEpochs, renewals.map(\.stream), renewals.map(\.epoch), renewals.map(\.checksum)))
    }

    // MARK: Importing

    package func beginImport() async throws(StorageFault) -> Bool {
        try await execute(Call(.beginImport)).affectedRows == 1
    }

    package func write(_ batch: ImportBatch) async throws(StorageFault) {
        _ = try await write([Call(.begin)] + Self.calls(for: batch) + [Call(.commit)])
    }

    package func finishImport() async throws(StorageFault) {
        _ = try await execute(Call(.finishImport))
    }

    package func hasUnfinishedImport() async throws(StorageFault) -> Bool {
        let answer = try await query(Call(.unfinishedImport))
        guard let row = answer.rows.first else { throw .corrupt(.init(message: "a read lacks answers")) }
        return try answer.bool(row, 0)
    }

    /// Makes one statement for each table.
    private static func calls(for batch: ImportBatch) -> [Call] {
        let (parts, creations, sessions) = (batch.streams, batch.creationKeys, batch.sessions)
        let entries = parts.map(\.entry)
        let heads = parts.map(\.head)
        let rows = Parameters(
            parts.map(\.stream), entries.map(\.code), entries.map(\.name), entries.map(\.isPublic),
            entries.map(\.latitude), entries.map(\.longitude), entries.map(\.createdAt), entries.map(\.closedAt),
            entries.map(\.owner), entries.map(\.djName), entries.map(\.nowPlayingTitle),
            entries.map(\.nowPlayingArtist), parts.map(\.forgetAt), parts.map(\.clearing))
        var events = Parameters(parts.flatMap { part in part.events.map { _ in part.stream } })
        events.add(events: parts.lazy.flatMap(\.events))
        events.add(parts.flatMap { $0.events.map(\.checksum) })
        var keys = Parameters(parts.flatMap { part in part.keys.map { _ in part.stream } })
        keys.add(keys: parts.lazy.flatMap(\.keys))
        keys.add(parts.flatMap { $0.keys.map(\.checksum) })
        return [
            Call(
                .importHeads, parts.map(\.stream), parts.map(\.checksum), heads.map(\.epoch),
                heads.map(\.version.seq), heads.map(\.version.keyed)),
            Call(.importEntries, with: rows), Call(.importEvents, with: events), Call(.importKeys, with: keys),
            Call(
                .importMembers, parts.flatMap { part in part.members.map { _ in part.stream } },
                parts.flatMap(\.members)),
            Call(
                .importAttachments, parts.flatMap { part in part.attachments.map { _ in part.stream } },
                parts.flatMap { $0.attachments.map(\.name) },
                parts.flatMap { $0.attachments.map { Binary($0.bytes) } }),
            Call(
                .importCreations, creations.map(\.session), creations.map(\.key), creations.map(\.stream),
                creations.map(\.fingerprint), creations.map(\.at)),
            Call(
                .importSessions, sessions.map(\.id), sessions.map { Binary($0.tokenHash) }, sessions.map(\.name),
                sessions.map(\.createdAt), sessions.map(\.expiresAt), sessions.map(\.hasEnded)),
            Call(.refreshTails, parts.map(\.stream)),
        ]
    }
}

package import EventStorage
package import FoundationEssentials

extension PostgresStore {
    // MARK: Directory

    package func stream(code: String) async throws(StorageFault) -> UUID? {
        let answer = try await query(Call(.roomByCode, code))
        return try answer.rows.first.map { (row) throws(StorageFault) in try answer.uuid(row, 0) }
    }

    package func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord] {
        try await Self.records(in: query(Call(.directory, streams)))
    }

    package func openPublicStreams(
        matching: String?, before: UUID?, limit: Int
    ) async throws(StorageFault) -> [DirectoryRecord] {
        let call =
            if let before {
                Call(.openPublicRoomsBefore, matching, max(0, limit), before)
            } else {
                Call(.openPublicRooms, matching, max(0, limit))
            }
        return try await Self.records(in: query(call))
    }

    package func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges {
        guard let (snapshot, history) = mark?.parts else {
            let answer = try await query(Call(.directoryMark))
            return try DirectoryChanges(records: nil, mark: Self.mark(in: answer, column: 0))
        }
        let answer = try await query(Call(.directoryChanges, snapshot, history))
        let now = try Self.mark(in: answer, column: 12)
        guard now.parts?.history == history else { return DirectoryChanges(records: nil, mark: now) }
        var records: [DirectoryRecord] = []
        for row in answer.rows where try answer.optionalUUID(row, 0) != nil {
            records.append(try Self.record(in: answer, row))
        }
        return DirectoryChanges(records: records, mark: now)
    }

    /// Reads the mark whose parts are in this column and the next one.
    private static func mark(in answer: PostgresResult, column: Int) throws(StorageFault) -> DirectoryMark {
        guard let row = answer.rows.first else { throw .corrupt(.init(message: "the directory has no mark")) }
        return try DirectoryMark(snapshot: answer.text(row, column), history: answer.text(row, column + 1))
    }

    static func records(in answer: PostgresResult) throws(StorageFault) -> [DirectoryRecord] {
        try answer.rows.map { (row) throws(StorageFault) in try record(in: answer, row) }
    }

    private static func record(
        in answer: PostgresResult, _ row: Int
    ) throws(StorageFault) -> DirectoryRecord {
        try DirectoryRecord(
            stream: answer.uuid(row, 0),
            entry: DirectoryEntry(
                code: answer.text(row, 1), name: answer.text(row, 2), isPublic: answer.bool(row, 3),
                createdAt: Int64(answer.int(row, 6)), closedAt: answer.optionalInt(row, 7).map(Int64.init),
                owner: answer.optionalUUID(row, 8), djName: answer.optionalText(row, 9),
                nowPlayingTitle: answer.optionalText(row, 10), nowPlayingArtist: answer.optionalText(row, 11)
            ).withStored(latitude: answer.optionalDouble(row, 4), longitude: answer.optionalDouble(row, 5)))
    }

    // MARK: Sessions

    package func insert(_ session: SessionRecord) async throws(StorageFault) {
        _ = try await execute(
            Call(
                .insertSession, session.id, Binary(session.tokenHash), session.name, session.createdAt,
                session.expiresAt, session.hasEnded))
    }

    package func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord? {
        try await Self.sessions(in: query(Call(.sessionByToken, Binary(tokenHash)))).first
    }

    package func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool {
        try await execute(Call(.renameSession, session, name)).affectedRows == 1
    }

    package func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault) {
        _ = try await execute(Call(.extendSession, session, expiresAt))
    }

    package func endSession(_ session: UUID, at now: Int64) async throws(StorageFault) {
        _ = try await execute(Call(.endSession, session, now))
    }

    package func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await Self.sessions(in: query(Call(.sessionsToRemove, now, max(0, limit))))
    }

    package func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID] {
        let answer = try await query(Call(.liveSessions, sessions))
        let live = Set(try answer.uuids())
        return sessions.filter { !live.contains($0) }
    }

    package func deleteSession(_ session: UUID) async throws(StorageFault) {
        _ = try await execute(Call(.deleteSession, session))
    }

    package func memberships(of session: UUID) async throws(StorageFault) -> [UUID] {
        let answer = try await query(Call(.memberships, session))
        return try answer.uuids()
    }

    static func sessions(in answer: PostgresResult) throws(StorageFault) -> [SessionRecord] {
        try answer.rows.map { (row) throws(StorageFault) in
            try SessionRecord(
                id: answer.uuid(row, 0), tokenHash: answer.bytes(row, 1), name: answer.text(row, 2),
                createdAt: Int64(answer.int(row, 3)), expiresAt: Int64(answer.int(row, 4)),
                hasEnded: answer.bool(row, 5))
        }
    }
}

extension DirectoryMark {
    fileprivate init(snapshot: String, history: String) {
        self.init("\(snapshot) \(history)")
    }

    /// The snapshot, and the history that it belongs to.
    fileprivate var parts: (snapshot: String, history: String)? {
        let parts = text.split(separator: " ", maxSplits: 1)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
}

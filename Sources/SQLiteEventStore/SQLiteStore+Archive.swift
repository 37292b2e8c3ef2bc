package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore: LogArchive {
    // MARK: Reading

    package func streams(in part: LogPart, after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        let sql = """
            SELECT room_id FROM \(part.table) WHERE room_id > ? AND room_id NOT IN (SELECT room_id FROM removals)
            ORDER BY room_id LIMIT 1
            """
        return try await read { db in
            // An empty blob sorts before every other.
            var bound = after?.databaseValue ?? Data().databaseValue
            var streams: [UUID] = []
            while streams.count < limit {
                // Goes by the index from one stream to the next, however many rows each has.
                guard let next = try db.first(sql, [bound], { try $0.decode(UUID.self, atIndex: 0) }) else { break }
                streams.append(next)
                bound = next.databaseValue
            }
            return streams
        }
    }

    package func archived(_ stream: UUID) async throws(StorageFault) -> ArchivedStream? {
        try await read { db in
            let head = try db.first(
                """
                SELECT \(StreamHead.columns), checksum, (SELECT max(seq) FROM events WHERE room_id = ?1)
                FROM heads WHERE room_id = ?1
                """, [stream], ArchivedHead.init(row:))
            guard let head else { return nil }
            return ArchivedStream(
                stream: stream, head: head.head, checksum: head.checksum, lastEvent: head.lastEvent ?? 0,
                entry: try db.first(
                    """
                    SELECT \(DirectoryRecord.columns),
                        (SELECT room_id FROM directory AS twin WHERE twin.code = directory.code
                        AND twin.closed_at IS NULL AND directory.closed_at IS NULL AND twin.room_id <> ?1),
                        forget_at, forgotten_at IS NOT NULL, clearing_seq, cleared_seq
                    FROM directory WHERE room_id = ?1
                    """, [stream], ArchivedEntry.init(row:)),
                keys: try db.all(
                    "SELECT \(CommandKey.columns), slot FROM command_keys WHERE room_id = ? ORDER BY ordinal, slot",
                    [stream]
                ) { ArchivedKey(slot: try $0.decode(atIndex: 7), key: try CommandKey(row: $0)) },
                members: try db.all("SELECT session FROM memberships WHERE room_id = ?", [stream]) {
                    try $0.decode(atIndex: 0)
                },
                snapshots: try db.all("SELECT seq FROM snapshots WHERE room_id = ? ORDER BY seq", [stream]) {
                    try $0.decode(atIndex: 0)
                },
                attachments: try db.all(
                    "SELECT waveform, unneeded_since FROM waveforms WHERE room_id = ? ORDER BY waveform", [stream]
                ) { ArchivedAttachment(name: try $0.decode(atIndex: 0), unneededSince: try $0.decode(atIndex: 1)) })
        }
    }

    package func events(
        of stream: UUID, after seq: Int, through last: Int, page: PageLimit
    ) async throws(StorageFault) -> [StoredEvent] {
        try await read { db in
            var events: [StoredEvent] = []
            var bytes = 0
            let rows = try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT \(StoredEvent.columns) FROM events
                        WHERE room_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?
                        """),
                arguments: [stream, seq, last, page.rows])
            while bytes < page.bytes, let row = try rows.next() {
                let event = try StoredEvent(row: row)
                bytes += event.payload.count
                events.append(event)
            }
            return events
        }
    }

    package func snapshot(of stream: UUID, at seq: Int) async throws(StorageFault) -> StoredSnapshot? {
        try await read { db in
            try db.first(
                "SELECT \(StoredSnapshot.columns) FROM snapshots WHERE room_id = ? AND seq = ?", [stream, seq],
                StoredSnapshot.init(row:))
        }
    }

    package func attachments(_ names: [String], of stream: UUID) async throws(StorageFault) -> [Attachment] {
        try await read { db in
            try Set(names).sorted().compactMap { name in
                try db.attachment(name, of: stream).map { Attachment(name: name, bytes: $0) }
            }
        }
    }

    package func creationKeys(after: CreationKey?, limit: Int) async throws(StorageFault) -> [CreationKey] {
        let session = after?.session.databaseValue ?? Data().databaseValue
        return try await read { db in
            try db.all(
                """
                SELECT session, key, room_id, fingerprint, at FROM creations
                WHERE (session, key) > (?, ?) AND room_id NOT IN (SELECT room_id FROM removals)
                ORDER BY session, key LIMIT ?
                """, [session, after?.key ?? "", max(0, limit)]
            ) { row in
                CreationKey(
                    session: try row.decode(atIndex: 0), key: try row.decode(atIndex: 1),
                    stream: try row.decode(atIndex: 2), fingerprint: try row.decode(atIndex: 3),
                    at: try row.decode(atIndex: 4))
            }
        }
    }

    package func sessions(after: UUID?, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        let bound = after?.databaseValue ?? Data().databaseValue
        return try await read { db in
            try db.all(
                "SELECT \(SessionRecord.columns) FROM sessions WHERE session_id > ? ORDER BY session_id LIMIT ?",
                [bound, max(0, limit)], SessionRecord.init(row:))
        }
    }

    // MARK: Epochs

    package func renewEpochs(_ renewals: [EpochRenewal]) async throws(StorageFault) {
        try await write { db in
            for renewal in renewals { try db.renewEpoch(renewal) }
        }
    }

    // MARK: Importing

    package func beginImport() async throws(StorageFault) -> Bool {
        try await write { db in
            try db.run(
                """
                INSERT INTO unfinished_imports (id) SELECT 1
                WHERE NOT EXISTS (SELECT 1 FROM heads) AND NOT EXISTS (SELECT 1 FROM directory)
                AND NOT EXISTS (SELECT 1 FROM sessions)
                ON CONFLICT DO NOTHING
                """, [])
            return db.changesCount == 1
        }
    }

    package func write(_ batch: ImportBatch) async throws(StorageFault) {
        try await write { db in
            for part in batch.streams { try db.write(part) }
            for key in batch.creationKeys {
                try db.run(
                    """
                    INSERT INTO creations (session, key, room_id, fingerprint, at)
                    SELECT ?1, ?2, room_id, ?4, ?5 FROM directory WHERE room_id = ?3
                    """, [key.session, key.key, key.stream, key.fingerprint, key.at])
            }
            for session in batch.sessions { try db.insert(session) }
        }
    }

    package func finishImport() async throws(StorageFault) {
        try await write { try $0.run("DELETE FROM unfinished_imports", []) }
    }

    package func hasUnfinishedImport() async throws(StorageFault) -> Bool {
        try await read { try $0.first("SELECT 1 FROM unfinished_imports", []) { _ in true } ?? false }
    }
}

/// A stream's head, as its row of `heads` and its events give it.
private struct ArchivedHead {
    var head: StreamHead
    var checksum: Int64?
    var lastEvent: Int?

    init(row: Row) throws {
        head = try StreamHead(row: row)
        checksum = try row.decode(atIndex: 4)
        lastEvent = try row.decode(atIndex: 5)
    }
}

extension ArchivedEntry {
    /// Reads the columns of a ``DirectoryRecord``, and those behind them.
    fileprivate init(row: Row) throws {
        self.init(
            entry: try DirectoryRecord(row: row).entry, codeTwin: try row.decode(atIndex: 12),
            forgetAt: try row.decode(atIndex: 13), isForgotten: try row.decode(atIndex: 14),
            clearing: try row.decode(atIndex: 15), cleared: try row.decode(atIndex: 16))
    }
}

extension Database {
    /// Gives a stream a new epoch, if it has the one that is to be replaced; nil replaces any.
    func renewEpoch(_ renewal: EpochRenewal, replacing epoch: String? = nil) throws {
        try run(
            """
            UPDATE heads SET epoch = ?1, checksum = ?2,
                tail = (SELECT checksum FROM events WHERE events.room_id = ?3 AND events.seq = heads.seq)
            WHERE room_id = ?3 AND epoch = coalesce(?4, epoch)
            """, [renewal.epoch, renewal.checksum, renewal.stream, epoch])
    }

    /// Makes the tail of a stream that of the event at its head.
    func refreshTail(of stream: UUID) throws {
        try run(
            """
            UPDATE heads SET tail = (SELECT checksum FROM events WHERE events.room_id = ?1 AND events.seq = heads.seq)
            WHERE room_id = ?1
            """, [stream])
    }

    /// Writes a part of an imported stream.
    fileprivate func write(_ part: ImportedStream) throws {
        try run(
            """
            INSERT INTO directory (code, name, is_public, latitude, longitude, created_at, closed_at, owner, dj_name,
            now_playing_title, now_playing_artist, listed_in, room_id, forget_at, clearing_seq)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (room_id) DO UPDATE SET
            code = excluded.code, name = excluded.name, is_public = excluded.is_public, latitude = excluded.latitude,
            longitude = excluded.longitude, created_at = excluded.created_at, closed_at = excluded.closed_at,
            owner = excluded.owner, dj_name = excluded.dj_name, now_playing_title = excluded.now_playing_title,
            now_playing_artist = excluded.now_playing_artist, forget_at = excluded.forget_at,
            clearing_seq = excluded.clearing_seq, listed_in = excluded.listed_in
            """,
            part.entry.columns + [countDirectoryChange(), part.stream, part.forgetAt, part.clearing])
        try run(
            """
            INSERT INTO heads (room_id, checksum, epoch, seq, keyed) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (room_id) DO NOTHING
            """,
            [part.stream, part.checksum, part.head.epoch, part.head.version.seq, part.head.version.keyed])
        for event in part.events { try insert(event, of: part.stream) }
        try refreshTail(of: part.stream)
        for key in part.keys { try insert(key, of: part.stream) }
        for session in part.members {
            try run("INSERT INTO memberships (session, room_id) VALUES (?, ?)", [session, part.stream])
        }
        for attachment in part.attachments {
            try run(
                "INSERT INTO waveforms (room_id, waveform, data) VALUES (?, ?, ?)",
                [part.stream, attachment.name, Data(attachment.bytes)])
        }
    }
}

extension LogPart {
    fileprivate var table: String {
        switch self {
        case .heads: "heads"
        case .directory: "directory"
        case .events: "events"
        case .keys: "command_keys"
        case .snapshots: "snapshots"
        case .memberships: "memberships"
        case .attachments: "waveforms"
        }
    }
}

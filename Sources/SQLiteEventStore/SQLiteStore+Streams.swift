package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore {
    package func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        let entry = creation.checkedEntry()
        return try await write { try $0.create(creation, entry: entry) }
    }

    package func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        batch.checkPreconditions()
        guard !batch.isEmpty else { return [] }
        return try await write { db in try batch.map { try db.append($0) } }
    }

    package func load(
        _ stream: UUID, reducerVersion: Int, after: StreamVersion?
    ) async throws(StorageFault) -> LoadedStream? {
        try await read { db in
            guard let head = try db.head(of: stream) else { return nil }
            let snapshot =
                after == nil ? try db.snapshot(of: stream, atMost: head.version.seq, reducerVersion) : nil
            return LoadedStream(
                head: head, snapshot: snapshot,
                events: try db.events(of: stream, after: after?.seq ?? snapshot?.seq ?? 0, limit: .max),
                keys: try db.keys(of: stream, after: after?.keyed ?? 0))
        }
    }

    package func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        try await read { db in
            var found: [UUID: LoadedStream] = [:]
            for (stream, after) in positions {
                guard let head = try db.head(of: stream) else { continue }
                found[stream] = LoadedStream(
                    head: head, snapshot: nil, events: try db.events(of: stream, after: after.seq, limit: .max),
                    keys: try db.keys(of: stream, after: after.keyed),
                    continues: try db.continues(stream, after, to: head.version))
            }
            return found
        }
    }

    package func read(
        _ stream: UUID, after seq: Int, limit: Int, bytes: Int
    ) async throws(StorageFault) -> [StoredEvent] {
        try await read { try $0.events(of: stream, after: seq, limit: max(0, limit), bytes: bytes) }
    }

    package func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool {
        try await write { db in
            try db.renewEpoch(renewal, replacing: epoch)
            guard db.changesCount == 1 else { return false }
            try db.run("DELETE FROM snapshots WHERE room_id = ?", [renewal.stream])
            return true
        }
    }

    package func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead] {
        try await read { db in
            var heads: [UUID: StreamHead] = [:]
            for stream in streams {
                heads[stream] = try db.head(of: stream)
            }
            return heads
        }
    }

    package func snapshot(
        of stream: UUID, atMost seq: Int, reducerVersion: Int
    ) async throws(StorageFault) -> StoredSnapshot? {
        try await read { try $0.snapshot(of: stream, atMost: seq, reducerVersion) }
    }

    package func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]? {
        try await read { try $0.attachment(name, of: stream) }
    }

    package func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault) {
        try await write { db in
            try db.run(
                """
                INSERT INTO snapshots (room_id, seq, reducer_version, state, checksum)
                SELECT room_id, ?1, ?2, ?3, ?4 FROM heads JOIN directory USING (room_id)
                WHERE room_id = ?5 AND forget_at IS NULL AND epoch = coalesce(?6, epoch)
                AND ?1 >= coalesce(clearing_seq, 0)
                ON CONFLICT (room_id, seq) DO UPDATE SET
                reducer_version = excluded.reducer_version, state = excluded.state, checksum = excluded.checksum
                """, [snapshot.seq, snapshot.reducerVersion, Data(snapshot.state), snapshot.checksum, stream, epoch])
            guard db.changesCount == 1 else { throw StorageFault.rejected(.refusedSnapshot) }
            try db.run(
                "DELETE FROM snapshots WHERE room_id = ? AND seq >= ? AND seq < ?",
                [stream, snapshot.start(ofSpan: span), snapshot.seq])
        }
    }
}

extension Database {
    /// Returns the bytes of an attachment.
    func attachment(_ name: String, of stream: UUID) throws -> [UInt8]? {
        try first("SELECT data FROM waveforms WHERE room_id = ? AND waveform = ?", [stream, name]) {
            Array(try $0.decode(Data.self, atIndex: 0))
        }
    }

    fileprivate func head(of stream: UUID) throws -> StreamHead? {
        try first("SELECT \(StreamHead.columns) FROM heads WHERE room_id = ?", [stream], StreamHead.init(row:))
    }

    /// Whether a stream still has what it had at a version: ``LoadedStream/continues``.
    fileprivate func continues(_ stream: UUID, _ version: StreamVersion, to head: StreamVersion) throws -> Bool {
        guard version.seq <= head.seq, version.keyed <= head.keyed else { return false }
        guard version.seq > 0, let tail = version.tail else { return true }
        let isSame = try first(
            """
            SELECT checksum IS ?3 OR EXISTS (
                SELECT 1 FROM directory WHERE room_id = ?1 AND (forget_at IS NOT NULL OR cleared_seq >= ?2))
            FROM events WHERE room_id = ?1 AND seq = ?2
            """, [stream, version.seq, tail]
        ) { try $0.decode(Bool.self, atIndex: 0) }
        return isSame ?? false
    }

    fileprivate func events(
        of stream: UUID, after seq: Int, limit: Int, bytes: Int = .max
    ) throws -> [StoredEvent] {
        var size = 0
        return try all(
            """
            SELECT \(StoredEvent.columns) FROM events WHERE room_id = ? AND seq > ? ORDER BY seq LIMIT ?
            """, [stream, seq, limit], StoredEvent.init(row:),
            while: { event in
                size += event.payload.count
                return size < bytes
            })
    }

    fileprivate func keys(of stream: UUID, after ordinal: Int) throws -> [CommandKey] {
        try all(
            """
            SELECT \(CommandKey.columns) FROM command_keys WHERE room_id = ? AND ordinal > ? ORDER BY ordinal
            """, [stream, ordinal], CommandKey.init(row:))
    }

    fileprivate func snapshot(of stream: UUID, atMost seq: Int, _ reducerVersion: Int) throws -> StoredSnapshot? {
        try first(
            """
            SELECT \(StoredSnapshot.columns) FROM snapshots
            WHERE room_id = ? AND seq <= ? AND reducer_version = ? ORDER BY seq DESC LIMIT 1
            """, [stream, seq, reducerVersion], StoredSnapshot.init(row:))
    }
}

extension StreamHead {
    /// The columns in the order in which they are decoded.
    static let columns = "epoch, seq, keyed, tail"

    init(row: Row) throws {
        self.init(
            epoch: try row.decode(atIndex: 0),
            version: StreamVersion(
                seq: try row.decode(atIndex: 1), keyed: try row.decode(atIndex: 2), tail: try row.decode(atIndex: 3)))
    }
}

extension StoredEvent {
    /// The columns in the order in which they are decoded.
    static let columns = "seq, at, type, payload, checksum"

    init(row: Row) throws {
        self.init(
            seq: try row.decode(atIndex: 0), at: try row.decode(atIndex: 1), type: try row.decode(atIndex: 2),
            payload: Array(try row.decode(String.self, atIndex: 3).utf8), checksum: try row.decode(atIndex: 4))
    }
}

extension CommandKey {
    /// The columns in the order in which they are decoded.
    static let columns = "ordinal, session, key, fingerprint, seq, result, checksum"

    init(row: Row) throws {
        self.init(
            ordinal: try row.decode(atIndex: 0), session: try row.decode(atIndex: 1), key: try row.decode(atIndex: 2),
            fingerprint: try row.decode(atIndex: 3), seq: try row.decode(atIndex: 4),
            result: try row.decode(String?.self, atIndex: 5).map { Array($0.utf8) },
            checksum: try row.decode(atIndex: 6))
    }
}

extension StoredSnapshot {
    /// The columns in the order in which they are decoded.
    static let columns = "seq, reducer_version, state, checksum"

    init(row: Row) throws {
        self.init(
            seq: try row.decode(atIndex: 0), reducerVersion: try row.decode(atIndex: 1),
            state: Array(try row.decode(Data.self, atIndex: 2)), checksum: try row.decode(atIndex: 3))
    }
}

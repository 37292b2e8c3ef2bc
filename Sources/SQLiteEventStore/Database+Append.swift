import EventStorage
import Foundation
import GRDB

// Writes one stream's part of a transaction.
extension Database {
    /// Appends to one stream if its version is the expected one.
    func append(_ part: StreamAppend) throws -> AppendOutcome {
        try run(
            """
            UPDATE heads SET seq = ?, keyed = ?, tail = ?
            WHERE room_id = ? AND seq = ? AND keyed = ? AND coalesce(tail = ?, true) AND epoch = coalesce(?, epoch)
            """,
            [
                part.resulting.seq, part.resulting.keyed, part.resulting.tail, part.stream, part.expected.seq,
                part.expected.keyed, part.expected.tail, part.epoch,
            ])
        guard changesCount == 1 else { return .conflict }
        if let entry = part.directory {
            try run(
                """
                UPDATE directory SET code = ?, name = ?, is_public = ?, latitude = ?, longitude = ?, created_at = ?,
                closed_at = ?, owner = ?, dj_name = ?, now_playing_title = ?, now_playing_artist = ?, listed_in = ?
                WHERE room_id = ?
                """, entry.columns + [countDirectoryChange(), part.stream])
        }
        if let forgetAt = part.forgetAt {
            // Forgetting includes every clearing.
            try run(
                "UPDATE directory SET forget_at = ?, clearing_seq = NULL, cleared_seq = 0 WHERE room_id = ?",
                [forgetAt, part.stream])
        } else if let clearing = part.clearing {
            try run("UPDATE directory SET clearing_seq = ? WHERE room_id = ?", [clearing, part.stream])
        }
        try insertRows(of: part)
        return .appended
    }

    /// Makes a stream unless its key, the number of its owner's streams or its code prevents it.
    func create(_ creation: StreamCreation, entry: DirectoryEntry) throws -> CreationOutcome {
        let part = creation.first
        if let key = creation.key, let existing = try creationOutcome(of: key, creation) { return existing }
        let owned = try first(
            "SELECT count(*) FROM directory WHERE owner = ? AND closed_at IS NULL", [creation.creator]
        ) { try $0.decode(Int.self, atIndex: 0) }
        guard let owned, owned < creation.ownerLimit else { return .ownerLimitReached }
        let open = try first("SELECT 1 FROM directory WHERE code = ? AND closed_at IS NULL", [entry.code]) { _ in true }
        guard open == nil else { return .codeTaken }
        try run(
            """
            INSERT INTO directory (code, name, is_public, latitude, longitude, created_at, closed_at, owner, dj_name,
            now_playing_title, now_playing_artist, listed_in, room_id)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, entry.columns + [countDirectoryChange(), part.stream])
        try run(
            "INSERT INTO heads (room_id, checksum, epoch, seq, keyed, tail) VALUES (?, ?, ?, ?, ?, ?)",
            [
                part.stream, creation.checksum, creation.epoch, part.resulting.seq, part.resulting.keyed,
                part.resulting.tail,
            ])
        if let key = creation.key {
            try run(
                """
                INSERT INTO creations (session, key, room_id, fingerprint, at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (session, key)
                DO UPDATE SET room_id = excluded.room_id, fingerprint = excluded.fingerprint, at = excluded.at
                """, [creation.creator, key, part.stream, creation.fingerprint, creation.at])
        }
        try insertRows(of: part)
        return .created
    }

    private func creationOutcome(of key: String, _ creation: StreamCreation) throws -> CreationOutcome? {
        try first(
            "SELECT room_id, fingerprint FROM creations WHERE session = ? AND key = ? AND at >= ?",
            [creation.creator, key, creation.keysSince]
        ) { .existing(stream: try $0.decode(atIndex: 0), fingerprint: try $0.decode(atIndex: 1)) }
    }

    /// Writes the events, keys and memberships of a part whose stream has been moved.
    private func insertRows(of part: StreamAppend) throws {
        for event in part.events { try insert(event, of: part.stream) }
        for key in part.keys.suffix(CommandKey.window) { try insert(key, of: part.stream) }
        for session in part.joined {
            try run(
                "INSERT INTO memberships (session, room_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [session, part.stream])
        }
        for session in part.left {
            try run("DELETE FROM memberships WHERE session = ? AND room_id = ?", [session, part.stream])
        }
        for change in part.attachments { try write(change, of: part.stream) }
    }

    /// Writes a change of an attachment.
    private func write(_ change: AttachmentChange, of stream: UUID) throws {
        if let bytes = change.bytes {
            try run(
                """
                INSERT INTO waveforms (room_id, waveform, data, unneeded_since) VALUES (?, ?, ?, ?)
                ON CONFLICT (room_id, waveform)
                DO UPDATE SET data = excluded.data, unneeded_since = excluded.unneeded_since
                """, [stream, change.name, Data(bytes), change.unneededSince])
        } else {
            try run(
                "UPDATE waveforms SET unneeded_since = ? WHERE room_id = ? AND waveform = ?",
                [change.unneededSince, stream, change.name])
        }
    }

    /// Returns the number of a write to the directory.
    func countDirectoryChange() throws -> Int? {
        try first("UPDATE directory_changes SET count = count + 1 RETURNING count", []) { try $0.decode(atIndex: 0) }
    }

    /// Writes the row of an event.
    func insert(_ event: StoredEvent, of stream: UUID) throws {
        try run(
            "INSERT INTO events (room_id, seq, at, type, payload, checksum) VALUES (?, ?, ?, ?, ?, ?)",
            [
                stream, event.seq, event.at, event.type, String(decoding: event.payload, as: UTF8.self),
                event.checksum,
            ])
    }

    /// Writes the row of a keyed command in the slot of the one that leaves the window.
    func insert(_ key: CommandKey, of stream: UUID) throws {
        try run(
            """
            INSERT OR REPLACE INTO command_keys
            (room_id, slot, ordinal, session, key, fingerprint, seq, result, checksum)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                stream, key.ordinal % CommandKey.window, key.ordinal, key.session, key.key, key.fingerprint, key.seq,
                key.result.map { String(decoding: $0, as: UTF8.self) }, key.checksum,
            ])
    }
}

extension DirectoryEntry {
    /// The values of the columns from `code` to `now_playing_artist`.
    var columns: [(any DatabaseValueConvertible)?] {
        [
            code, name, isPublic, latitude, longitude, createdAt, closedAt, owner, djName, nowPlayingTitle,
            nowPlayingArtist,
        ]
    }
}

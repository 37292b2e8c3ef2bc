package import EventStorage
package import Foundation
import GRDB

// Deleted and overwritten data is zeroed in its page (`secure_delete`), and the write-ahead log, which holds earlier
// versions of pages, is emptied afterwards. Pages that SQLite rearranged at another time may still hold pieces of rows
// that have moved; only `VACUUM`, which rewrites the whole file, removes them.
extension SQLiteStore {
    package func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID] {
        try await write { db in
            let streams: [UUID] = try db.all(
                "SELECT room_id FROM directory WHERE closed_at < ? ORDER BY closed_at, room_id LIMIT ?",
                [instant, max(0, limit)]
            ) { try $0.decode(atIndex: 0) }
            for stream in streams {
                try db.run("INSERT INTO removals (room_id) VALUES (?)", [stream])
                try db.uncount(stream)
                for table in ["heads", "directory", "statistics_heads", "statistics_audience"] {
                    try db.run("DELETE FROM \(table) WHERE room_id = ?", [stream])
                }
            }
            return streams
        }
    }

    package func sweep(limit: Int) async throws(StorageFault) -> Bool {
        let swept = try await write { try $0.sweep(limit: max(1, limit)) }
        if swept == .last { await emptyWriteAheadLog() }
        return swept != .nothing
    }

    package func removeAttachments(
        unneededSinceBefore instant: Int64, limit: Int
    ) async throws(StorageFault) -> Int {
        try await write { db in
            try db.run(
                """
                DELETE FROM waveforms WHERE rowid IN
                (SELECT rowid FROM waveforms WHERE unneeded_since < ? ORDER BY unneeded_since LIMIT ?)
                """, [instant, max(0, limit)])
            return db.changesCount
        }
    }

    package func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        try await read { db in
            try db.all(
                """
                SELECT room_id FROM directory WHERE forget_at IS NOT NULL AND forgotten_at IS NULL
                ORDER BY forget_at, room_id LIMIT ?
                """, [max(0, limit)]
            ) { try $0.decode(atIndex: 0) }
        }
    }

    package func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing] {
        try await read { db in
            // An empty blob sorts before every other.
            let bound = after?.databaseValue ?? Data().databaseValue
            return try db.all(
                """
                SELECT room_id, cleared_seq, clearing_seq FROM directory
                WHERE cleared_seq < clearing_seq AND forget_at IS NULL AND room_id > ? ORDER BY room_id LIMIT ?
                """, [bound, max(0, limit)]
            ) { row in
                StreamClearing(
                    stream: try row.decode(atIndex: 0), cleared: try row.decode(atIndex: 1),
                    clearing: try row.decode(atIndex: 2))
            }
        }
    }

    package func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault) {
        let isDone = try await write { db in
            let clearing: Int? = try db.first(
                "SELECT clearing_seq FROM directory WHERE room_id = ? AND clearing_seq IS NOT NULL", [stream]
            ) { try $0.decode(atIndex: 0) }
            guard let clearing else { return false }
            try db.replace(events, of: stream)
            try db.run("DELETE FROM snapshots WHERE room_id = ? AND seq < ?", [stream, clearing])
            try db.run(
                "UPDATE command_keys SET fingerprint = ?, checksum = NULL WHERE room_id = ? AND seq < ?",
                [CommandKey.forgotten, stream, clearing])
            try db.run("UPDATE creations SET fingerprint = ? WHERE room_id = ?", [CommandKey.forgotten, stream])
            try db.run(
                "UPDATE directory SET cleared_seq = max(cleared_seq, min(?, clearing_seq)) WHERE room_id = ?",
                [seq, stream])
            return seq >= clearing
        }
        if isDone { await emptyWriteAheadLog() }
    }

    package func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        try await write { db in
            let asked = "SELECT 1 FROM directory WHERE room_id = ? AND forget_at IS NOT NULL"
            guard try db.first(asked, [stream], { _ in true }) != nil else { return }
            try db.replace(events, of: stream)
            try db.refreshTail(of: stream)
            try db.run("DELETE FROM snapshots WHERE room_id = ?", [stream])
            try db.exclude(stream)
        }
    }

    package func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        let stream = renewal.stream
        let ended = try await write { db in
            try db.run(
                """
                UPDATE directory SET forgotten_at = ?
                WHERE room_id = ? AND forget_at IS NOT NULL AND forgotten_at IS NULL
                """, [now, stream])
            guard db.changesCount == 1 else { return false }
            try db.exclude(stream)
            try db.renewEpoch(renewal)
            try db.run("DELETE FROM snapshots WHERE room_id = ?", [stream])
            try db.run(
                "UPDATE command_keys SET fingerprint = ?, checksum = NULL WHERE room_id = ?",
                [CommandKey.forgotten, stream])
            try db.run("UPDATE creations SET fingerprint = ? WHERE room_id = ?", [CommandKey.forgotten, stream])
            return true
        }
        if ended { await emptyWriteAheadLog() }
    }

    /// Moves the write-ahead log into the database's file and empties it; if a reader takes too long, the next call
    /// does it.
    private func emptyWriteAheadLog() async {
        try? await outsideTransaction { try $0.moveLog(.truncate) }
    }
}

/// The result of a sweep.
private enum Sweep {
    /// No removed stream was left.
    case nothing
    /// Some rows of a removed stream are left.
    case some
    /// All rows of one removed stream are deleted.
    case last
}

extension Database {
    /// Replaces the payloads of events with the same numbers.
    fileprivate func replace(_ events: [StoredEvent], of stream: UUID) throws {
        for event in events {
            try run(
                "UPDATE events SET payload = ?, checksum = ? WHERE room_id = ? AND seq = ?",
                [String(decoding: event.payload, as: UTF8.self), event.checksum, stream, event.seq])
        }
    }

    /// Deletes at most `limit` events of the first removed stream, and with the last of them the rest of its rows.
    fileprivate func sweep(limit: Int) throws -> Sweep {
        let stream: UUID? = try first("SELECT room_id FROM removals ORDER BY room_id LIMIT 1", []) {
            try $0.decode(atIndex: 0)
        }
        guard let stream else { return .nothing }
        try run(
            """
            DELETE FROM events WHERE room_id = ?1 AND seq IN
            (SELECT seq FROM events WHERE room_id = ?1 ORDER BY seq LIMIT ?2)
            """, [stream, limit])
        if changesCount == limit { return .some }
        // A snapshot may be as large as many events.
        try run(
            "DELETE FROM snapshots WHERE rowid IN (SELECT rowid FROM snapshots WHERE room_id = ? LIMIT ?)",
            [stream, max(1, limit / 100)])
        if changesCount > 0 { return .some }
        try run(
            "DELETE FROM waveforms WHERE rowid IN (SELECT rowid FROM waveforms WHERE room_id = ? LIMIT ?)",
            [stream, limit])
        if changesCount > 0 { return .some }
        for table in ["command_keys", "creations", "memberships"] {
            try run("DELETE FROM \(table) WHERE room_id = ?", [stream])
        }
        try run("DELETE FROM removals WHERE room_id = ?", [stream])
        return .last
    }
}

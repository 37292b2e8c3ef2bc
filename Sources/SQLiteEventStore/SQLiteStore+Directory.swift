package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore {
    package func stream(code: String) async throws(StorageFault) -> UUID? {
        try await read { db in
            try db.first(
                """
                SELECT room_id FROM directory WHERE code = ?
                ORDER BY closed_at IS NULL DESC, closed_at DESC, room_id DESC LIMIT 1
                """, [code]
            ) { try $0.decode(atIndex: 0) }
        }
    }

    package func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord] {
        try await read { db in
            try Set(streams).compactMap { stream in
                try db.first(
                    "SELECT \(DirectoryRecord.columns) FROM directory WHERE room_id = ?", [stream],
                    DirectoryRecord.init(row:))
            }
        }
    }

    package func openPublicStreams(
        matching: String?, before: UUID?, limit: Int
    ) async throws(StorageFault) -> [DirectoryRecord] {
        // Without `before`, the bound exceeds all identifiers: it starts like the largest one and is longer.
        let bound = before?.databaseValue ?? Data(repeating: 0xff, count: 17).databaseValue
        return try await read { db in
            try db.all(
                """
                SELECT \(DirectoryRecord.columns) FROM directory
                WHERE closed_at IS NULL AND is_public = 1 AND room_id < ?1
                AND (?2 IS NULL OR instr(lower(name), lower(?2)) > 0)
                ORDER BY room_id DESC LIMIT ?3
                """, [bound, matching, max(0, limit)], DirectoryRecord.init(row:))
        }
    }

    package func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges {
        try await read { db in
            let count: Int? = try db.first("SELECT count FROM directory_changes", []) { try $0.decode(atIndex: 0) }
            let now = count ?? 0
            guard let mark, let last = Int(mark.text), last <= now else {
                return DirectoryChanges(records: nil, mark: DirectoryMark(String(now)))
            }
            let records = try db.all(
                "SELECT \(DirectoryRecord.columns) FROM directory WHERE listed_in > ?", [last],
                DirectoryRecord.init(row:))
            return DirectoryChanges(records: records, mark: DirectoryMark(String(now)))
        }
    }

    package func memberships(of session: UUID) async throws(StorageFault) -> [UUID] {
        try await read { db in
            try db.all("SELECT room_id FROM memberships WHERE session = ?", [session]) { try $0.decode(atIndex: 0) }
        }
    }
}

extension DirectoryRecord {
    /// The columns in the order in which they are decoded.
    static let columns = """
        room_id, code, name, is_public, latitude, longitude, created_at, closed_at, owner, dj_name, \
        now_playing_title, now_playing_artist
        """

    init(row: Row) throws {
        self.init(
            stream: try row.decode(atIndex: 0),
            entry: DirectoryEntry(
                code: try row.decode(atIndex: 1), name: try row.decode(atIndex: 2),
                isPublic: try row.decode(atIndex: 3), createdAt: try row.decode(atIndex: 6),
                closedAt: try row.decode(atIndex: 7), owner: try row.decode(atIndex: 8),
                djName: try row.decode(atIndex: 9), nowPlayingTitle: try row.decode(atIndex: 10),
                nowPlayingArtist: try row.decode(atIndex: 11)
            ).withStored(latitude: try row.decode(atIndex: 4), longitude: try row.decode(atIndex: 5)))
    }
}

package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore {
    package func insert(_ session: SessionRecord) async throws(StorageFault) {
        try await write { try $0.insert(session) }
    }

    package func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord? {
        try await read { db in
            try db.first(
                "SELECT \(SessionRecord.columns) FROM sessions WHERE token_hash = ?", [Data(tokenHash)],
                SessionRecord.init(row:))
        }
    }

    package func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool {
        try await write { db in
            try db.run("UPDATE sessions SET name = ? WHERE session_id = ?", [name, session])
            return db.changesCount == 1
        }
    }

    package func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault) {
        try await write { db in
            try db.run(
                "UPDATE sessions SET expires_at = ? WHERE session_id = ? AND has_ended = 0", [expiresAt, session])
        }
    }

    package func endSession(_ session: UUID, at now: Int64) async throws(StorageFault) {
        try await write {
            try $0.run(
                "UPDATE sessions SET has_ended = 1, expires_at = min(expires_at, ?) WHERE session_id = ?",
                [now, session])
        }
    }

    package func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await read { db in
            try db.all(
                """
                SELECT \(SessionRecord.columns) FROM sessions WHERE has_ended = 1 OR expires_at <= ?
                ORDER BY expires_at LIMIT ?
                """, [now, max(0, limit)], SessionRecord.init(row:))
        }
    }

    package func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID] {
        try await read { db in
            try sessions.filter { session in
                let found = try db.first("SELECT has_ended FROM sessions WHERE session_id = ?", [session]) { row in
                    row["has_ended"] as Bool
                }
                return found ?? true
            }
        }
    }

    package func deleteSession(_ session: UUID) async throws(StorageFault) {
        try await write { db in
            try db.run("DELETE FROM creations WHERE session = ?", [session])
            try db.run("DELETE FROM sessions WHERE session_id = ?", [session])
        }
    }
}

extension Database {
    /// Writes the row of a session.
    func insert(_ session: SessionRecord) throws {
        try run(
            "INSERT INTO sessions (\(SessionRecord.columns)) VALUES (?, ?, ?, ?, ?, ?)",
            [
                session.id, Data(session.tokenHash), session.name, session.createdAt, session.expiresAt,
                session.hasEnded,
            ])
    }
}

extension SessionRecord {
    /// The columns in the order in which they are decoded.
    static let columns = "session_id, token_hash, name, created_at, expires_at, has_ended"

    init(row: Row) throws {
        self.init(
            id: try row.decode(atIndex: 0), tokenHash: Array(try row.decode(Data.self, atIndex: 1)),
            name: try row.decode(atIndex: 2), createdAt: try row.decode(atIndex: 3),
            expiresAt: try row.decode(atIndex: 4), hasEnded: try row.decode(atIndex: 5))
    }
}

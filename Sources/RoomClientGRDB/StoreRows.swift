import Foundation
import GRDB
import RoomClient

/// The one row of the table `session`.
struct SessionRow {
    let token: String?
    let isInVault: Bool
    let vaultName: String
    let lastOrdinal: Int

    init(_ db: Database) throws {
        let sql = "SELECT token, in_vault, vault_name, last_ordinal FROM session"
        guard let row = try Row.fetchOne(db, cached: sql) else {
            throw StoreFault(.corrupt, "the store has lost the row of its session")
        }
        token = try row.decode(atIndex: 0)
        isInVault = try row.decode(atIndex: 1)
        vaultName = try row.decode(atIndex: 2)
        lastOrdinal = try row.decode(atIndex: 3)
    }

    /// Forgets everything but the last ordinal.
    static func forget(_ db: Database) throws {
        try db.run("DELETE FROM rooms")
        try db.run("DELETE FROM outbox")
        try db.run("UPDATE session SET token = NULL, in_vault = 0")
    }
}

extension StoredCommand {
    /// The commands in the outbox, by their ordinals.
    static func all(_ db: Database) throws -> [Self] {
        let sql = "SELECT ordinal, room, key, command, sent_epoch, sent_keyed, expires_at FROM outbox ORDER BY ordinal"
        return try Row.fetchAll(db, cached: sql).map { try Self($0) }
    }

    private init(_ row: Row) throws {
        self.init(
            ordinal: try row.decode(atIndex: 0), room: try row.decode(atIndex: 1), key: try row.decode(atIndex: 2),
            command: [UInt8](try row.decode(Data.self, atIndex: 3)), sentEpoch: try row.decode(atIndex: 4),
            sentKeyed: try row.decode(atIndex: 5), expiresAt: try row.decode(atIndex: 6))
    }
}

// Statements are prepared once and cached; values are always bound.
extension Database {
    /// Runs a statement that returns no rows.
    func run(_ sql: String, _ values: [(any DatabaseValueConvertible)?] = []) throws {
        try cachedStatement(sql: sql).execute(arguments: StatementArguments(values))
    }
}

extension Row {
    static func fetchOne(
        _ db: Database, cached sql: String, _ values: [(any DatabaseValueConvertible)?] = []
    ) throws -> Row? {
        try fetchOne(db.cachedStatement(sql: sql), arguments: StatementArguments(values))
    }

    static func fetchAll(_ db: Database, cached sql: String) throws -> [Row] {
        try fetchAll(db.cachedStatement(sql: sql))
    }
}

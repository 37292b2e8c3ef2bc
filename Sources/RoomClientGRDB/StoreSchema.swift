import GRDB

/// The tables of a store, and how older ones become them.
enum StoreSchema {
    /// The mark of the file in its header: the letters `Bkln`.
    static let applicationID = 0x426b_6c6e

    /// The migrations, oldest first.
    ///
    /// A migration that was released is never changed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 rooms, outbox, session") { db in
            try db.execute(
                sql: """
                    PRAGMA application_id = \(applicationID);

                    CREATE TABLE rooms (
                        saving INTEGER PRIMARY KEY,   -- grows with each saving: the greatest is the newest
                        room   TEXT    NOT NULL UNIQUE,  -- its reference: the identifier or the code
                        epoch  TEXT    NOT NULL,
                        seq    INTEGER NOT NULL,
                        keyed  INTEGER,               -- count of keyed commands, if it was known
                        state  BLOB    NOT NULL       -- JSON, of exactly this epoch and seq
                    ) STRICT;

                    CREATE TABLE outbox (
                        ordinal    INTEGER PRIMARY KEY,
                        room       TEXT    NOT NULL,
                        key        TEXT    NOT NULL,
                        command    BLOB    NOT NULL,  -- JSON
                        sent_epoch TEXT,              -- null: never sent
                        sent_keyed INTEGER,
                        expires_at INTEGER NOT NULL   -- milliseconds since 1970
                    ) STRICT;

                    CREATE TABLE session (
                        id           INTEGER PRIMARY KEY CHECK (id = 1),
                        token        TEXT,              -- null: none, or in the vault
                        in_vault     INTEGER NOT NULL,  -- whether the token is in the vault
                        vault_name   TEXT    NOT NULL,  -- the token's name there
                        last_ordinal INTEGER NOT NULL   -- the greatest that was ever in the outbox
                    ) STRICT;

                    INSERT INTO session VALUES (1, NULL, 0, lower(hex(randomblob(16))), 0);
                    """)
        }
        return migrator
    }

    /// Checks whether a file that was opened may be changed: it is a store's, or empty.
    static func check(_ db: Database, path: String) throws {
        let mark = try Int.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        let hasTables = try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT * FROM sqlite_master)") ?? false
        guard mark == applicationID || (mark == 0 && !hasTables) else {
            throw StoreFault(.foreign, "the file \(path) is a database of another program")
        }
        guard try !migrator.hasBeenSuperseded(db) else {
            throw StoreFault(.newer, "the file \(path) was written by a newer release")
        }
    }
}

extension Statement {
    // MARK: Reading

    static let roomsInHeads = Statement(
        "rooms_in_heads",
        """
        SELECT room_id FROM heads WHERE room_id > coalesce($1, '00000000-0000-0000-0000-000000000000')
        ORDER BY room_id LIMIT $2
        """)

    static let roomsInDirectory = Statement(
        "rooms_in_directory",
        """
        SELECT room_id FROM directory WHERE room_id > coalesce($1, '00000000-0000-0000-0000-000000000000')
        ORDER BY room_id LIMIT $2
        """)

    static let roomsInEvents = roomsIn("events")
    static let roomsInKeys = roomsIn("command_keys")
    static let roomsInSnapshots = roomsIn("snapshots")
    static let roomsInMemberships = roomsIn("memberships")
    static let roomsInAttachments = roomsIn("waveforms")

    /// The rooms that have rows in a table, found by its index from one room to the next, however many rows each has.
    private static func roomsIn(_ table: StaticString) -> Statement {
        Statement(
            name: "rooms_in_\(table)",
            sql: """
                WITH RECURSIVE found AS (
                    (SELECT room_id FROM \(table) WHERE room_id > coalesce($1, '00000000-0000-0000-0000-000000000000')
                        AND NOT EXISTS (SELECT FROM removals WHERE removals.room_id = \(table).room_id)
                        ORDER BY room_id LIMIT 1)
                    UNION ALL
                    SELECT next.room_id FROM found, LATERAL (
                        SELECT room_id FROM \(table) WHERE room_id > found.room_id
                            AND NOT EXISTS (SELECT FROM removals WHERE removals.room_id = \(table).room_id)
                            ORDER BY room_id LIMIT 1) AS next
                )
                SELECT room_id FROM found LIMIT $2
                """)
    }

    static let archivedHead = Statement(
        "archived_head",
        """
        SELECT epoch, seq, keyed, tail, checksum,
            (SELECT seq FROM events WHERE room_id = $1 ORDER BY seq DESC LIMIT 1)
        FROM heads WHERE room_id = $1
        """)

    static let archivedEntry = Statement(
        "archived_entry",
        """
        SELECT room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name, now_playing_title,
            now_playing_artist,
            (SELECT room_id FROM directory AS twin WHERE twin.code = directory.code AND twin.closed_at IS NULL
                AND directory.closed_at IS NULL AND twin.room_id <> $1),
            forget_at, forgotten_at IS NOT NULL, clearing_seq, cleared_seq
        FROM directory WHERE room_id = $1
        """)

    static let archivedKeys = Statement(
        "archived_keys",
        """
        SELECT ordinal, session_id, key, fingerprint, seq, result, checksum, slot::bigint FROM command_keys
        WHERE room_id = $1 ORDER BY ordinal, slot
        """)

    static let archivedMembers = Statement(
        "archived_members", "SELECT session_id FROM memberships WHERE room_id = $1")

    static let archivedSnapshots = Statement(
        "archived_snapshots", "SELECT seq FROM snapshots WHERE room_id = $1 ORDER BY seq")

    static let archivedAttachments = Statement(
        "archived_attachments",
        "SELECT waveform, unneeded_since FROM waveforms WHERE room_id = $1 ORDER BY waveform")

    static let attachments = Statement(
        "attachments",
        """
        SELECT waveform, data FROM waveforms WHERE room_id = $1 AND waveform = ANY ($2) ORDER BY waveform
        """)

    static let archivedSnapshot = Statement(
        "archived_snapshot",
        "SELECT seq, state, checksum, reducer_version FROM snapshots WHERE room_id = $1 AND seq = $2")

    static let archivedCreations = Statement(
        "archived_creations",
        """
        SELECT session_id, key, room_id, fingerprint, created_at FROM creation_keys
        WHERE NOT EXISTS (SELECT FROM removals WHERE removals.room_id = creation_keys.room_id)
        ORDER BY session_id, key LIMIT $1
        """)

    /// ``archivedCreations`` that follow a given one.
    static let archivedCreationsAfter = Statement(
        "archived_creations_after",
        """
        SELECT session_id, key, room_id, fingerprint, created_at FROM creation_keys
        WHERE (session_id, key) > ($2, $3)
            AND NOT EXISTS (SELECT FROM removals WHERE removals.room_id = creation_keys.room_id)
        ORDER BY session_id, key LIMIT $1
        """)

    static let archivedSessions = Statement(
        "archived_sessions",
        """
        SELECT session_id, token_hash, name, created_at, expires_at, has_ended FROM sessions
        WHERE session_id > coalesce($1, '00000000-0000-0000-0000-000000000000') ORDER BY session_id LIMIT $2
        """)

    // MARK: Writing

    /// The checksum of the event at a row of `heads`: a new epoch begins with it.
    static let checksumAtHead: StaticString =
        "(SELECT checksum FROM events WHERE events.room_id = heads.room_id AND events.seq = heads.seq)"

    /// Makes the tails of these streams those of the events at their heads.
    static let refreshTails = Statement(
        name: "refresh_tails",
        sql: """
            UPDATE heads SET tail = \(checksumAtHead)
            WHERE room_id = ANY ($1) AND tail IS DISTINCT FROM \(checksumAtHead)
            """)

    static let renewEpochs = Statement(
        name: "renew_epochs",
        sql: """
            UPDATE heads SET epoch = renewal.epoch, checksum = renewal.checksum, tail = \(checksumAtHead)
            FROM unnest($1, $2, $3) AS renewal (room_id, epoch, checksum) WHERE heads.room_id = renewal.room_id
            """)

    static let beginImport = Statement(
        "begin_import",
        """
        INSERT INTO unfinished_imports (id) SELECT 1
        WHERE NOT EXISTS (SELECT FROM heads) AND NOT EXISTS (SELECT FROM directory)
            AND NOT EXISTS (SELECT FROM sessions)
        ON CONFLICT DO NOTHING
        """)

    static let finishImport = Statement("finish_import", "DELETE FROM unfinished_imports WHERE id = 1")

    static let unfinishedImport = Statement(
        "unfinished_import", "SELECT EXISTS (SELECT FROM unfinished_imports WHERE id = 1)")

    static let importHeads = Statement(
        "import_heads",
        """
        INSERT INTO heads (room_id, checksum, epoch, seq, keyed) SELECT * FROM unnest($1, $2, $3, $4, $5)
        ON CONFLICT (room_id) DO NOTHING
        """)

    static let importEntries = Statement(
        "import_entries",
        """
        INSERT INTO directory (
            room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name, now_playing_title,
            now_playing_artist, forget_at, clearing_seq, listed_in)
        SELECT part.*, pg_current_xact_id()
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS part
        ON CONFLICT (room_id) DO UPDATE SET
            code = excluded.code, name = excluded.name, is_public = excluded.is_public, lat = excluded.lat,
            lon = excluded.lon, created_at = excluded.created_at, closed_at = excluded.closed_at,
            owner = excluded.owner, dj_name = excluded.dj_name, now_playing_title = excluded.now_playing_title,
            now_playing_artist = excluded.now_playing_artist, forget_at = excluded.forget_at,
            clearing_seq = excluded.clearing_seq, listed_in = excluded.listed_in
        """)

    static let importEvents = Statement(
        "import_events",
        """
        INSERT INTO events (room_id, seq, at, type, payload, checksum) SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
        """)

    static let importKeys = Statement(
        "import_keys",
        """
        INSERT INTO command_keys (room_id, slot, ordinal, session_id, key, fingerprint, seq, result, checksum)
        SELECT room_id, ordinal % 1000, ordinal, session_id, key, fingerprint, seq, result, checksum
        FROM unnest($1, $2, $3, $4, $5, $6, $7, $8)
            AS command (room_id, ordinal, session_id, key, fingerprint, seq, result, checksum)
        """)

    static let importAttachments = Statement(
        "import_attachments", "INSERT INTO waveforms (room_id, waveform, data) SELECT * FROM unnest($1, $2, $3)")

    static let importMembers = Statement(
        "import_members", "INSERT INTO memberships (room_id, session_id) SELECT * FROM unnest($1, $2)")

    static let importCreations = Statement(
        "import_creations",
        """
        INSERT INTO creation_keys (session_id, key, room_id, fingerprint, created_at)
        SELECT creation.*
        FROM unnest($1, $2, $3, $4, $5) AS creation (session_id, key, room_id, fingerprint, created_at)
        JOIN directory USING (room_id)
        """)

    static let importSessions = Statement(
        "import_sessions",
        """
        INSERT INTO sessions (session_id, token_hash, name, created_at, expires_at, has_ended)
        SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
        """)
}

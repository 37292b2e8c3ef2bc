extension Statement {
    /// The open room with a code, else the one closed last.
    static let roomByCode = Statement(
        "room_by_code",
        """
        SELECT room_id FROM (
            (SELECT room_id, closed_at FROM directory WHERE code = $1 AND closed_at IS NULL)
            UNION ALL
            (SELECT room_id, closed_at FROM directory WHERE code = $1 AND closed_at IS NOT NULL
                ORDER BY closed_at DESC, room_id DESC LIMIT 1)
        ) AS candidates
        ORDER BY closed_at DESC NULLS FIRST LIMIT 1
        """)

    static let directory = Statement(
        "directory",
        """
        SELECT room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name, now_playing_title,
            now_playing_artist
        FROM directory WHERE room_id = ANY ($1)
        """)

    /// The newest open, public rooms.
    ///
    /// The collation "C" makes `lower` change ASCII letters only.
    static let openPublicRooms = Statement(
        "open_public_rooms",
        """
        SELECT room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name, now_playing_title,
            now_playing_artist
        FROM directory
        WHERE closed_at IS NULL AND is_public
            AND ($1 IS NULL OR strpos(lower(name COLLATE "C"), lower($1 COLLATE "C")) > 0)
        ORDER BY room_id DESC LIMIT $2
        """)

    /// ``openPublicRooms`` before a given room.
    static let openPublicRoomsBefore = Statement(
        "open_public_rooms_before",
        """
        SELECT room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name, now_playing_title,
            now_playing_artist
        FROM directory
        WHERE closed_at IS NULL AND is_public AND room_id < $3
            AND ($1 IS NULL OR strpos(lower(name COLLATE "C"), lower($1 COLLATE "C")) > 0)
        ORDER BY room_id DESC LIMIT $2
        """)

    /// The current snapshot, and the history that it belongs to.
    static let directoryMark = Statement(
        name: "directory_mark", sql: "SELECT snapshot::text, history FROM \(now)")

    /// The current snapshot and its history, and, if a mark belongs to that history, the rooms whose entries were
    /// written by transactions that the mark's snapshot does not show: one row without a room if there are none.
    ///
    /// Numbers drawn from a sequence would miss transactions that commit late. A snapshot tells exactly which
    /// transactions it shows; those that were under way at its time are not among them, whenever they commit. Entries
    /// whose transaction id has not been assigned yet come from a log that was dumped and restored: no current reader
    /// has seen that log.
    ///
    /// The rooms are found by transaction ids, with both bounds known before the table is searched, so that only the
    /// changes are read: with the oldest transaction under way as a bound, every poll would read everything written
    /// since that one began. If the mark belongs to another history, the table is not searched.
    static let directoryChanges = Statement(
        name: "directory_changes",
        sql: """
            WITH now AS (SELECT * FROM \(now))
            SELECT room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name, now_playing_title,
                now_playing_artist, snapshot::text, history
            FROM now
            LEFT JOIN (
                SELECT * FROM directory
                WHERE (SELECT history FROM now) = $2
                    AND (listed_in = ANY (ARRAY(SELECT pg_snapshot_xip($1::pg_snapshot)))
                        OR listed_in >= pg_snapshot_xmax($1::pg_snapshot)
                            AND listed_in < (SELECT pg_snapshot_xmax(snapshot) FROM now))
            ) AS changes ON true
            """)

    /// `snapshot`, which is compared with ids of transactions, and `history`, within which each id is assigned once.
    ///
    /// Ids are assigned again after a crash, after a failover to a server that lacks the last transactions, and after a
    /// recovery to an earlier time; each of these starts a server or resets its statistics. A dump brings ids into a
    /// table that is new or was emptied, and whose file is therefore a different one. Any other change of these three
    /// values only causes entries to be read again.
    private static let now = """
        pg_current_snapshot() AS snapshot CROSS JOIN concat_ws(
            ' ', extract(epoch FROM pg_postmaster_start_time()),
            extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time()), pg_relation_filenode('directory')) AS history
        """

    // MARK: Sessions

    static let insertSession = Statement(
        "insert_session",
        """
        INSERT INTO sessions (session_id, token_hash, name, created_at, expires_at, has_ended)
        VALUES ($1, $2, $3, $4, $5, $6)
        """)

    static let sessionByToken = Statement(
        "session_by_token",
        """
        SELECT session_id, token_hash, name, created_at, expires_at, has_ended FROM sessions WHERE token_hash = $1
        """)

    static let renameSession = Statement(
        "rename_session", "UPDATE sessions SET name = $2 WHERE session_id = $1")

    static let extendSession = Statement(
        "extend_session", "UPDATE sessions SET expires_at = $2 WHERE session_id = $1 AND NOT has_ended")

    static let endSession = Statement(
        "end_session",
        "UPDATE sessions SET has_ended = true, expires_at = least(expires_at, $2) WHERE session_id = $1")

    /// Each half stops at the limit, by its own index; a session found by both is returned once.
    static let sessionsToRemove = Statement(
        "sessions_to_remove",
        """
        (SELECT session_id, token_hash, name, created_at, expires_at, has_ended FROM sessions
            WHERE has_ended ORDER BY expires_at LIMIT $2)
        UNION
        (SELECT session_id, token_hash, name, created_at, expires_at, has_ended FROM sessions
            WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)
        LIMIT $2
        """)

    static let liveSessions = Statement(
        "live_sessions", "SELECT session_id FROM sessions WHERE session_id = ANY ($1) AND NOT has_ended")

    /// Deletes a session and the keys under which it made rooms.
    static let deleteSession = Statement(
        "delete_session",
        """
        WITH forgotten AS (DELETE FROM creation_keys WHERE session_id = $1)
        DELETE FROM sessions WHERE session_id = $1
        """)

    static let memberships = Statement(
        "memberships", "SELECT room_id FROM memberships WHERE session_id = $1")

    // MARK: Health

    /// Writes an event that belongs to no room, with a payload of some tens of kilobytes.
    static let probeInsertion = Statement(
        "probe_insertion",
        """
        INSERT INTO events (room_id, seq, at, type, payload)
        SELECT '00000000-0000-0000-0000-000000000000', 0, 0, 'probe', jsonb_agg(random())
        FROM generate_series(1, 3000)
        """)

    /// Deletes the event again, in the same transaction.
    static let probeDeletion = Statement(
        "probe_deletion", "DELETE FROM events WHERE room_id = '00000000-0000-0000-0000-000000000000'")

    /// Checks whether the log can be read and written: a primary, with the tables and the right to append.
    static let health = Statement(
        "health",
        """
        SELECT current_setting('transaction_read_only')::boolean,
            has_table_privilege('events', 'INSERT') AND has_table_privilege('heads', 'UPDATE')
                AND has_table_privilege('directory', 'UPDATE'),
            EXISTS (
                SELECT FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event = 'SyncRep'
                    AND state_change < clock_timestamp() - interval '2 seconds')
        """)
}

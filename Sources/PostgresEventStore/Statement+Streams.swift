extension Statement {
    // MARK: Creation

    /// Lets one creation of a session at a time proceed, until its transaction ends.
    ///
    /// The first number distinguishes these locks from others; sessions with the same hash only wait for each other.
    static let lockCreator = Statement(
        "lock_creator", "SELECT pg_advisory_xact_lock(1918987629, uuid_hash($1))")

    /// Deletes a session's old creation keys.
    static let forgetCreations = Statement(
        "forget_creations", "DELETE FROM creation_keys WHERE session_id = $1 AND created_at < $2")

    /// Enters a stream into the directory, unless the session made it before, owns too many, or the code is taken; notes
    /// the stream for ``create``.
    ///
    /// It runs after ``lockCreator`` with a snapshot of its own, and so sees everything that other creations of the
    /// session wrote.
    static let enter = Statement(
        name: "enter",
        sql: """
            WITH earlier AS (
                SELECT room_id, fingerprint FROM creation_keys WHERE session_id = $1 AND key = $2
            ), owned AS (
                SELECT count(*) AS rooms FROM directory WHERE owner = $1 AND closed_at IS NULL
            ), made AS (
                INSERT INTO directory (
                    room_id, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name,
                    now_playing_title, now_playing_artist, listed_in)
                SELECT $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, pg_current_xact_id()
                WHERE NOT EXISTS (SELECT FROM earlier) AND (SELECT rooms FROM owned) < $5
                ON CONFLICT (code) WHERE closed_at IS NULL DO NOTHING
                RETURNING room_id
            ), kept AS (
                INSERT INTO creation_keys (session_id, key, room_id, fingerprint, created_at)
                SELECT $1, $2, room_id, $3, $4 FROM made WHERE $2 IS NOT NULL
            ), \(noting("made"))
            SELECT EXISTS (SELECT FROM made), earlier.room_id, earlier.fingerprint, owned.rooms
            FROM owned CROSS JOIN noted LEFT JOIN earlier ON true
            """)

    /// Makes the stream that ``enter`` has entered, if it has.
    static let create = Statement(
        name: "create",
        sql: """
            WITH made AS (
                INSERT INTO heads (room_id, checksum, epoch, seq, keyed, tail)
                SELECT $1, $2, $3, $4, $5, $6 WHERE ($1 IN (\(notedRooms))) IS TRUE
                RETURNING room_id
            ), recorded AS (
                INSERT INTO events (room_id, seq, at, type, payload, checksum)
                SELECT made.room_id, event.*
                FROM made, unnest($7, $8, $9, $10, $11) AS event (seq, at, type, payload, checksum)
            ), remembered AS (
                INSERT INTO command_keys (room_id, slot, ordinal, session_id, key, fingerprint, seq, result, checksum)
                SELECT made.room_id, ordinal % 1000, command.*
                FROM made, unnest($12, $13, $14, $15, $16, $17, $18)
                    AS command (ordinal, session_id, key, fingerprint, seq, result, checksum)
            )
            INSERT INTO memberships (room_id, session_id)
            SELECT made.room_id, member.session_id FROM made, unnest($19) AS member (session_id)
            ON CONFLICT DO NOTHING
            """)

    // MARK: Rooms that a transaction has noted

    // Heads, events and all that belongs to one room's stream are written by statements that do not write the
    // directory, and the other way round, so that the two may be kept in different places. Of such a pair, the first
    // notes in a setting of the transaction the rooms that it has written, and the second writes no others.

    /// A part of a statement that notes the rooms of another part, and has one row.
    static func noting(_ rooms: StaticString) -> String {
        """
        noted AS MATERIALIZED (
            SELECT set_config('backline.rooms', coalesce(array_agg(room_id)::text, ''), true) FROM \(rooms)
        )
        """
    }

    /// A query for the noted rooms; none if none were, or in another transaction.
    static let notedRooms = "SELECT unnest(nullif(current_setting('backline.rooms', true), '')::uuid[])"

    // MARK: Reading

    static let head = Statement("head", "SELECT epoch, seq, keyed, tail FROM heads WHERE room_id = $1")

    static let heads = Statement(
        "heads", "SELECT epoch, seq, keyed, tail, room_id FROM heads WHERE room_id = ANY ($1)")

    /// Gives a stream another epoch, if it has the one that is to be replaced, and deletes its snapshots.
    static let renewEpoch = Statement(
        name: "renew_epoch",
        sql: """
            WITH renewed AS (
                UPDATE heads SET epoch = $3, checksum = $4, tail = \(checksumAtHead)
                WHERE room_id = $1 AND epoch = $2
                RETURNING room_id
            ), dropped AS (
                DELETE FROM snapshots USING renewed WHERE snapshots.room_id = renewed.room_id
            )
            SELECT room_id FROM renewed
            """)

    static let events = Statement(
        "events",
        "SELECT seq, at, type, payload, checksum FROM events WHERE room_id = $1 AND seq > $2 ORDER BY seq LIMIT $3")

    /// The same events, up to the one that brings the total size of the payloads' texts to the given bytes.
    static let eventsWithin = Statement(
        "events_within",
        """
        SELECT seq, at, type, payload, checksum FROM (
            SELECT seq, at, type, payload, checksum,
                sum(size) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) - size AS before
            FROM (
                SELECT seq, at, type, payload, checksum, octet_length(payload::text) AS size FROM events
                WHERE room_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
            ) AS page
        ) AS measured
        WHERE before < $4
        ORDER BY seq
        """)

    /// The events after the newest snapshot of a reducer's version that is not ahead of the head.
    static let eventsAfterSnapshot = Statement(
        "events_after_snapshot",
        """
        SELECT seq, at, type, payload, checksum FROM events
        WHERE room_id = $1 AND seq > coalesce((
            SELECT max(seq) FROM snapshots WHERE room_id = $1 AND reducer_version = $2
                AND seq <= (SELECT seq FROM heads WHERE room_id = $1)), 0)
        ORDER BY seq
        """)

    static let newestSnapshot = Statement(
        "newest_snapshot",
        """
        SELECT seq, state, checksum FROM snapshots
        WHERE room_id = $1 AND reducer_version = $2 AND seq <= (SELECT seq FROM heads WHERE room_id = $1)
        ORDER BY seq DESC LIMIT 1
        """)

    static let snapshot = Statement(
        "snapshot",
        """
        SELECT seq, state, checksum FROM snapshots WHERE room_id = $1 AND reducer_version = $2 AND seq <= $3
        ORDER BY seq DESC LIMIT 1
        """)

    /// Locks a stream in this epoch against being forgotten or cleared until its snapshot is saved.
    static let lockForSnapshot = Statement(
        "lock_for_snapshot", "SELECT FROM heads WHERE room_id = $1 AND epoch = coalesce($2, epoch) FOR KEY SHARE")

    /// Saves a snapshot of a stream that exists in this epoch, is not to be forgotten and was not cleared since; deletes
    /// the earlier snapshots in its span.
    ///
    /// It runs after ``lockForSnapshot`` with a snapshot of the database of its own.
    static let saveSnapshot = Statement(
        "save_snapshot",
        """
        WITH room AS MATERIALIZED (
            SELECT room_id FROM heads JOIN directory USING (room_id)
            WHERE room_id = $1 AND epoch = coalesce($6, epoch) AND forget_at IS NULL
                AND $2 >= coalesce(clearing_seq, 0)
        ), pruned AS (
            DELETE FROM snapshots WHERE room_id = $1 AND seq >= $7 AND seq < $2 AND EXISTS (SELECT FROM room)
        )
        INSERT INTO snapshots (room_id, seq, reducer_version, state, checksum)
        SELECT room_id, $2, $3, $4, $5 FROM room
        ON CONFLICT (room_id, seq) DO UPDATE SET
            reducer_version = excluded.reducer_version, state = excluded.state, checksum = excluded.checksum
        """)

    static let attachment = Statement(
        "attachment", "SELECT data FROM waveforms WHERE room_id = $1 AND waveform = $2")

    static let keys = Statement(
        "keys",
        """
        SELECT ordinal, session_id, key, fingerprint, seq, result, checksum FROM command_keys
        WHERE room_id = $1 AND ordinal > $2 ORDER BY ordinal
        """)
}

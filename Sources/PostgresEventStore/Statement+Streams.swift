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

    /// Makes a stream, unless the session made it before, owns too many, or the code is taken.
    ///
    /// It runs after ``lockCreator`` with a snapshot of its own, and so sees everything that other creations of the
    /// session wrote.
    static let create = Statement(
        "create",
        """
        WITH earlier AS (
            SELECT room_id, fingerprint FROM creation_keys WHERE session_id = $1 AND key = $2
        ), owned AS (
            SELECT count(*) AS rooms FROM rooms WHERE owner = $1 AND closed_at IS NULL
        ), made AS (
            INSERT INTO rooms (
                room_id, epoch, seq, keyed, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name,
                now_playing_title, now_playing_artist, checksum, listed_in)
            SELECT $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $32, pg_current_xact_id()
            WHERE NOT EXISTS (SELECT FROM earlier) AND (SELECT rooms FROM owned) < $5
            ON CONFLICT (code) WHERE closed_at IS NULL DO NOTHING
            RETURNING room_id
        ), kept AS (
            INSERT INTO creation_keys (session_id, key, room_id, fingerprint, created_at)
            SELECT $1, $2, room_id, $3, $4 FROM made WHERE $2 IS NOT NULL
        ), recorded AS (
            INSERT INTO events (room_id, seq, at, type, payload, checksum)
            SELECT made.room_id, event.*
            FROM made, unnest($21, $22, $23, $24, $33) AS event (seq, at, type, payload, checksum)
        ), remembered AS (
            INSERT INTO command_keys (room_id, slot, ordinal, session_id, key, fingerprint, seq, result, checksum)
            SELECT made.room_id, ordinal % 1000, command.*
            FROM made, unnest($25, $26, $27, $28, $29, $30, $34)
                AS command (ordinal, session_id, key, fingerprint, seq, result, checksum)
        ), joined AS (
            INSERT INTO memberships (room_id, session_id)
            SELECT made.room_id, member.session_id FROM made, unnest($31) AS member (session_id)
            ON CONFLICT DO NOTHING
        )
        SELECT EXISTS (SELECT FROM made), earlier.room_id, earlier.fingerprint, owned.rooms
        FROM owned LEFT JOIN earlier ON true
        """)

    // MARK: Reading

    static let head = Statement("head", "SELECT epoch, seq, keyed FROM rooms WHERE room_id = $1")

    static let heads = Statement("heads", "SELECT room_id, epoch, seq, keyed FROM rooms WHERE room_id = ANY ($1)")

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
                AND seq <= (SELECT seq FROM rooms WHERE room_id = $1)), 0)
        ORDER BY seq
        """)

    static let newestSnapshot = Statement(
        "newest_snapshot",
        """
        SELECT seq, state, checksum FROM snapshots
        WHERE room_id = $1 AND reducer_version = $2 AND seq <= (SELECT seq FROM rooms WHERE room_id = $1)
        ORDER BY seq DESC LIMIT 1
        """)

    static let snapshot = Statement(
        "snapshot",
        """
        SELECT seq, state, checksum FROM snapshots WHERE room_id = $1 AND reducer_version = $2 AND seq <= $3
        ORDER BY seq DESC LIMIT 1
        """)

    /// Saves a snapshot of a stream that exists in this epoch, is not to be forgotten and was not cleared since, and
    /// locks it against being forgotten or cleared meanwhile; deletes the earlier snapshots in its span.
    static let saveSnapshot = Statement(
        "save_snapshot",
        """
        WITH room AS MATERIALIZED (
            SELECT room_id FROM rooms WHERE room_id = $1 AND forget_at IS NULL AND epoch = coalesce($6, epoch)
                AND $2 >= coalesce(clearing_seq, 0)
            FOR KEY SHARE
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

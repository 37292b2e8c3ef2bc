// An append and a saved snapshot hold a lock on the room's row in `heads` that `FOR UPDATE` waits for: `FOR NO KEY UPDATE`
// and `FOR KEY SHARE`. A separate statement after such a lock therefore sees everything that they wrote, and they write
// nothing after it.
extension Statement {
    /// Deletes the heads of rooms that were closed before an instant; skips rooms that another process has locked.
    ///
    /// ``unlistRooms`` follows in the same transaction.
    static let removeRooms = Statement(
        name: "remove_rooms",
        sql: """
            WITH old AS MATERIALIZED (
                SELECT room_id FROM directory JOIN heads USING (room_id)
                WHERE closed_at < $1 ORDER BY closed_at, room_id LIMIT $2
                FOR UPDATE OF heads SKIP LOCKED
            ), kept AS (
                INSERT INTO removals (room_id) SELECT room_id FROM old
            ), removed AS (
                DELETE FROM heads WHERE (room_id = ANY (ARRAY(SELECT room_id FROM old)))
                RETURNING room_id
            ), \(noting("removed"))
            SELECT room_id FROM noted CROSS JOIN removed
            """)

    /// Deletes the directory's rows of the rooms that ``removeRooms`` has removed.
    static let unlistRooms = Statement(
        name: "unlist_rooms",
        sql: "DELETE FROM directory WHERE (room_id = ANY (ARRAY(\(notedRooms))))")

    /// Deletes events of a removed room, and with the last of them the rest of it; returns a row if there was such a
    /// room that no other process has locked.
    static let sweep = Statement(
        "sweep",
        """
        WITH removed AS MATERIALIZED (
            SELECT room_id FROM removals ORDER BY room_id LIMIT 1 FOR UPDATE SKIP LOCKED
        ), last AS MATERIALIZED (
            SELECT max(seq) AS seq, count(*) AS events FROM (
                SELECT seq FROM events WHERE room_id = (SELECT room_id FROM removed) ORDER BY seq LIMIT $1
            ) AS page
        ), swept AS (
            DELETE FROM events
            WHERE room_id = (SELECT room_id FROM removed) AND seq <= (SELECT seq FROM last)
        ), rest AS MATERIALIZED (
            SELECT room_id FROM removed WHERE (SELECT events FROM last) < $1
        ), images AS (
            DELETE FROM snapshots WHERE room_id = (SELECT room_id FROM rest)
        ), attachments AS (
            DELETE FROM waveforms WHERE room_id = (SELECT room_id FROM rest)
        ), keys AS (
            DELETE FROM command_keys WHERE room_id = (SELECT room_id FROM rest)
        ), creations AS (
            DELETE FROM creation_keys WHERE room_id = (SELECT room_id FROM rest)
        ), members AS (
            DELETE FROM memberships WHERE room_id = (SELECT room_id FROM rest)
        ), ended AS (
            DELETE FROM removals WHERE room_id = (SELECT room_id FROM rest)
        )
        SELECT room_id FROM removed
        """)

    /// Deletes attachments that have not been needed since before an instant; skips those that another process has
    /// locked, and compares those that it has changed again.
    static let removeAttachments = Statement(
        "remove_attachments",
        """
        WITH old AS MATERIALIZED (
            SELECT room_id, waveform FROM waveforms WHERE unneeded_since < $1 ORDER BY unneeded_since LIMIT $2
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM waveforms USING old
        WHERE waveforms.room_id = old.room_id AND waveforms.waveform = old.waveform AND unneeded_since < $1
        """)

    static let roomsToForget = Statement(
        "rooms_to_forget",
        """
        SELECT room_id FROM directory WHERE forget_at IS NOT NULL AND forgotten_at IS NULL
        ORDER BY forget_at, room_id LIMIT $1
        """)

    /// Replaces payloads, and deletes the room's snapshots.
    static let rewrite = Statement(
        "rewrite",
        """
        WITH room AS MATERIALIZED (
            SELECT room_id FROM directory WHERE room_id = $1 AND forget_at IS NOT NULL
        ), images AS (
            DELETE FROM snapshots WHERE room_id = $1 AND EXISTS (SELECT FROM room)
        )
        UPDATE events SET payload = other.payload, checksum = other.checksum
        FROM unnest($2, $3, $4) AS other (seq, payload, checksum)
        WHERE events.room_id = $1 AND events.seq = other.seq AND EXISTS (SELECT FROM room)
        """)

    // MARK: Clearing

    static let roomsToClear = Statement(
        "rooms_to_clear",
        """
        SELECT room_id, cleared_seq, clearing_seq FROM directory
        WHERE cleared_seq < clearing_seq AND forget_at IS NULL
            AND room_id > coalesce($1, '00000000-0000-0000-0000-000000000000') ORDER BY room_id LIMIT $2
        """)

    /// Replaces payloads of events before the room's clearing.
    static let clearEvents = Statement(
        "clear_events",
        """
        UPDATE events SET payload = other.payload, checksum = other.checksum
        FROM unnest($2, $3, $4) AS other (seq, payload, checksum)
        WHERE events.room_id = $1 AND events.seq = other.seq
            AND EXISTS (SELECT FROM directory WHERE room_id = $1 AND other.seq < clearing_seq)
        """)

    static let clearSnapshots = Statement(
        "clear_snapshots",
        """
        DELETE FROM snapshots WHERE room_id = $1
            AND seq < (SELECT clearing_seq FROM directory WHERE room_id = $1)
        """)

    static let clearCommands = Statement(
        "clear_commands",
        """
        UPDATE command_keys SET fingerprint = $2, checksum = NULL WHERE room_id = $1
            AND seq < (SELECT clearing_seq FROM directory WHERE room_id = $1)
        """)

    static let clearCreation = Statement(
        "clear_creation",
        """
        UPDATE creation_keys SET fingerprint = $2 WHERE room_id = $1
            AND EXISTS (SELECT FROM directory WHERE room_id = $1 AND clearing_seq IS NOT NULL)
        """)

    static let noteCleared = Statement(
        "note_cleared",
        """
        UPDATE directory SET cleared_seq = greatest(cleared_seq, least($2, clearing_seq))
        WHERE room_id = $1 AND clearing_seq IS NOT NULL
        """)

    // MARK: Forgetting

    /// Waits until no process is saving a snapshot of the room.
    static let lockRoom = Statement(
        "lock_room", "SELECT FROM heads WHERE room_id = $1 FOR UPDATE")

    static let forgetSnapshots = Statement(
        "forget_snapshots",
        """
        DELETE FROM snapshots WHERE room_id = $1
            AND EXISTS (SELECT FROM directory WHERE room_id = $1 AND forget_at IS NOT NULL)
        """)

    static let forgetCommands = Statement(
        "forget_commands",
        """
        UPDATE command_keys SET fingerprint = $2, checksum = NULL WHERE room_id = $1
            AND EXISTS (SELECT FROM directory WHERE room_id = $1 AND forget_at IS NOT NULL)
        """)

    static let forgetCreation = Statement(
        "forget_creation",
        """
        UPDATE creation_keys SET fingerprint = $2 WHERE room_id = $1
            AND EXISTS (SELECT FROM directory WHERE room_id = $1 AND forget_at IS NOT NULL)
        """)

    static let renewForgotten = Statement(
        name: "renew_forgotten",
        sql: """
            UPDATE heads SET epoch = $2, checksum = $3, tail = \(checksumAtHead) WHERE room_id = $1 AND EXISTS (
                SELECT FROM directory WHERE room_id = $1 AND forget_at IS NOT NULL AND forgotten_at IS NULL)
            """)

    static let endForgetting = Statement(
        "end_forgetting",
        """
        UPDATE directory SET forgotten_at = $2
        WHERE room_id = $1 AND forget_at IS NOT NULL AND forgotten_at IS NULL
        """)
}

extension Statement {
    /// The events of many streams beyond a reader's versions, ascending.
    ///
    /// Only streams that have moved are searched. `OFFSET 0` keeps the planner from turning the look-ups by key into a
    /// join with the whole table.
    static let newEvents = Statement(
        "new_events",
        """
        SELECT event.seq, event.at, event.type, event.payload, event.checksum, part.room_id
        FROM unnest($1, $2) AS part (room_id, seq)
        JOIN heads USING (room_id)
        CROSS JOIN LATERAL (
            SELECT seq, at, type, payload, checksum FROM events
            WHERE events.room_id = part.room_id AND events.seq > part.seq OFFSET 0
        ) AS event
        WHERE heads.seq > part.seq
        ORDER BY event.seq
        """)

    /// The streams that have another event at a reader's position than the reader knows there, or none.
    static let otherTails = Statement(
        "other_tails",
        """
        SELECT part.room_id
        FROM unnest($1, $2, $3) AS part (room_id, seq, tail)
        LEFT JOIN LATERAL (
            SELECT checksum FROM events WHERE events.room_id = part.room_id AND events.seq = part.seq OFFSET 0
        ) AS event ON true
        WHERE part.seq > 0 AND part.tail IS NOT NULL AND event.checksum IS DISTINCT FROM part.tail
        """)

    /// Of these streams, those whose event at a reader's position may have been rewritten: it was cleared, or the stream
    /// is to be forgotten.
    static let rewritten = Statement(
        "rewritten",
        """
        SELECT room_id FROM unnest($1, $2) AS part (room_id, seq) JOIN directory USING (room_id)
        WHERE forget_at IS NOT NULL OR cleared_seq >= part.seq
        """)

    /// The remembered keyed commands of many streams beyond a reader's versions, ascending; see ``newEvents``.
    ///
    /// Each key is looked up in its own slot: a stream's thousand slots are not searched for the few that are new.
    static let newKeys = Statement(
        "new_keys",
        """
        SELECT command.ordinal, command.session_id, command.key, command.fingerprint, command.seq, command.result,
            command.checksum, part.room_id
        FROM unnest($1, $2) AS part (room_id, keyed)
        JOIN heads USING (room_id)
        CROSS JOIN LATERAL generate_series(greatest(part.keyed, heads.keyed - 1000) + 1, heads.keyed) AS new (ordinal)
        CROSS JOIN LATERAL (
            SELECT ordinal, session_id, key, fingerprint, seq, result, checksum FROM command_keys
            WHERE command_keys.room_id = part.room_id AND command_keys.slot = new.ordinal % 1000
                AND command_keys.ordinal = new.ordinal
            OFFSET 0
        ) AS command
        WHERE heads.keyed > part.keyed
        ORDER BY command.ordinal
        """)
}

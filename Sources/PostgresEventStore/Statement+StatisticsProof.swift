// What is stored beside what the log says: read in one transaction, and written by nobody here but the repair.
extension Statement {
    /// Lets the planner read whole tables in this transaction: these statements concern most rows of them.
    static let planForAll = Statement(
        "plan_for_all",
        """
        SELECT set_config('enable_seqscan', 'on', true), set_config('enable_hashjoin', 'on', true),
            set_config('plan_cache_mode', 'force_custom_plan', true)
        """)

    /// The last events to read, by room: the second parameter tells whether those are the heads.
    private static let ends = """
        SELECT heads.room_id, CASE WHEN $2 THEN heads.seq ELSE counted.seq END AS through
        FROM heads LEFT JOIN statistics_heads AS counted USING (room_id) WHERE heads.room_id = ANY ($1)
        """

    /// Events grouped by room and span, except those of entries that ended.
    ///
    /// Spans are minutes from the third parameter on, or from the first one for which these rooms have counts by the
    /// minute.
    static let loggedCounts = Statement(
        name: "logged_counts",
        sql: """
            SELECT part.room_id, span.step, span.bucket, span.starts, span.votes, span.unvotes, span.requests,
                span.joins, span.leaves, span.tracks_added
            FROM (\(ends)) AS part
            CROSS JOIN (
                SELECT coalesce($3, min(bucket), 2147483647)::bigint AS first FROM statistics_counts
                WHERE room_id = ANY ($1) AND step = 1
            ) AS minutes
            CROSS JOIN LATERAL (
                SELECT CASE WHEN minute >= minutes.first THEN 1 ELSE 15 END::bigint AS step,
                    CASE WHEN minute >= minutes.first THEN minute ELSE minute - minute % 15 END AS bucket,
                    count(*) FILTER (WHERE type = 'playbackStarted') AS starts,
                    count(*) FILTER (WHERE type = 'voteCast') AS votes,
                    count(*) FILTER (WHERE type = 'voteWithdrawn') AS unvotes,
                    count(*) FILTER (WHERE type = 'voteCast' AND (payload ->> 'requestedSeq')::bigint = seq)
                        AS requests,
                    count(*) FILTER (WHERE type = 'memberJoined') AS joins,
                    count(*) FILTER (WHERE type = 'memberLeft') AS leaves,
                    coalesce(sum(jsonb_array_length(payload -> 'tracks')) FILTER (WHERE type = 'tracksAdded'), 0)::bigint
                        AS tracks_added
                FROM (
                    SELECT seq, type, payload, least(greatest(at, 0) / 60000, 2147483632) AS minute
                    FROM events WHERE events.room_id = part.room_id AND events.seq <= part.through
                ) AS event
                GROUP BY 1, 2
                OFFSET 0
            ) AS span
            WHERE span.starts > 0 OR span.votes > 0 OR span.unvotes > 0 OR span.joins > 0 OR span.leaves > 0
                OR span.tracks_added > 0
            """)

    /// The events that tell which song was heard.
    static let loggedPlays = Statement(
        name: "logged_plays",
        sql: """
            SELECT event.seq, event.at, event.type, event.payload, event.checksum, part.room_id
            FROM (\(ends)) AS part
            CROSS JOIN LATERAL (
                SELECT seq, at, type, payload, checksum FROM events
                WHERE events.room_id = part.room_id AND events.seq <= part.through
                    AND (type IN ('roomCreated', 'roomUpdated', 'tracksAdded', 'durationSet', 'entryFinished') OR seq = 2)
                OFFSET 0
            ) AS event
            ORDER BY part.room_id, event.seq
            """)

    static let storedCounts = Statement(
        "stored_counts",
        """
        SELECT room_id, step::bigint, bucket::bigint, starts::bigint, plays::bigint, skips::bigint, votes::bigint,
            unvotes::bigint, requests::bigint, joins::bigint, leaves::bigint, tracks_added::bigint, played_ms
        FROM statistics_counts WHERE room_id = ANY ($1)
        """)

    static let storedPlays = Statement(
        "stored_plays",
        """
        SELECT entry, track, number, added_by, started_at, ended_at, played_ms, reason::bigint, is_play, is_public,
            room_id
        FROM statistics_plays WHERE room_id = ANY ($1) ORDER BY room_id, ended_at, entry
        """)

    static let storedTracks = Statement(
        "stored_tracks",
        """
        SELECT track, artist_key, title, artist FROM statistics_tracks
        WHERE track IN (SELECT track FROM statistics_plays WHERE room_id = ANY ($1))
        """)

    static let streamsMovedSince = Statement(
        "streams_moved_since",
        """
        SELECT room_id FROM heads WHERE room_id = ANY ($1) AND (
            SELECT at FROM events WHERE events.room_id = heads.room_id AND events.seq = heads.seq) >= $2
        """)

    static let markProven = Statement(
        "mark_proven",
        """
        UPDATE statistics_heads AS head SET proven_seq = part.seq
        FROM unnest($1, $2, $3, $4) AS part (room_id, epoch, version, seq)
        WHERE head.room_id = part.room_id AND head.epoch = part.epoch AND head.version = part.version
            AND head.seq >= part.seq AND head.proven_seq < part.seq
        """)

    static let unmarkProven = Statement(
        "unmark_proven", "UPDATE statistics_heads SET proven_seq = 0 WHERE proven_seq > 0")

    static let strays = Statement(
        "strays",
        """
        SELECT room_id FROM (
            SELECT room_id FROM statistics_counts UNION SELECT room_id FROM statistics_plays
            UNION SELECT room_id FROM statistics_audience
        ) AS rows
        WHERE room_id > coalesce($1, '00000000-0000-0000-0000-000000000000')
            AND NOT EXISTS (
                SELECT FROM statistics_heads WHERE statistics_heads.room_id = rows.room_id AND version <> 0)
        ORDER BY room_id LIMIT $2
        """)

    /// Notes a room without a counted position.
    static let noteStray = Statement(
        name: "note_stray",
        sql: """
            WITH stray AS (
                SELECT room_id FROM unnest($1) AS part (room_id)
                WHERE NOT EXISTS (
                    SELECT FROM statistics_heads WHERE statistics_heads.room_id = part.room_id AND version <> 0)
            ), \(noting("stray"))
            SELECT room_id FROM noted CROSS JOIN stray
            """)

    static let unnamedTracks = Statement(
        "unnamed_tracks",
        """
        SELECT track FROM statistics_tracks
        WHERE track > coalesce($1, '00000000-0000-0000-0000-000000000000')
            AND NOT EXISTS (SELECT FROM statistics_plays WHERE statistics_plays.track = statistics_tracks.track)
        ORDER BY track LIMIT $2
        """)

    static let deleteUnnamed = Statement(
        "delete_unnamed",
        """
        DELETE FROM statistics_tracks WHERE track = ANY ($1)
            AND NOT EXISTS (SELECT FROM statistics_plays WHERE statistics_plays.track = statistics_tracks.track)
        """)

    // MARK: Days

    static let days = Statement(
        "days",
        """
        SELECT (bucket / 24)::bigint, computed_at, sealed_at, checksum FROM statistics_buckets
        WHERE span = 24 ORDER BY bucket
        """)

    static let storedDay = Statement(
        "stored_day",
        """
        SELECT track, plays::bigint, rooms::bigint, played_ms FROM statistics_top WHERE span = 24 AND bucket = $1
        ORDER BY track
        """)

    static let expectedDay = Statement(
        name: "expected_day",
        sql: """
            SELECT track, count(*), \(owners), sum(played_ms)::bigint
            FROM statistics_plays JOIN statistics_heads USING (room_id)
            WHERE ended_at >= $1 * 3600000 AND ended_at < ($1 + 24) * 3600000 AND is_play
                AND statistics_plays.is_public
            GROUP BY track ORDER BY track
            """)

    static let isLate = Statement(
        "is_late", "SELECT EXISTS (SELECT FROM statistics_late WHERE hour >= $1 AND hour < $1 + 24)")

    static let seal = Statement(
        "seal",
        """
        UPDATE statistics_buckets SET sealed_at = $4, checksum = $3
        WHERE span = 24 AND bucket = $1 AND computed_at = $2
            AND NOT EXISTS (SELECT FROM statistics_late WHERE hour >= $1 AND hour < $1 + 24)
        """)

    static let firstUnproven = Statement(
        "first_unproven",
        """
        SELECT min(event.at) FROM heads LEFT JOIN statistics_heads AS counted USING (room_id)
        CROSS JOIN LATERAL (
            SELECT at FROM events WHERE events.room_id = heads.room_id
                AND events.seq > CASE WHEN counted.epoch = heads.epoch THEN counted.proven_seq ELSE 0 END
            ORDER BY seq LIMIT 1
        ) AS event
        WHERE counted.version IS DISTINCT FROM 0
            AND (counted.room_id IS NULL OR counted.epoch <> heads.epoch OR counted.proven_seq < heads.seq)
        """)

    /// The mark of a rebuilding is a span of no hours.
    static let rebuildingSince = Statement(
        "rebuilding_since", "SELECT computed_at FROM statistics_buckets WHERE span = 0 AND bucket = 0")

    static let markRebuilding = Statement(
        "mark_rebuilding",
        """
        INSERT INTO statistics_buckets (span, bucket, computed_at, rooms, plays) VALUES (0, 0, $1, 0, 0)
        ON CONFLICT (span, bucket) DO UPDATE SET computed_at = excluded.computed_at
        """)

    static let unmarkRebuilding = Statement(
        "unmark_rebuilding", "DELETE FROM statistics_buckets WHERE span = 0 AND bucket = 0")

    static let statisticsSummary = Statement(
        "statistics_summary",
        """
        SELECT count(*), count(*) FILTER (WHERE version IS DISTINCT FROM 0
                AND (counted.room_id IS NULL OR counted.epoch <> heads.epoch OR counted.seq <> heads.seq)),
            count(*) FILTER (WHERE version = 0),
            coalesce(sum(heads.seq - CASE WHEN counted.epoch = heads.epoch THEN counted.seq ELSE 0 END)
                FILTER (WHERE version IS DISTINCT FROM 0), 0)::bigint,
            count(*) FILTER (WHERE version <> 0 AND proven_seq = counted.seq),
            (SELECT count(*) FROM statistics_counts), (SELECT count(*) FROM statistics_plays),
            (SELECT count(*) FROM statistics_tracks),
            (SELECT count(*) FROM statistics_buckets WHERE span = 24 AND sealed_at IS NOT NULL),
            (SELECT max(bucket) / 24 FROM statistics_buckets WHERE span = 24 AND sealed_at IS NOT NULL)::bigint
        FROM heads LEFT JOIN statistics_heads AS counted USING (room_id)
        """)
}

import EventStorage

// Numbers across rooms. All rooms whose founder is not known count as one founder's.
extension Statement {
    static let owners = "count(DISTINCT coalesce(founder, '00000000-0000-0000-0000-000000000000'))"

    /// What was played most: the parameters are the span, the least owners and the limit, and the rooms if there are any.
    static func top(byArtist: Bool, inRooms: Bool) -> Statement { tops[(byArtist ? 1 : 0) + (inRooms ? 2 : 0)] }

    private static let tops =
        [topTracks, topGrouped(byArtist: true, inRooms: false)]
        + [false, true].map { topGrouped(byArtist: $0, inRooms: true) }

    /// The songs of all rooms: owners are counted only of those that are played most, until there are enough songs.
    private static let topTracks = Statement(
        name: "top_track",
        sql: """
            SELECT song.track, song.artist_key, song.title, song.artist, ranked.plays, owned.owners, ranked.played_ms
            FROM (
                SELECT track, count(*) AS plays, sum(played_ms)::bigint AS played_ms
                FROM statistics_plays WHERE ended_at >= $1 AND ended_at < $2 AND is_play AND is_public
                GROUP BY track HAVING count(*) >= $3
                ORDER BY count(*) DESC, sum(played_ms) DESC, track
            ) AS ranked
            CROSS JOIN LATERAL (
                SELECT \(owners) AS owners FROM statistics_plays JOIN statistics_heads USING (room_id)
                WHERE track = ranked.track AND ended_at >= $1 AND ended_at < $2 AND is_play
                    AND statistics_plays.is_public
            ) AS owned
            JOIN statistics_tracks AS song ON song.track = ranked.track
            WHERE owned.owners >= $3
            ORDER BY ranked.plays DESC, ranked.played_ms DESC, ranked.track LIMIT $4
            """)

    private static func topGrouped(byArtist: Bool, inRooms: Bool) -> Statement {
        let key = byArtist ? "artist_key" : "track"
        // In rooms, the founder and the plays of each are found by key; OFFSET 0 keeps them from being joined with the
        // whole tables.
        let plays =
            inRooms
            ? """
            (
                SELECT room_id, founder FROM unnest($5) AS part (room_id) JOIN statistics_heads USING (room_id) OFFSET 0
            ) AS part CROSS JOIN LATERAL (
                SELECT track, played_ms FROM statistics_plays
                WHERE statistics_plays.room_id = part.room_id AND ended_at >= $1 AND ended_at < $2
                    AND is_play AND is_public
                OFFSET 0
            ) AS play
            """ : "statistics_plays JOIN statistics_heads USING (room_id)"
        let only = inRooms ? "" : "WHERE ended_at >= $1 AND ended_at < $2 AND is_play AND statistics_plays.is_public"
        return Statement(
            name: "top_\(key)\(inRooms ? "_in_rooms" : "")",
            sql: """
                SELECT song.track, song.artist_key, song.title, song.artist, ranked.plays, ranked.owners,
                    ranked.played_ms
                FROM (
                    SELECT \(key), \(byArtist ? "min(track::text)::uuid" : "track") AS example, count(*) AS plays,
                        \(owners) AS owners, sum(played_ms)::bigint AS played_ms
                    FROM \(plays)
                        \(byArtist ? "JOIN statistics_tracks USING (track)" : "")
                    \(only)
                    GROUP BY \(key)
                    HAVING \(owners) >= $3 \(byArtist ? "AND artist_key IS NOT NULL" : "")
                    ORDER BY count(*) DESC, sum(played_ms) DESC, \(key) LIMIT $4
                ) AS ranked
                JOIN statistics_tracks AS song ON song.track = ranked.example
                ORDER BY ranked.plays DESC, ranked.played_ms DESC, song.\(key)
                """)
    }

    static func topOfDays(byArtist: Bool) -> Statement { byArtist ? topArtistsOfDays : topTracksOfDays }

    private static let topTracksOfDays = topOfDays("track")
    private static let topArtistsOfDays = topOfDays("artist_key")

    private static func topOfDays(_ key: StaticString) -> Statement {
        Statement(
            name: "top_\(key)_of_days",
            sql: """
                WITH missing AS MATERIALIZED (
                    SELECT hour FROM generate_series($1::bigint, $2::bigint - 24, 24) AS hour WHERE NOT EXISTS (
                        SELECT FROM statistics_buckets
                        WHERE span = 24 AND bucket = hour AND computed_at >= (hour + 24) * 3600000)
                )
                SELECT song.track, song.artist_key, song.title, song.artist, ranked.plays, ranked.owners,
                    ranked.played_ms
                FROM (
                    SELECT \(key), min(track::text)::uuid AS example, sum(plays)::bigint AS plays,
                        max(rooms)::bigint AS owners, sum(played_ms)::bigint AS played_ms
                    FROM (
                        SELECT track, plays, rooms, played_ms FROM statistics_top
                        WHERE span = 24 AND bucket >= $1 AND bucket < $2 AND bucket NOT IN (SELECT hour FROM missing)
                        UNION ALL
                        SELECT track, count(*), \(owners), sum(played_ms)
                        FROM statistics_plays JOIN statistics_heads USING (room_id)
                        WHERE ended_at >= (SELECT min(hour) FROM missing) * 3600000 AND ended_at < $2 * 3600000
                            AND ended_at / 86400000 * 24 IN (SELECT hour FROM missing)
                            AND is_play AND is_public
                        GROUP BY ended_at / 86400000, track
                    ) AS parts
                    JOIN statistics_tracks USING (track)
                    WHERE \(key) IS NOT NULL
                    GROUP BY \(key) HAVING max(rooms) >= $3
                    ORDER BY 3 DESC, 5 DESC, \(key) LIMIT $4
                ) AS ranked
                JOIN statistics_tracks AS song ON song.track = ranked.example
                ORDER BY ranked.plays DESC, ranked.played_ms DESC, song.\(key)
                """)
    }

    // MARK: Observations

    /// Writes what a node has seen; the parameters are one array per column, in the order of the rooms' ids, and the
    /// node.
    ///
    /// The locks keep rooms from being excluded meanwhile.
    static let observe = Statement(
        "observe",
        """
        WITH counted AS MATERIALIZED (
            SELECT room_id FROM statistics_heads WHERE room_id = ANY ($1) AND version <> 0 ORDER BY room_id FOR SHARE
        )
        INSERT INTO statistics_audience AS old (room_id, minute, node, peak, listened_ms)
        SELECT room_id, minute, $5, peak, listened_ms FROM unnest($1, $2, $3, $4) AS part (
            room_id, minute, peak, listened_ms)
        WHERE (room_id IN (SELECT room_id FROM counted)) IS TRUE
        ON CONFLICT (room_id, minute, node) DO UPDATE SET peak = greatest(old.peak, excluded.peak),
            listened_ms = greatest(old.listened_ms, excluded.listened_ms)
        """)

    static let audience = Statement(
        "audience",
        """
        SELECT CASE WHEN node = '' THEN 15 ELSE 1 END::bigint, minute::bigint, sum(peak)::bigint,
            sum(listened_ms)::bigint
        FROM statistics_audience WHERE room_id = $1 AND minute >= $2 AND minute < $3
        GROUP BY 1, 2
        """)

    /// Moves observations of minutes into quarters; the parameters are rooms, and the first minute that stays.
    static let moveAudience = Statement(
        "move_audience",
        """
        WITH moved AS (
            DELETE FROM statistics_audience WHERE room_id = ANY ($1) AND minute < $2 AND node <> ''
            RETURNING room_id, minute, peak, listened_ms
        )
        INSERT INTO statistics_audience AS old (room_id, minute, node, peak, listened_ms)
        SELECT room_id, minute - minute % 15, '', max(peak), sum(listened_ms) FROM (
            SELECT room_id, minute, sum(peak) AS peak, sum(listened_ms) AS listened_ms FROM moved
            GROUP BY room_id, minute
        ) AS minutes
        GROUP BY room_id, minute - minute % 15
        ON CONFLICT (room_id, minute, node) DO UPDATE SET peak = greatest(old.peak, excluded.peak),
            listened_ms = old.listened_ms + excluded.listened_ms
        """)

    // MARK: Days

    static let staleDays = Statement(
        name: "stale_days",
        sql: """
            SELECT day::bigint FROM (
                SELECT DISTINCT hour / 24 AS day FROM statistics_late WHERE hour < $1 * 24
                UNION
                SELECT day FROM generate_series($1 - \(StaleDays.lookedAt), $1 - 1) AS day WHERE NOT EXISTS (
                    SELECT FROM statistics_buckets
                    WHERE span = 24 AND bucket = day * 24 AND computed_at >= (day + 1) * 86400000 + \(StaleDays.grace))
            ) AS days
            ORDER BY day LIMIT $2
            """)

    static let sealedThrough = Statement(
        "sealed_through",
        """
        SELECT (max(bucket) / 24)::bigint FROM statistics_buckets
        WHERE span = 24 AND sealed_at IS NOT NULL AND bucket < coalesce(
            (SELECT min(bucket) FROM statistics_buckets WHERE span = 24 AND sealed_at IS NULL), 2147483647)
        """)

    static let makeDay = Statement(
        "make_day",
        """
        INSERT INTO statistics_buckets (span, bucket, computed_at, rooms, plays) VALUES (24, $1, 0, 0, 0)
        ON CONFLICT DO NOTHING
        """)

    /// Takes a day, unless another process has it; the statements after it do something only if it was taken.
    static let claimDay = Statement(
        "claim_day",
        """
        WITH claimed AS MATERIALIZED (
            SELECT bucket FROM statistics_buckets WHERE span = 24 AND bucket = $1 FOR UPDATE SKIP LOCKED
        )
        SELECT set_config('backline.claimed', (EXISTS (SELECT FROM claimed))::text, true)::boolean
        """)

    private static let isClaimed = "current_setting('backline.claimed', true) = 'true'"

    /// Deletes the marks that this transaction sees: what is written later is marked again.
    static let takeLate = Statement(
        name: "take_late",
        sql: """
            WITH taken AS MATERIALIZED (
                SELECT room_id, hour FROM statistics_late WHERE hour >= $1 AND hour < $1 + 24 AND \(isClaimed)
                ORDER BY room_id, hour FOR UPDATE
            )
            DELETE FROM statistics_late AS late USING taken
            WHERE late.room_id = taken.room_id AND late.hour = taken.hour
            """)

    static let clearDay = Statement(
        name: "clear_day", sql: "DELETE FROM statistics_top WHERE span = 24 AND bucket = $1 AND \(isClaimed)")

    static let computeDay = Statement(
        name: "compute_day",
        sql: """
            INSERT INTO statistics_top (span, bucket, track, plays, rooms, played_ms)
            SELECT 24, $1, track, count(*), \(owners), sum(played_ms)
            FROM statistics_plays JOIN statistics_heads USING (room_id)
            WHERE ended_at >= $1::bigint * 3600000 AND ended_at < ($1::bigint + 24) * 3600000 AND is_play
                AND statistics_plays.is_public AND \(isClaimed)
            GROUP BY track
            """)

    static let endDay = Statement(
        name: "end_day",
        sql: """
            UPDATE statistics_buckets SET computed_at = $2, sealed_at = NULL, checksum = NULL,
                rooms = (
                    SELECT count(DISTINCT room_id) FROM statistics_plays
                    WHERE ended_at >= $1::bigint * 3600000 AND ended_at < ($1::bigint + 24) * 3600000
                        AND is_play AND is_public),
                plays = coalesce((SELECT sum(plays) FROM statistics_top WHERE span = 24 AND bucket = $1), 0)
            WHERE span = 24 AND bucket = $1 AND \(isClaimed)
            """)

    // MARK: Minutes

    /// Locks the counted positions of rooms with minutes that are to be moved, as ``count(withPlays:)`` does;
    /// the parameters are rooms, and the first minute that stays.
    static let lockCounted = Statement(
        "lock_counted",
        """
        SELECT FROM statistics_heads
        WHERE room_id = ANY (ARRAY(
            SELECT room_id FROM statistics_counts WHERE room_id = ANY ($1) AND step = 1 AND bucket < $2
            UNION
            SELECT room_id FROM statistics_audience WHERE room_id = ANY ($1) AND minute < $2 AND node <> ''))
        ORDER BY room_id FOR NO KEY UPDATE
        """)

    /// Moves counts of minutes into quarters.
    static let moveMinutes = Statement(
        "move_minutes",
        """
        WITH moved AS (
            DELETE FROM statistics_counts WHERE room_id = ANY ($1) AND step = 1 AND bucket < $2
            RETURNING room_id, bucket - bucket % 15 AS quarter, starts, plays, skips, votes, unvotes, requests, joins,
                leaves, tracks_added, played_ms
        )
        INSERT INTO statistics_counts AS old (
            room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
            played_ms)
        SELECT room_id, 15, quarter, sum(starts), sum(plays), sum(skips), sum(votes), sum(unvotes), sum(requests),
            sum(joins), sum(leaves), sum(tracks_added), sum(played_ms)
        FROM moved GROUP BY room_id, quarter
        ON CONFLICT (room_id, step, bucket) DO UPDATE SET
            starts = old.starts + excluded.starts, plays = old.plays + excluded.plays,
            skips = old.skips + excluded.skips, votes = old.votes + excluded.votes,
            unvotes = old.unvotes + excluded.unvotes, requests = old.requests + excluded.requests,
            joins = old.joins + excluded.joins, leaves = old.leaves + excluded.leaves,
            tracks_added = old.tracks_added + excluded.tracks_added, played_ms = old.played_ms + excluded.played_ms
        """)
}

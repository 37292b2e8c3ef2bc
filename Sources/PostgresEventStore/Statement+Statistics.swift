// Statistics stand beside the log: no statement here writes a table of the log, and only those of erasure delete both.
extension Statement {
    /// Makes the counted positions of rooms, in the order of their ids.
    ///
    /// The head of a room that is being removed waits for this, or is gone.
    static let beginCounting = Statement(
        "begin_counting",
        """
        WITH room AS MATERIALIZED (
            SELECT room_id, epoch FROM heads WHERE room_id = ANY ($1) ORDER BY room_id FOR KEY SHARE
        )
        INSERT INTO statistics_heads (room_id, epoch, version, seq)
        SELECT room_id, epoch, CASE WHEN forget_at IS NULL THEN $2 ELSE 0 END, 0
        FROM room LEFT JOIN directory USING (room_id)
        ON CONFLICT DO NOTHING
        """)

    /// Adds counts of many rooms; the parameters are one array per column.
    ///
    /// `moved` updates the counted positions that are the expected ones, in the order of the arrays, which is that of
    /// the rooms' ids (joins are nested loops, ``prepareSession``): batches that overlap wait for each other, but never
    /// in a cycle. Every other part writes only for the rooms of `moved`, whose rows nobody else can write at the same
    /// time. Songs are shared by rooms: they are inserted in the order of their ids, and never changed. The plays that
    /// are withdrawn from numbers across rooms are earlier ones: the statement does not see those that it inserts.
    static func count(withPlays: Bool) -> Statement { withPlays ? countWithPlays : countWithoutPlays }

    private static let countWithPlays = Statement(name: "count_plays", sql: textOfCount(withPlays: true))
    private static let countWithoutPlays = Statement(name: "count", sql: textOfCount(withPlays: false))

    private static func textOfCount(withPlays: Bool) -> String {
        var text = """
            WITH moved AS (
                UPDATE statistics_heads AS head
                SET seq = part.through, founder = coalesce(part.founder, head.founder)
                FROM unnest($1, $2, $3, $4, $5, \(withPlays ? "$37" : "$19")) AS part (
                    room_id, epoch, version, since, through, founder)
                WHERE head.room_id = part.room_id AND head.epoch = part.epoch AND head.version = part.version
                    AND head.seq = part.since
                RETURNING head.room_id
            ), counted AS (
                INSERT INTO statistics_counts AS old (
                    room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                    played_ms)
                SELECT room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves,
                    tracks_added, played_ms
                FROM unnest($6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) AS part (
                    room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                    played_ms)
                WHERE (room_id IN (SELECT room_id FROM moved)) IS TRUE
                ON CONFLICT (room_id, step, bucket) DO UPDATE SET
                    starts = old.starts + excluded.starts, plays = old.plays + excluded.plays,
                    skips = old.skips + excluded.skips, votes = old.votes + excluded.votes,
                    unvotes = old.unvotes + excluded.unvotes, requests = old.requests + excluded.requests,
                    joins = old.joins + excluded.joins, leaves = old.leaves + excluded.leaves,
                    tracks_added = old.tracks_added + excluded.tracks_added,
                    played_ms = old.played_ms + excluded.played_ms
            )
            """
        if withPlays {
            text += """
                , played AS (
                    INSERT INTO statistics_plays (
                        room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play,
                        is_public)
                    SELECT room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play,
                        is_public
                    FROM unnest($19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29) AS part (
                        room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play,
                        is_public)
                    WHERE (room_id IN (SELECT room_id FROM moved)) IS TRUE
                ), named AS (
                    INSERT INTO statistics_tracks (track, artist_key, title, artist)
                    SELECT track, artist_key, title, artist
                    FROM unnest($30, $31, $32, $33, $34) AS part (room_id, track, artist_key, title, artist)
                    WHERE (room_id IN (SELECT room_id FROM moved)) IS TRUE
                    ORDER BY track
                    ON CONFLICT DO NOTHING
                ), withdrawn AS (
                    UPDATE statistics_plays AS play SET is_public = false
                    FROM unnest($36) AS part (room_id)
                    WHERE play.room_id = part.room_id AND play.is_public
                        AND (part.room_id IN (SELECT room_id FROM moved)) IS TRUE
                    RETURNING play.room_id, play.ended_at, play.is_play
                ), late AS (
                    \(marking("""
                        SELECT room_id, ended_at FROM unnest($19, $20, $28, $29) AS part (
                            room_id, ended_at, is_play, is_public)
                        WHERE is_play AND is_public AND ended_at / 3600000 < $35 / 3600000
                            AND (room_id IN (SELECT room_id FROM moved)) IS TRUE
                        UNION ALL SELECT room_id, ended_at FROM withdrawn WHERE is_play
                        """))
                )
                """
        }
        return text + "\nSELECT room_id FROM moved"
    }

    /// Marks the hours of plays, so that their days are computed again.
    ///
    /// A mark that exists is locked: whoever computes its day waits for this transaction, and sees what it writes. Marks
    /// are written in the order of rooms and hours, in which ``takeLate`` locks them.
    private static func marking(_ plays: String) -> String {
        """
        INSERT INTO statistics_late (room_id, hour)
        SELECT DISTINCT room_id, ended_at / 3600000 AS hour FROM (\(plays)) AS play ORDER BY room_id, hour
        ON CONFLICT (room_id, hour) DO UPDATE SET hour = excluded.hour
        """
    }

    // MARK: Replacing and deleting

    /// Keeps everybody from naming songs until the transaction ends: songs that nothing names any more can be deleted.
    ///
    /// Comes first in its transaction, because those who count hold locks of rooms while they name songs.
    static let lockNames = Statement("lock_names", "LOCK TABLE statistics_tracks IN SHARE ROW EXCLUSIVE MODE")

    /// Moves the counted position of a room to the end of what replaces its counts, if it is the expected one, and notes
    /// the room; the statements after it write only for noted rooms.
    static let moveCounted = Statement(
        name: "move_counted",
        sql: """
            WITH moved AS (
                UPDATE statistics_heads SET epoch = $2, version = $3, seq = $4, proven_seq = 0, founder = $8
                WHERE room_id = $1 AND epoch = $5 AND version = $6 AND seq = $7 AND version <> 0
                    AND EXISTS (SELECT FROM heads WHERE room_id = $1)
                RETURNING room_id
            ), \(noting("moved"))
            SELECT room_id FROM noted CROSS JOIN moved
            """)

    /// Lets a room that is to be forgotten count for nothing, for ever, and notes it.
    static let exclude = Statement(
        name: "exclude",
        sql: """
            WITH excluded AS (
                INSERT INTO statistics_heads AS old (room_id, epoch, version, seq)
                SELECT room_id, epoch, 0, 0 FROM heads
                WHERE room_id = $1
                    AND EXISTS (SELECT FROM directory WHERE room_id = $1 AND forget_at IS NOT NULL)
                FOR KEY SHARE OF heads
                ON CONFLICT (room_id) DO UPDATE SET version = 0, seq = 0, proven_seq = 0, founder = NULL
                RETURNING room_id
            ), \(noting("excluded"))
            SELECT room_id FROM noted CROSS JOIN excluded
            """)

    /// Deletes the counts of noted rooms, and the songs that only they named.
    static let uncount = Statement(
        name: "uncount",
        sql: """
            WITH counts AS (
                DELETE FROM statistics_counts WHERE room_id = ANY (ARRAY(\(notedRooms)))
            ), plays AS (
                DELETE FROM statistics_plays WHERE room_id = ANY (ARRAY(\(notedRooms)))
                RETURNING room_id, track, ended_at, is_play AND is_public AS is_shared
            ), late AS (
                \(marking("SELECT room_id, ended_at FROM plays WHERE is_shared"))
            )
            DELETE FROM statistics_tracks
            WHERE track = ANY (ARRAY(SELECT track FROM plays)) AND NOT EXISTS (
                SELECT FROM statistics_plays AS other
                WHERE other.track = statistics_tracks.track AND other.room_id <> ALL (ARRAY(\(notedRooms))))
            """)

    /// Deletes what was observed in noted rooms.
    static let unobserve = Statement(
        name: "unobserve",
        sql: "DELETE FROM statistics_audience WHERE room_id = ANY (ARRAY(\(notedRooms)))")

    /// Deletes the counted positions of noted rooms.
    static let endCounting = Statement(
        name: "end_counting",
        sql: "DELETE FROM statistics_heads WHERE room_id = ANY (ARRAY(\(notedRooms)))")

    /// Writes the counts of a noted room, which has none.
    static let recount = Statement(
        name: "recount",
        sql: """
            INSERT INTO statistics_counts (
                room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                played_ms)
            SELECT room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                played_ms
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) AS part (
                room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                played_ms)
            WHERE (room_id IN (\(notedRooms))) IS TRUE
            """)

    /// Writes the plays of a noted room, which has none, and their songs.
    static let replay = Statement(
        name: "replay",
        sql: """
            WITH played AS (
                INSERT INTO statistics_plays (
                    room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play,
                    is_public)
                SELECT room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play,
                    is_public
                FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS part (
                    room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play,
                    is_public)
                WHERE (room_id IN (\(notedRooms))) IS TRUE
                RETURNING room_id, ended_at, is_play AND is_public AS is_shared
            ), late AS (
                \(marking(
                    "SELECT room_id, ended_at FROM played WHERE is_shared AND ended_at / 3600000 < $17 / 3600000"))
            )
            INSERT INTO statistics_tracks (track, artist_key, title, artist)
            SELECT track, artist_key, title, artist
            FROM unnest($12, $13, $14, $15, $16) AS part (room_id, track, artist_key, title, artist)
            WHERE (room_id IN (\(notedRooms))) IS TRUE
            ORDER BY track
            ON CONFLICT DO NOTHING
            """)

    // MARK: Reading

    static let countedStreams = Statement(
        "counted_streams",
        """
        SELECT heads.room_id, heads.epoch, heads.seq, heads.keyed, counted.epoch, counted.seq, counted.version::bigint,
            coalesce(counted.proven_seq, 0), counted.founder
        FROM (
            SELECT room_id, epoch, seq, keyed FROM heads
            WHERE room_id > coalesce($1, '00000000-0000-0000-0000-000000000000') ORDER BY room_id LIMIT $2
        ) AS heads
        LEFT JOIN statistics_heads AS counted USING (room_id)
        ORDER BY room_id
        """)

    static let countedStreamsNamed = Statement(
        "counted_streams_named",
        """
        SELECT heads.room_id, heads.epoch, heads.seq, heads.keyed, counted.epoch, counted.seq, counted.version::bigint,
            coalesce(counted.proven_seq, 0), counted.founder
        FROM heads LEFT JOIN statistics_heads AS counted USING (room_id)
        WHERE heads.room_id = ANY ($1)
        ORDER BY room_id
        """)

    static let countedPosition = Statement(
        "counted_position",
        "SELECT epoch, seq, version::bigint FROM statistics_heads WHERE room_id = $1")

    static let counts = Statement(
        "counts",
        """
        SELECT step::bigint, bucket::bigint, starts::bigint, plays::bigint, skips::bigint, votes::bigint,
            unvotes::bigint, requests::bigint, joins::bigint, leaves::bigint, tracks_added::bigint, played_ms
        FROM statistics_counts
        WHERE room_id = $1 AND step IN (1, 15) AND bucket >= $2 AND bucket < $3
        """)

    static let plays = Statement(
        "plays",
        """
        SELECT entry, track, number, added_by, started_at, ended_at, played_ms, reason::bigint, is_play, is_public
        FROM statistics_plays
        WHERE room_id = $1 AND ended_at >= $2 AND ended_at < $3 AND (ended_at, entry) < ($4, $5)
        ORDER BY ended_at DESC, entry DESC LIMIT $6
        """)

    /// What was played most in a room; only songs that are named are listed, which all are.
    static let rankedTracks = Statement(
        "ranked_tracks",
        """
        SELECT track, artist_key, title, artist, newest[1], newest[2], plays, skips, played_ms
        FROM (
            SELECT track, max(ARRAY[number, added_by]) AS newest, count(*) FILTER (WHERE is_play) AS plays,
                count(*) FILTER (WHERE reason = 1) AS skips, sum(played_ms)::bigint AS played_ms
            FROM statistics_plays WHERE room_id = $1 AND ended_at >= $2 AND ended_at < $3 GROUP BY track
        ) AS ranked
        JOIN statistics_tracks USING (track)
        ORDER BY plays DESC, played_ms DESC, track LIMIT $4
        """)

    static let rankedArtists = Statement(
        "ranked_artists",
        """
        SELECT newest.track, artist_key, newest.title, newest.artist, ranked.newest[1], ranked.newest[2], plays, skips,
            played_ms
        FROM (
            SELECT artist_key, max(ARRAY[number, added_by]) AS newest, count(*) FILTER (WHERE is_play) AS plays,
                count(*) FILTER (WHERE reason = 1) AS skips, sum(played_ms)::bigint AS played_ms
            FROM statistics_plays JOIN statistics_tracks USING (track)
            WHERE room_id = $1 AND ended_at >= $2 AND ended_at < $3 AND artist_key IS NOT NULL
            GROUP BY artist_key
            ORDER BY plays DESC, played_ms DESC, artist_key LIMIT $4
        ) AS ranked
        CROSS JOIN LATERAL (
            SELECT track, title, artist FROM statistics_plays JOIN statistics_tracks AS song USING (track)
            WHERE room_id = $1 AND ended_at >= $2 AND ended_at < $3 AND song.artist_key = ranked.artist_key
                AND number = ranked.newest[1]
            LIMIT 1
        ) AS newest
        ORDER BY plays DESC, played_ms DESC, artist_key
        """)

    static let countedTracks = Statement(
        "counted_tracks",
        "SELECT track, artist_key, title, artist FROM statistics_tracks WHERE track = ANY ($1)")
}

package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore {
    /// Rooms whose founder is not known count as one founder's.
    static let owners = "count(DISTINCT coalesce(founder, x''))"

    package func top(_ question: TopQuestion) async throws(StorageFault) -> [TopTrack] {
        let key = question.byArtist ? "artist_key" : "track"
        // A reading connection can make no table, so the rooms are listed as bytes. CROSS JOIN keeps the order: the founder
        // and the plays of each room are found by key, and the plays of all rooms by time.
        let plays =
            question.streams == nil
            ? "statistics_plays AS play CROSS JOIN statistics_heads USING (room_id)"
            : """
            (
                WITH RECURSIVE places (place) AS (
                    SELECT 1 WHERE length(?1) > 0 UNION ALL SELECT place + 16 FROM places WHERE place + 16 < length(?1)
                )
                SELECT DISTINCT substr(?1, place, 16) AS room_id FROM places
            ) AS chosen CROSS JOIN statistics_heads USING (room_id) CROSS JOIN statistics_plays AS play USING (room_id)
            """
        let chosen = question.streams.map { streams in
            streams.reduce(into: Data()) { $0.append(Data.fromDatabaseValue($1.databaseValue) ?? Data()) }
        }
        return try await ask { db in
            try db.all(
                """
                SELECT song.track, song.artist_key, title, artist, ranked.plays, owners, heard
                FROM (
                    SELECT \(key) AS rank_key, min(track) AS example, count(*) AS plays, \(Self.owners) AS owners,
                        sum(played_ms) AS heard
                    FROM \(plays)
                        \(question.byArtist ? "CROSS JOIN statistics_tracks USING (track)" : "")
                    WHERE ended_at >= ?2 AND ended_at < ?3 AND is_play = 1 AND play.is_public = 1 AND \(key) IS NOT NULL
                    GROUP BY \(key) HAVING \(Self.owners) >= ?4
                    ORDER BY plays DESC, heard DESC, \(key) LIMIT ?5
                ) AS ranked
                JOIN statistics_tracks AS song ON song.track = ranked.example
                ORDER BY ranked.plays DESC, heard DESC, rank_key
                """, [chosen, question.from, question.to, question.leastOwners, max(0, question.limit)], TopTrack.init)
        }
    }

    package func topOfDays(
        from first: Int, before day: Int, byArtist: Bool, leastOwners: Int, limit: Int
    ) async throws(StorageFault) -> [TopTrack] {
        let key = byArtist ? "artist_key" : "track"
        return try await ask { db in
            try db.all(
                """
                WITH RECURSIVE days (hour) AS (
                    SELECT ?1 WHERE ?1 < ?2 UNION ALL SELECT hour + 24 FROM days WHERE hour + 24 < ?2
                ), missing AS MATERIALIZED (
                    SELECT hour FROM days WHERE NOT EXISTS (
                        SELECT 1 FROM statistics_buckets
                        WHERE span = 24 AND bucket = hour AND computed_at >= (hour + 24) * 3600000)
                ), parts AS (
                    SELECT track, plays, rooms, played_ms FROM statistics_top
                    WHERE span = 24 AND bucket >= ?1 AND bucket < ?2 AND bucket NOT IN (SELECT hour FROM missing)
                    UNION ALL
                    SELECT track, count(*), \(Self.owners), sum(played_ms)
                    FROM statistics_plays AS play CROSS JOIN statistics_heads USING (room_id)
                    WHERE ended_at >= (SELECT min(hour) FROM missing) * 3600000 AND ended_at < ?2 * 3600000
                        AND ended_at / 86400000 * 24 IN (SELECT hour FROM missing)
                        AND is_play = 1 AND play.is_public = 1
                    GROUP BY ended_at / 86400000, track
                )
                SELECT track, artist_key, title, artist, sum(plays) AS played, max(rooms) AS owners,
                    sum(played_ms) AS heard
                FROM parts JOIN statistics_tracks USING (track)
                WHERE \(key) IS NOT NULL
                GROUP BY \(key) HAVING max(rooms) >= ?3
                ORDER BY played DESC, heard DESC, \(key) LIMIT ?4
                """, [first * 24, day * 24, leastOwners, max(0, limit)], TopTrack.init)
        }
    }

    package func observe(_ minutes: [ObservedMinute], by node: String) async throws(StorageFault) {
        try await write { db in
            for seen in minutes {
                try db.run(
                    """
                    INSERT INTO statistics_audience (room_id, minute, node, peak, listened_ms)
                    SELECT room_id, ?2, ?3, ?4, ?5 FROM statistics_heads WHERE room_id = ?1 AND version <> 0
                    ON CONFLICT (room_id, minute, node) DO UPDATE SET peak = max(peak, excluded.peak),
                    listened_ms = max(listened_ms, excluded.listened_ms)
                    """, [seen.stream, seen.minute, node, seen.peak, seen.listenedMs])
            }
        }
    }

    package func audience(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> [CountBucket: Audience] {
        try await ask { db in
            let rows = try db.all(
                """
                SELECT CASE WHEN node = '' THEN 15 ELSE 1 END, minute, sum(peak), sum(listened_ms)
                FROM statistics_audience WHERE room_id = ? AND minute >= ? AND minute < ? GROUP BY 1, 2
                """, [stream, from, to]
            ) { row in
                (
                    try CountBucket(row),
                    Audience(peak: try row.decode(atIndex: 2), listenedMs: try row.decode(atIndex: 3))
                )
            }
            return Dictionary(uniqueKeysWithValues: rows)
        }
    }

    package func staleDays(before day: Int, limit: Int) async throws(StorageFault) -> [Int] {
        try await ask { db in
            try db.all(
                """
                SELECT day FROM (
                    SELECT DISTINCT hour / 24 AS day FROM statistics_late WHERE hour < ?1 * 24
                    UNION
                    SELECT day FROM (
                        WITH RECURSIVE days (day) AS (
                            SELECT ?1 - \(StaleDays.lookedAt) UNION ALL SELECT day + 1 FROM days WHERE day + 1 < ?1
                        )
                        SELECT day FROM days
                    ) WHERE NOT EXISTS (
                        SELECT 1 FROM statistics_buckets
                        WHERE span = 24 AND bucket = day * 24
                            AND computed_at >= (day + 1) * 86400000 + \(StaleDays.grace))
                )
                ORDER BY day LIMIT ?2
                """, [day, max(0, limit)]
            ) { try $0.decode(atIndex: 0) }
        }
    }

    package func sealedThrough() async throws(StorageFault) -> Int? {
        try await ask { db in
            try db.all(
                """
                SELECT max(bucket) / 24 FROM statistics_buckets
                WHERE span = 24 AND sealed_at IS NOT NULL AND bucket < coalesce(
                    (SELECT min(bucket) FROM statistics_buckets WHERE span = 24 AND sealed_at IS NULL), 2147483647)
                """, []
            ) { try $0.decode(Int?.self, atIndex: 0) }.first ?? nil
        }
    }

    package func computeDay(_ day: Int, at now: Int64) async throws(StorageFault) -> Bool {
        let hour = day * 24
        let (from, to) = (Int64(hour) * 3_600_000, Int64(hour + 24) * 3_600_000)
        return try await write { db in
            try db.run("DELETE FROM statistics_late WHERE hour >= ? AND hour < ?", [hour, hour + 24])
            try db.run("DELETE FROM statistics_top WHERE span = 24 AND bucket = ?", [hour])
            try db.run(
                """
                INSERT INTO statistics_top (span, bucket, track, plays, rooms, played_ms)
                SELECT 24, ?, track, count(*), \(Self.owners), sum(played_ms)
                FROM statistics_plays JOIN statistics_heads USING (room_id)
                WHERE ended_at >= ? AND ended_at < ? AND is_play = 1 AND statistics_plays.is_public = 1 GROUP BY track
                """, [hour, from, to])
            try db.run(
                """
                INSERT INTO statistics_buckets (span, bucket, computed_at, rooms, plays)
                SELECT 24, ?1, ?2, count(DISTINCT room_id), count(*) FROM statistics_plays
                WHERE ended_at >= ?3 AND ended_at < ?4 AND is_play = 1 AND statistics_plays.is_public = 1
                ON CONFLICT (span, bucket) DO UPDATE SET computed_at = excluded.computed_at, sealed_at = NULL,
                    checksum = NULL, rooms = excluded.rooms, plays = excluded.plays
                """, [hour, now, from, to])
            return true
        }
    }

    package func moveMinutes(of streams: [UUID], before minute: Int) async throws(StorageFault) {
        try await write { db in
            for stream in streams {
                try db.run(
                    """
                    INSERT INTO statistics_counts (
                    room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                    played_ms)
                    SELECT room_id, 15, bucket - bucket % 15, sum(starts), sum(plays), sum(skips), sum(votes),
                        sum(unvotes), sum(requests), sum(joins), sum(leaves), sum(tracks_added), sum(played_ms)
                    FROM statistics_counts WHERE room_id = ? AND step = 1 AND bucket < ?
                    GROUP BY room_id, bucket - bucket % 15
                    ON CONFLICT (room_id, step, bucket) DO UPDATE SET
                    starts = starts + excluded.starts, plays = plays + excluded.plays, skips = skips + excluded.skips,
                    votes = votes + excluded.votes, unvotes = unvotes + excluded.unvotes,
                    requests = requests + excluded.requests, joins = joins + excluded.joins,
                    leaves = leaves + excluded.leaves, tracks_added = tracks_added + excluded.tracks_added,
                    played_ms = played_ms + excluded.played_ms
                    """, [stream, minute])
                try db.run(
                    "DELETE FROM statistics_counts WHERE room_id = ? AND step = 1 AND bucket < ?", [stream, minute])
                try db.run(
                    """
                    INSERT INTO statistics_audience (room_id, minute, node, peak, listened_ms)
                    SELECT room_id, minute - minute % 15, '', max(peak), sum(listened_ms) FROM (
                        SELECT room_id, minute, sum(peak) AS peak, sum(listened_ms) AS listened_ms
                        FROM statistics_audience WHERE room_id = ? AND minute < ? AND node <> ''
                        GROUP BY room_id, minute
                    )
                    WHERE true GROUP BY room_id, minute - minute % 15
                    ON CONFLICT (room_id, minute, node) DO UPDATE SET peak = max(peak, excluded.peak),
                    listened_ms = listened_ms + excluded.listened_ms
                    """, [stream, minute])
                try db.run(
                    "DELETE FROM statistics_audience WHERE room_id = ? AND minute < ? AND node <> ''", [stream, minute])
            }
        }
    }
}

extension TopTrack {
    fileprivate init(_ row: Row) throws {
        self.init(
            track: try CountedTrack(row), plays: try row.decode(atIndex: 4), owners: try row.decode(atIndex: 5),
            playedMs: try row.decode(atIndex: 6))
    }
}

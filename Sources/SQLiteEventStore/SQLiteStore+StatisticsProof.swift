package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore: StatisticsArchive {
    package func proofs(
        of streams: [UUID], toHead: Bool, firstMinute: Int?
    ) async throws(StorageFault) -> [StatisticsProof] {
        try await ask { db in
            let counted = try streams.sorted().compactMap { stream in
                try db.first("\(CountedStream.selection) WHERE heads.room_id = ?", [stream], CountedStream.init)
            }
            return try counted.map { try db.proof(of: $0, toHead: toHead, firstMinute: firstMinute) }
        }
    }

    package func streams(_ streams: [UUID], movedSince instant: Int64) async throws(StorageFault) -> [UUID] {
        try await ask { db in
            try streams.filter { stream in
                try db.first(
                    """
                    SELECT 1 FROM heads JOIN events ON events.room_id = heads.room_id AND events.seq = heads.seq
                    WHERE heads.room_id = ? AND at >= ?
                    """, [stream, instant]
                ) { _ in true } != nil
            }
        }
    }

    package func markProven(_ positions: [UUID: CountedPosition]) async throws(StorageFault) {
        try await write { db in
            for (stream, position) in positions {
                try db.run(
                    """
                    UPDATE statistics_heads SET proven_seq = ?1
                    WHERE room_id = ?2 AND epoch = ?3 AND version = ?4 AND seq >= ?1 AND proven_seq < ?1
                    """, [position.seq, stream, position.epoch, position.version])
            }
        }
    }

    package func unmarkProven() async throws(StorageFault) {
        try await write { try $0.run("UPDATE statistics_heads SET proven_seq = 0 WHERE proven_seq > 0", []) }
    }

    package func strays(after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        try await ask { db in
            let bound = after?.databaseValue ?? Data().databaseValue
            return try db.all(
                """
                SELECT room_id FROM (
                    SELECT room_id FROM statistics_counts UNION SELECT room_id FROM statistics_plays
                    UNION SELECT room_id FROM statistics_audience
                ) AS stored
                WHERE room_id > ? AND room_id NOT IN (SELECT room_id FROM statistics_heads WHERE version <> 0)
                ORDER BY room_id LIMIT ?
                """, [bound, max(0, limit)]
            ) { try $0.decode(atIndex: 0) }
        }
    }

    package func deleteStray(_ stream: UUID) async throws(StorageFault) {
        try await write { db in
            let known = "SELECT 1 FROM statistics_heads WHERE room_id = ? AND version <> 0"
            guard try db.first(known, [stream], { _ in true }) == nil else { return }
            try db.uncount(stream)
            try db.run("DELETE FROM statistics_audience WHERE room_id = ?", [stream])
        }
    }

    package func unnamedTracks(after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        try await ask { db in
            let bound = after?.databaseValue ?? Data().databaseValue
            return try db.all(
                """
                SELECT track FROM statistics_tracks
                WHERE track > ? AND NOT EXISTS (
                    SELECT 1 FROM statistics_plays WHERE statistics_plays.track = statistics_tracks.track)
                ORDER BY track LIMIT ?
                """, [bound, max(0, limit)]
            ) { try $0.decode(atIndex: 0) }
        }
    }

    package func deleteUnnamed(_ tracks: [UUID]) async throws(StorageFault) {
        try await write { db in
            for track in tracks {
                try db.run(
                    """
                    DELETE FROM statistics_tracks
                    WHERE track = ?1 AND NOT EXISTS (SELECT 1 FROM statistics_plays WHERE track = ?1)
                    """, [track])
            }
        }
    }

    package func rebuildingSince() async throws(StorageFault) -> Int64? {
        try await ask { db in
            try db.first("SELECT computed_at FROM statistics_buckets WHERE span = 0 AND bucket = 0", []) {
                try $0.decode(atIndex: 0)
            }
        }
    }

    package func markRebuilding(since instant: Int64?) async throws(StorageFault) {
        try await write { db in
            // The mark is a span of no hours.
            try db.run("DELETE FROM statistics_buckets WHERE span = 0 AND bucket = 0", [])
            guard let instant else { return }
            try db.run(
                "INSERT INTO statistics_buckets (span, bucket, computed_at, rooms, plays) VALUES (0, 0, ?, 0, 0)",
                [instant])
        }
    }

    // MARK: Days

    package func days() async throws(StorageFault) -> [StoredDay] {
        try await ask { db in
            try db.all(
                """
                SELECT bucket / 24, computed_at, sealed_at, checksum FROM statistics_buckets WHERE span = 24
                ORDER BY bucket
                """, []
            ) { row in
                StoredDay(
                    day: try row.decode(atIndex: 0), computedAt: try row.decode(atIndex: 1),
                    sealedAt: try row.decode(Int64?.self, atIndex: 2),
                    checksum: try row.decode(Int64?.self, atIndex: 3))
            }
        }
    }

    package func dayProof(of day: Int) async throws(StorageFault) -> DayProof? {
        let hour = day * 24
        return try await ask { db in
            let late = "SELECT 1 FROM statistics_late WHERE hour >= ? AND hour < ? LIMIT 1"
            guard try db.first(late, [hour, hour + 24], { _ in true }) == nil else { return nil }
            let stored = try db.all(
                """
                SELECT track, plays, rooms, played_ms FROM statistics_top WHERE span = 24 AND bucket = ? ORDER BY track
                """, [hour], DayTrack.init)
            let expected = try db.all(
                """
                SELECT track, count(*), \(Self.owners), sum(played_ms)
                FROM statistics_plays JOIN statistics_heads USING (room_id)
                WHERE ended_at >= ? AND ended_at < ? AND is_play = 1 AND statistics_plays.is_public = 1 GROUP BY track ORDER BY track
                """, [Int64(hour) * 3_600_000, Int64(hour + 24) * 3_600_000], DayTrack.init)
            return DayProof(stored: stored, expected: expected)
        }
    }

    package func seal(
        _ day: Int, computedAt: Int64, checksum: Int64, at now: Int64
    ) async throws(StorageFault) {
        let hour = day * 24
        try await write { db in
            try db.run(
                """
                UPDATE statistics_buckets SET sealed_at = ?4, checksum = ?3
                WHERE span = 24 AND bucket = ?1 AND computed_at = ?2
                AND NOT EXISTS (SELECT 1 FROM statistics_late WHERE hour >= ?1 AND hour < ?1 + 24)
                """, [hour, computedAt, checksum, now])
        }
    }

    package func firstUnproven() async throws(StorageFault) -> Int64? {
        try await ask { db in
            try db.first(
                """
                SELECT min((
                    SELECT at FROM events WHERE events.room_id = heads.room_id
                        AND events.seq > CASE WHEN counted.epoch = heads.epoch THEN counted.proven_seq ELSE 0 END
                    ORDER BY seq LIMIT 1))
                FROM heads LEFT JOIN statistics_heads AS counted ON counted.room_id = heads.room_id
                WHERE counted.version IS NOT 0
                    AND (counted.room_id IS NULL OR counted.epoch <> heads.epoch OR counted.proven_seq < heads.seq)
                """, []
            ) { try $0.decode(Int64?.self, atIndex: 0) }.flatMap { $0 }
        }
    }

    package func summary() async throws(StorageFault) -> StatisticsSummary {
        try await ask { db in
            let found = try db.first(
                """
                SELECT count(*), count(*) FILTER (WHERE version IS NOT 0
                        AND (counted.room_id IS NULL OR counted.epoch <> heads.epoch OR counted.seq <> heads.seq)),
                    count(*) FILTER (WHERE version = 0),
                    coalesce(sum(heads.seq - CASE WHEN counted.epoch = heads.epoch THEN counted.seq ELSE 0 END)
                        FILTER (WHERE version IS NOT 0), 0),
                    count(*) FILTER (WHERE version <> 0 AND proven_seq = counted.seq),
                    (SELECT count(*) FROM statistics_counts), (SELECT count(*) FROM statistics_plays),
                    (SELECT count(*) FROM statistics_tracks),
                    (SELECT count(*) FROM statistics_buckets WHERE span = 24 AND sealed_at IS NOT NULL),
                    (SELECT max(bucket) / 24 FROM statistics_buckets WHERE span = 24 AND sealed_at IS NOT NULL)
                FROM heads LEFT JOIN statistics_heads AS counted ON counted.room_id = heads.room_id
                """, []
            ) { row in
                var summary = StatisticsSummary()
                summary.streams = try row.decode(atIndex: 0)
                summary.behind = try row.decode(atIndex: 1)
                summary.excluded = try row.decode(atIndex: 2)
                summary.uncountedEvents = try row.decode(atIndex: 3)
                summary.proven = try row.decode(atIndex: 4)
                summary.counts = try row.decode(atIndex: 5)
                summary.plays = try row.decode(atIndex: 6)
                summary.tracks = try row.decode(atIndex: 7)
                summary.sealedDays = try row.decode(atIndex: 8)
                summary.lastSealedDay = try row.decode(Int?.self, atIndex: 9)
                return summary
            }
            return found ?? StatisticsSummary()
        }
    }
}

extension DayTrack {
    fileprivate init(_ row: Row) throws {
        self.init(
            track: try row.decode(atIndex: 0), plays: try row.decode(atIndex: 1), owners: try row.decode(atIndex: 2),
            playedMs: try row.decode(atIndex: 3))
    }
}

extension Database {
    /// What is stored of a stream, and what its log says.
    fileprivate func proof(of room: CountedStream, toHead: Bool, firstMinute: Int?) throws -> StatisticsProof {
        let stream = room.stream
        let through = toHead ? room.head.version.seq : room.counted?.seq ?? 0
        var proof = StatisticsProof(
            stream: stream, head: room.head, counted: room.counted, through: through, founder: room.founder)
        let firstStored: Int? = try first(
            "SELECT min(bucket) FROM statistics_counts WHERE room_id = ? AND step = 1", [stream]
        ) { try $0.decode(Int?.self, atIndex: 0) }.flatMap { $0 }
        let logged = try all(
            """
            SELECT CASE WHEN minute >= ?3 THEN 1 ELSE 15 END AS step,
                CASE WHEN minute >= ?3 THEN minute ELSE minute - minute % 15 END AS bucket,
                count(*) FILTER (WHERE type = 'playbackStarted'), count(*) FILTER (WHERE type = 'voteCast'),
                count(*) FILTER (WHERE type = 'voteWithdrawn'),
                count(*) FILTER (WHERE type = 'voteCast' AND json_extract(payload, '$.requestedSeq') = seq),
                count(*) FILTER (WHERE type = 'memberJoined'), count(*) FILTER (WHERE type = 'memberLeft'),
                coalesce(sum(json_array_length(payload, '$.tracks')) FILTER (WHERE type = 'tracksAdded'), 0)
            FROM (
                SELECT seq, type, payload, min(max(at, 0) / 60000, 2147483632) AS minute
                FROM events WHERE room_id = ?1 AND seq <= ?2
            )
            GROUP BY 1, 2
            """, [stream, through, firstMinute ?? firstStored ?? Int(Int32.max)]
        ) { row in
            var counts = EventCounts()
            let fields: [WritableKeyPath<EventCounts, Int>] = [
                \.starts, \.votes, \.unvotes, \.requests, \.joins, \.leaves, \.tracksAdded,
            ]
            for (place, field) in fields.enumerated() { counts[keyPath: field] = try row.decode(atIndex: 2 + place) }
            return (try CountBucket(row), counts)
        }
        proof.logged = Dictionary(uniqueKeysWithValues: logged.filter { !$0.1.isZero })
        proof.events = try all(
            """
            SELECT seq, at, type, payload, checksum FROM events WHERE room_id = ? AND seq <= ?
            AND (type IN ('roomCreated', 'roomUpdated', 'tracksAdded', 'durationSet', 'entryFinished') OR seq = 2) ORDER BY seq
            """, [stream, through]
        ) { try StoredEvent(row: $0) }
        let counts = try all(
            """
            SELECT step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added, played_ms
            FROM statistics_counts WHERE room_id = ?
            """, [stream]
        ) { (try CountBucket($0), try EventCounts($0, from: 2)) }
        proof.counts = Dictionary(uniqueKeysWithValues: counts)
        proof.plays = try all(
            """
            SELECT entry, track, number, added_by, started_at, ended_at, played_ms, reason, is_play, is_public
            FROM statistics_plays WHERE room_id = ? ORDER BY ended_at, entry
            """, [stream], CountedPlay.init)
        proof.tracks = try all(
            """
            SELECT track, artist_key, title, artist FROM statistics_tracks
            WHERE track IN (SELECT track FROM statistics_plays WHERE room_id = ?)
            """, [stream], CountedTrack.init)
        return proof
    }
}

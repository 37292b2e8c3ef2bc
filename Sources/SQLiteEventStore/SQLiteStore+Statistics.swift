package import EventStorage
package import Foundation
import GRDB

extension SQLiteStore: StatisticsStore {
    package func beginCounting(_ streams: [UUID], version: Int) async throws(StorageFault) {
        try await write { db in
            for stream in streams {
                try db.run(
                    """
                    INSERT INTO statistics_heads (room_id, epoch, version, seq)
                    SELECT heads.room_id, epoch, CASE WHEN forget_at IS NULL THEN ? ELSE 0 END, 0
                    FROM heads LEFT JOIN directory USING (room_id) WHERE heads.room_id = ?
                    ON CONFLICT DO NOTHING
                    """, [version, stream])
            }
        }
    }

    package func count(_ batch: [StatisticsFlush], at now: Int64) async throws(StorageFault) -> [FlushOutcome] {
        try await write { db in
            try batch.map { flush in
                try db.run(
                    """
                    UPDATE statistics_heads SET seq = ?, founder = coalesce(?, founder)
                    WHERE room_id = ? AND epoch = ? AND version = ? AND seq = ?
                    """, [flush.through, flush.founder, flush.stream, flush.epoch, flush.version, flush.since])
                guard db.changesCount == 1 else { return .conflict }
                try db.add(flush, at: now)
                return .counted
            }
        }
    }

    package func replace(
        _ counts: StatisticsFlush, ifCounted counted: CountedPosition, at now: Int64
    ) async throws(StorageFault) -> FlushOutcome {
        try await write { db in
            try db.run(
                """
                UPDATE statistics_heads SET epoch = ?, version = ?, seq = ?, proven_seq = 0, founder = ?
                WHERE room_id = ? AND epoch = ? AND version = ? AND seq = ? AND version <> 0
                AND EXISTS (SELECT 1 FROM heads WHERE heads.room_id = statistics_heads.room_id)
                """,
                [
                    counts.epoch, counts.version, counts.through, counts.founder, counts.stream, counted.epoch,
                    counted.version, counted.seq,
                ])
            guard db.changesCount == 1 else { return .conflict }
            try db.uncount(counts.stream)
            try db.add(counts, at: now)
            return .counted
        }
    }

    // MARK: Reading

    package func countedStreams(after: UUID?, limit: Int) async throws(StorageFault) -> [CountedStream] {
        try await ask { db in
            // An empty blob sorts before every other.
            let bound = after?.databaseValue ?? Data().databaseValue
            return try db.all(
                "\(CountedStream.selection) WHERE heads.room_id > ? ORDER BY heads.room_id LIMIT ?",
                [bound, max(0, limit)], CountedStream.init)
        }
    }

    package func countedStreams(_ streams: [UUID]) async throws(StorageFault) -> [CountedStream] {
        try await ask { db in
            try streams.sorted().compactMap { stream in
                try db.first("\(CountedStream.selection) WHERE heads.room_id = ?", [stream], CountedStream.init)
            }
        }
    }

    package func counts(of stream: UUID, from: Int, to: Int) async throws(StorageFault) -> StreamCounts? {
        try await ask { db in
            guard let position = try db.countedPosition(of: stream) else { return nil }
            let rows = try db.all(
                """
                SELECT step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                played_ms FROM statistics_counts WHERE room_id = ? AND step IN (1, 15) AND bucket >= ? AND bucket < ?
                """, [stream, from, to]
            ) { row in
                (try CountBucket(row), try EventCounts(row, from: 2))
            }
            return StreamCounts(position: position, counts: Dictionary(uniqueKeysWithValues: rows))
        }
    }

    package func plays(
        of stream: UUID, from: Int64, to: Int64, before: PlayPlace?, limit: Int
    ) async throws(StorageFault) -> StreamPlays? {
        try await ask { db in
            guard let position = try db.countedPosition(of: stream) else { return nil }
            let plays = try db.all(
                """
                SELECT entry, track, number, added_by, started_at, ended_at, played_ms, reason, is_play, is_public
                FROM statistics_plays
                WHERE room_id = ? AND ended_at >= ? AND ended_at < ? AND (ended_at, entry) < (?, ?)
                ORDER BY ended_at DESC, entry DESC LIMIT ?
                """,
                [stream, from, to, before?.endedAt ?? .max, before?.entry ?? .max, max(0, limit)], CountedPlay.init)
            return StreamPlays(position: position, plays: plays)
        }
    }

    package func ranking(
        of stream: UUID, from: Int64, to: Int64, byArtist: Bool, limit: Int
    ) async throws(StorageFault) -> StreamRanking? {
        let key = byArtist ? "artist_key" : "track"
        return try await ask { db in
            guard let position = try db.countedPosition(of: stream) else { return nil }
            // The other columns are those of the row with the largest number.
            let tracks = try db.all(
                """
                SELECT track, artist_key, title, artist, max(number), added_by,
                    count(*) FILTER (WHERE is_play = 1) AS plays, count(*) FILTER (WHERE reason = 1),
                    sum(played_ms) AS heard
                FROM statistics_plays JOIN statistics_tracks USING (track)
                WHERE room_id = ? AND ended_at >= ? AND ended_at < ? AND \(key) IS NOT NULL
                GROUP BY \(key) ORDER BY plays DESC, heard DESC, \(key) LIMIT ?
                """, [stream, from, to, max(0, limit)]
            ) { row in
                RankedTrack(
                    track: try CountedTrack(row), number: try row.decode(atIndex: 4),
                    addedBy: try row.decode(atIndex: 5),
                    plays: try row.decode(atIndex: 6), skips: try row.decode(atIndex: 7),
                    playedMs: try row.decode(atIndex: 8))
            }
            return StreamRanking(position: position, tracks: tracks)
        }
    }

    package func countedTracks(_ tracks: [UUID]) async throws(StorageFault) -> [CountedTrack] {
        try await ask { db in
            try tracks.compactMap { track in
                try db.first(
                    "SELECT track, artist_key, title, artist FROM statistics_tracks WHERE track = ?", [track],
                    CountedTrack.init)
            }
        }
    }
}

extension Database {
    /// Adds the rows of a flush whose counted position has been moved.
    fileprivate func add(_ flush: StatisticsFlush, at now: Int64) throws {
        for (bucket, counts) in flush.counts {
            try run(
                """
                INSERT INTO statistics_counts (
                room_id, step, bucket, starts, plays, skips, votes, unvotes, requests, joins, leaves, tracks_added,
                played_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (room_id, step, bucket) DO UPDATE SET
                starts = starts + excluded.starts, plays = plays + excluded.plays, skips = skips + excluded.skips,
                votes = votes + excluded.votes, unvotes = unvotes + excluded.unvotes,
                requests = requests + excluded.requests, joins = joins + excluded.joins,
                leaves = leaves + excluded.leaves, tracks_added = tracks_added + excluded.tracks_added,
                played_ms = played_ms + excluded.played_ms
                """,
                [flush.stream, bucket.step.rawValue, bucket.minute] + EventCounts.numbers.map { counts[keyPath: $0] }
                    + [counts.playedMs])
        }
        if flush.withdraws {
            try run(
                """
                INSERT INTO statistics_late (room_id, hour)
                SELECT DISTINCT room_id, ended_at / 3600000 FROM statistics_plays
                WHERE room_id = ? AND is_play = 1 AND is_public = 1
                ON CONFLICT DO NOTHING
                """, [flush.stream])
            try run("UPDATE statistics_plays SET is_public = 0 WHERE room_id = ? AND is_public = 1", [flush.stream])
        }
        for play in flush.plays {
            try run(
                """
                INSERT INTO statistics_plays (
                room_id, ended_at, entry, track, number, added_by, started_at, played_ms, reason, is_play, is_public)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    flush.stream, play.endedAt, play.entry, play.track, play.number, play.addedBy, play.startedAt,
                    play.playedMs, play.reason.rawValue, play.isPlay, play.isPublic,
                ])
            guard play.isPlay, play.isPublic, play.endedAt / 3_600_000 < now / 3_600_000 else { continue }
            try run(
                "INSERT INTO statistics_late (room_id, hour) VALUES (?, ?) ON CONFLICT DO NOTHING",
                [flush.stream, play.endedAt / 3_600_000])
        }
        for track in flush.tracks {
            try run(
                """
                INSERT INTO statistics_tracks (track, artist_key, title, artist) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                """, [track.track, track.artistKey, track.title, track.artist])
        }
    }

    /// Deletes all that is counted of a stream, and counts nothing of it any more.
    func exclude(_ stream: UUID) throws {
        try run(
            """
            INSERT INTO statistics_heads (room_id, epoch, version, seq)
            SELECT room_id, epoch, 0, 0 FROM heads WHERE room_id = ?
            ON CONFLICT (room_id) DO UPDATE SET version = 0, seq = 0, proven_seq = 0, founder = NULL
            """, [stream])
        try uncount(stream)
        try run("DELETE FROM statistics_audience WHERE room_id = ?", [stream])
    }

    /// Deletes what is counted of a stream, and the songs that only it named.
    func uncount(_ stream: UUID) throws {
        try run("DELETE FROM statistics_counts WHERE room_id = ?", [stream])
        try run(
            """
            INSERT INTO statistics_late (room_id, hour)
            SELECT DISTINCT room_id, ended_at / 3600000 FROM statistics_plays
            WHERE room_id = ? AND is_play = 1 AND is_public = 1
            ON CONFLICT DO NOTHING
            """, [stream])
        try run(
            """
            DELETE FROM statistics_tracks WHERE track IN (SELECT track FROM statistics_plays WHERE room_id = ?1)
            AND NOT EXISTS (
                SELECT 1 FROM statistics_plays AS other
                WHERE other.track = statistics_tracks.track AND other.room_id <> ?1)
            """, [stream])
        try run("DELETE FROM statistics_plays WHERE room_id = ?", [stream])
    }

    fileprivate func countedPosition(of stream: UUID) throws -> CountedPosition? {
        try first("SELECT epoch, seq, version FROM statistics_heads WHERE room_id = ?", [stream]) { row in
            CountedPosition(
                epoch: try row.decode(atIndex: 0), seq: try row.decode(atIndex: 1), version: try row.decode(atIndex: 2))
        }
    }
}

extension CountedStream {
    static let selection = """
        SELECT heads.room_id, heads.epoch, heads.seq, heads.keyed, counted.epoch, counted.seq, counted.version,
            coalesce(counted.proven_seq, 0), counted.founder
        FROM heads LEFT JOIN statistics_heads AS counted ON counted.room_id = heads.room_id
        """

    init(_ row: Row) throws {
        var counted: CountedPosition?
        if let epoch = try row.decode(String?.self, atIndex: 4) {
            counted = CountedPosition(
                epoch: epoch, seq: try row.decode(atIndex: 5), version: try row.decode(atIndex: 6))
        }
        self.init(
            stream: try row.decode(atIndex: 0),
            head: StreamHead(
                epoch: try row.decode(atIndex: 1),
                version: StreamVersion(seq: try row.decode(atIndex: 2), keyed: try row.decode(atIndex: 3))),
            counted: counted, proven: try row.decode(atIndex: 7), founder: try row.decode(UUID?.self, atIndex: 8))
    }
}

extension CountBucket {
    init(_ row: Row) throws {
        guard let step = CountStep(rawValue: try row.decode(atIndex: 0)) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a count has no known step")
        }
        self.init(step, at: try row.decode(atIndex: 1))
    }
}

extension EventCounts {
    init(_ row: Row, from column: Int) throws {
        self.init()
        for (place, field) in Self.numbers.enumerated() {
            self[keyPath: field] = try row.decode(atIndex: column + place)
        }
        playedMs = try row.decode(atIndex: column + Self.numbers.count)
    }
}

extension CountedPlay {
    init(_ row: Row) throws {
        guard let reason = Reason(rawValue: try row.decode(atIndex: 7)) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a play has no known reason")
        }
        self.init(
            entry: try row.decode(atIndex: 0), track: try row.decode(atIndex: 1), number: try row.decode(atIndex: 2),
            addedBy: try row.decode(atIndex: 3), startedAt: try row.decode(atIndex: 4),
            endedAt: try row.decode(atIndex: 5), playedMs: try row.decode(atIndex: 6), reason: reason,
            isPlay: try row.decode(atIndex: 8), isPublic: try row.decode(atIndex: 9))
    }
}

extension CountedTrack {
    init(_ row: Row) throws {
        self.init(
            track: try row.decode(atIndex: 0), artistKey: try row.decode(UUID?.self, atIndex: 1),
            title: try row.decode(atIndex: 2), artist: try row.decode(String?.self, atIndex: 3))
    }
}

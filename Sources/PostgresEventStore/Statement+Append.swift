import EventStorage

/// The parts that a batch of appends contains; its statement leaves out the others.
///
/// Most batches contain only events and keys; every part of a statement costs time on the server even if it is empty.
struct AppendParts: OptionSet, Sendable {
    let rawValue: Int

    /// A directory entry, a request to be forgotten, or a clearing; ``Statement/list`` follows.
    static let directory = AppendParts(rawValue: 1)
    /// An event.
    static let events = AppendParts(rawValue: 2)
    /// A keyed command.
    static let keys = AppendParts(rawValue: 4)
    /// A membership that began or ended.
    static let memberships = AppendParts(rawValue: 8)
    /// A change of an attachment.
    static let attachments = AppendParts(rawValue: 16)

    /// All combinations, each at the index that equals its raw value.
    static let combinations = (0..<32).map(AppendParts.init(rawValue:))

    init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The parts of a batch.
    init(of batch: [StreamAppend]) {
        self = []
        for part in batch {
            if part.changesDirectory { insert(.directory) }
            if !part.events.isEmpty { insert(.events) }
            if !part.keys.isEmpty { insert(.keys) }
            if !part.joined.isEmpty || !part.left.isEmpty { insert(.memberships) }
            if !part.attachments.isEmpty { insert(.attachments) }
        }
    }
}

extension Statement {
    /// Appends to many streams, or to one; the parameters are one array per column, those of the parts in the order
    /// below.
    ///
    /// `moved` updates the heads that have the expected version and epoch, in the order of the arrays, which is that of
    /// the rooms' ids (joins are nested loops, ``prepareSession``). Batches that overlap therefore wait for each other,
    /// but never in a cycle. A head that moved while the statement waited for its lock is compared again in its new
    /// state (READ COMMITTED re-evaluates the condition on the newest row version) and is left out. Every other part
    /// writes only for the rooms of `moved`. Since their heads had not moved, neither had the rooms' events, keys and
    /// memberships: the statement's snapshot shows their newest state. Only an unneeded attachment may have been deleted
    /// since; its insertion waits for such a deletion, and then inserts it. A batch that changes the directory notes
    /// what has moved, and ``list`` follows in the same transaction.
    ///
    /// The statement for one stream takes the head as plain values, and the parts without columns of rooms: most of the
    /// time of a small append is the statement's own.
    static func append(_ parts: AppendParts, toOne: Bool) -> Statement {
        (toOne ? appendsToOne : appends)[parts.rawValue]
    }

    private static let appends = AppendParts.combinations.map { parts in
        Statement(name: "append_\(parts.rawValue)", sql: text(of: parts, toOne: false))
    }

    private static let appendsToOne = AppendParts.combinations.map { parts in
        Statement(name: "append_to_one_\(parts.rawValue)", sql: text(of: parts, toOne: true))
    }

    private static func text(of parts: AppendParts, toOne: Bool) -> String {
        var parameters = 0
        /// Returns an `unnest` of the next arrays, side by side, with these columns' names.
        func unnest(_ name: String, _ columns: [String]) -> String {
            let numbers = columns.map { _ -> String in
                parameters += 1
                return "$\(parameters)"
            }
            return "unnest(\(numbers.joined(separator: ", "))) AS \(name) (\(columns.joined(separator: ", ")))"
        }
        /// Returns a source of rows with `room_id` and these columns, only those of rooms that have moved.
        ///
        /// `(… IN (SELECT …)) IS TRUE` keeps the planner from making a join of it: the statement probes a hash table,
        /// and its cost does not depend on the planner's estimates of the sizes.
        func rows(_ name: String, _ columns: [String]) -> String {
            if toOne { return "moved CROSS JOIN \(unnest(name, columns))" }
            return "\(unnest(name, ["room_id"] + columns)) WHERE (room_id IN (SELECT room_id FROM moved)) IS TRUE"
        }
        var text: String
        if toOne {
            parameters = 8
            text = """
                WITH moved AS (
                    UPDATE heads SET seq = $5, keyed = $6, tail = $8
                    WHERE room_id = $1 AND epoch = coalesce($2, epoch) AND seq = $3 AND keyed = $4
                        AND coalesce(tail = $7, true)
                    RETURNING room_id
                )
                """
        } else {
            let heads = unnest(
                "part",
                [
                    "room_id", "expected_epoch", "expected_seq", "expected_keyed", "new_seq", "new_keyed",
                    "expected_tail", "new_tail",
                ])
            text = """
                WITH moved AS (
                    UPDATE heads SET seq = new_seq, keyed = new_keyed, tail = new_tail
                    FROM \(heads)
                    WHERE heads.room_id = part.room_id AND heads.epoch = coalesce(part.expected_epoch, heads.epoch)
                        AND heads.seq = part.expected_seq AND heads.keyed = part.expected_keyed
                        AND coalesce(heads.tail = part.expected_tail, true)
                    RETURNING heads.room_id
                )
                """
        }
        if parts.contains(.events) {
            text += """
                , recorded AS (
                    INSERT INTO events (room_id, seq, at, type, payload, checksum)
                    SELECT room_id, seq, at, type, payload, checksum
                    FROM \(rows("event", ["seq", "at", "type", "payload", "checksum"]))
                )
                """
        }
        if parts.contains(.keys) {
            let columns = ["ordinal", "session_id", "key", "fingerprint", "seq", "result", "checksum"]
            text += """
                , remembered AS (
                    INSERT INTO command_keys (
                        room_id, slot, ordinal, session_id, key, fingerprint, seq, result, checksum)
                    SELECT room_id, ordinal % 1000, ordinal, session_id, key, fingerprint, seq, result, checksum
                    FROM \(rows("command", columns))
                    ON CONFLICT (room_id, slot) DO UPDATE SET
                        ordinal = excluded.ordinal, session_id = excluded.session_id, key = excluded.key,
                        fingerprint = excluded.fingerprint, seq = excluded.seq, result = excluded.result,
                        checksum = excluded.checksum
                )
                """
        }
        if parts.contains(.memberships) {
            text += """
                , joined AS (
                    INSERT INTO memberships (room_id, session_id)
                    SELECT room_id, session_id FROM \(rows("member", ["session_id"]))
                    ON CONFLICT DO NOTHING
                ), departed AS (
                    DELETE FROM memberships USING (SELECT room_id, session_id FROM \(rows("part", ["session_id"]))) AS member
                    WHERE memberships.session_id = member.session_id AND memberships.room_id = member.room_id
                )
                """
        }
        if parts.contains(.attachments) {
            text += """
                , attached AS (
                    INSERT INTO waveforms (room_id, waveform, data, unneeded_since)
                    SELECT room_id, waveform, data, unneeded_since
                    FROM \(rows("attachment", ["waveform", "data", "unneeded_since"]))
                    ON CONFLICT (room_id, waveform) DO UPDATE SET
                        data = excluded.data, unneeded_since = excluded.unneeded_since
                ), marked AS (
                    UPDATE waveforms SET unneeded_since = mark.unneeded_since
                    FROM (
                        SELECT room_id, waveform, unneeded_since FROM \(rows("part", ["waveform", "unneeded_since"]))
                    ) AS mark
                    WHERE waveforms.room_id = mark.room_id AND waveforms.waveform = mark.waveform
                )
                """
        }
        return parts.contains(.directory)
            ? text + ", \(noting("moved"))\nSELECT room_id FROM noted CROSS JOIN moved"
            : text + "\nSELECT room_id FROM moved"
    }

    /// Writes the directory's entries of the rooms that the transaction's append has moved; the parameters are one array
    /// per column, in the order of the rooms' ids.
    static let list = Statement(
        name: "list",
        sql: """
            UPDATE directory SET
                code = CASE WHEN is_listed THEN part.code ELSE directory.code END,
                name = CASE WHEN is_listed THEN part.name ELSE directory.name END,
                is_public = CASE WHEN is_listed THEN part.is_public ELSE directory.is_public END,
                lat = CASE WHEN is_listed THEN part.lat ELSE directory.lat END,
                lon = CASE WHEN is_listed THEN part.lon ELSE directory.lon END,
                created_at = CASE WHEN is_listed THEN part.created_at ELSE directory.created_at END,
                closed_at = CASE WHEN is_listed THEN part.closed_at ELSE directory.closed_at END,
                owner = CASE WHEN is_listed THEN part.owner ELSE directory.owner END,
                dj_name = CASE WHEN is_listed THEN part.dj_name ELSE directory.dj_name END,
                now_playing_title = CASE WHEN is_listed THEN part.now_playing_title
                    ELSE directory.now_playing_title END,
                now_playing_artist = CASE WHEN is_listed THEN part.now_playing_artist
                    ELSE directory.now_playing_artist END,
                forget_at = coalesce(part.forget_at, directory.forget_at),
                clearing_seq = CASE WHEN part.forget_at IS NULL
                    THEN coalesce(part.clearing_seq, directory.clearing_seq) END,
                cleared_seq = CASE WHEN part.forget_at IS NULL THEN directory.cleared_seq ELSE 0 END,
                listed_in = CASE WHEN is_listed THEN pg_current_xact_id() ELSE directory.listed_in END
            FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) AS part (
                room_id, is_listed, code, name, is_public, lat, lon, created_at, closed_at, owner, dj_name,
                now_playing_title, now_playing_artist, forget_at, clearing_seq)
            WHERE directory.room_id = part.room_id AND (part.room_id IN (\(notedRooms))) IS TRUE
            """)
}

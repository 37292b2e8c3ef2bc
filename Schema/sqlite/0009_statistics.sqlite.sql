-- Counts of what happens in rooms, beside the log. Every row follows from the log, except those of statistics_audience,
-- which the server observes.
--
-- Makes empty tables. The server counts what the log holds when it starts.

-- How far each room is counted: whoever adds counts moves this position in the same transaction.
CREATE TABLE statistics_heads (
    room_id    BLOB    NOT NULL PRIMARY KEY,
    epoch      TEXT    NOT NULL,            -- of the log that is counted
    version    INTEGER NOT NULL,            -- of the definitions; 0: the room counts for nothing, for ever
    proven_seq INTEGER NOT NULL DEFAULT 0,  -- position up to which the counts were proven
    seq        INTEGER NOT NULL             -- number of the last event that is counted
) STRICT, WITHOUT ROWID;

-- What happened in a room in a minute or a quarter of an hour; each event is in one row.
CREATE TABLE statistics_counts (
    room_id      BLOB    NOT NULL,
    step         INTEGER NOT NULL CHECK (step IN (1, 15)),  -- minutes
    bucket       INTEGER NOT NULL,                          -- its first minute, in minutes since 1970
    starts       INTEGER NOT NULL,
    plays        INTEGER NOT NULL,
    skips        INTEGER NOT NULL,
    votes        INTEGER NOT NULL,
    unvotes      INTEGER NOT NULL,
    requests     INTEGER NOT NULL,
    joins        INTEGER NOT NULL,
    leaves       INTEGER NOT NULL,
    tracks_added INTEGER NOT NULL,
    played_ms    INTEGER NOT NULL,
    PRIMARY KEY (room_id, step, bucket)
) STRICT, WITHOUT ROWID;

-- Each entry that was on air, and ended.
CREATE TABLE statistics_plays (
    room_id    BLOB    NOT NULL,
    ended_at   INTEGER NOT NULL,                              -- milliseconds since 1970
    entry      INTEGER NOT NULL,                              -- its number in the room
    track      BLOB    NOT NULL,                              -- the song's identity across rooms
    number     INTEGER NOT NULL,                              -- the song's number in the room
    added_by   INTEGER NOT NULL,                              -- the number of the member who added the song
    started_at INTEGER NOT NULL,
    played_ms  INTEGER NOT NULL,
    reason     INTEGER NOT NULL CHECK (reason IN (0, 1, 2)),  -- ended, skipped, replaced
    is_play    INTEGER NOT NULL,                              -- heard for long enough
    is_public  INTEGER NOT NULL,                              -- the room was public and counted across rooms when it ended
    PRIMARY KEY (room_id, ended_at, entry)
) STRICT, WITHOUT ROWID;
CREATE INDEX statistics_plays_ended_at ON statistics_plays (ended_at) WHERE is_public = 1 AND is_play = 1;
CREATE INDEX statistics_plays_track ON statistics_plays (track);

-- The songs that plays name.
CREATE TABLE statistics_tracks (
    track      BLOB NOT NULL PRIMARY KEY,
    artist_key BLOB,                      -- the artist's identity across rooms
    title      TEXT NOT NULL,
    artist     TEXT
) STRICT, WITHOUT ROWID;

-- What the server has seen of a room's listeners in a minute, as absolute values.
CREATE TABLE statistics_audience (
    room_id     BLOB    NOT NULL,
    minute      INTEGER NOT NULL,  -- minutes since 1970
    node        TEXT    NOT NULL,  -- the server; empty: all servers in a quarter of an hour
    peak        INTEGER NOT NULL,  -- most members online at once
    listened_ms INTEGER NOT NULL,  -- online members × time on air
    PRIMARY KEY (room_id, minute, node)
) STRICT, WITHOUT ROWID;

-- Hours that were over when plays of them were written or deleted: their days are to be computed again.
CREATE TABLE statistics_late (
    room_id BLOB    NOT NULL,
    hour    INTEGER NOT NULL,             -- hours since 1970
    PRIMARY KEY (room_id, hour)
) STRICT, WITHOUT ROWID;

-- The songs of all rooms in a span of time, replaced as a whole.
CREATE TABLE statistics_top (
    span      INTEGER NOT NULL,           -- hours
    bucket    INTEGER NOT NULL,           -- its first hour, in hours since 1970
    track     BLOB    NOT NULL,
    plays     INTEGER NOT NULL,
    rooms     INTEGER NOT NULL,           -- rooms of distinct owners
    played_ms INTEGER NOT NULL,
    PRIMARY KEY (span, bucket, track)
) STRICT, WITHOUT ROWID;

CREATE TABLE statistics_buckets (
    span        INTEGER NOT NULL,
    bucket      INTEGER NOT NULL,
    computed_at INTEGER NOT NULL,
    sealed_at   INTEGER,                  -- when every room was proven past its end
    rooms       INTEGER NOT NULL,
    plays       INTEGER NOT NULL,
    checksum    INTEGER,                  -- over its rows, when it was sealed
    PRIMARY KEY (span, bucket)
) STRICT, WITHOUT ROWID;

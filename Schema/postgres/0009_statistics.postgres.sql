-- Counts of what happens in rooms, beside the log. Every row follows from the log, except those of statistics_audience,
-- which servers observe.
--
-- Makes empty tables. Servers count what the log holds when they start.

-- How far each room is counted: whoever adds counts moves this position in the same statement.
CREATE TABLE statistics_heads (
    room_id    uuid    NOT NULL PRIMARY KEY,
    epoch      text    NOT NULL,                               -- of the log that is counted
    version    integer NOT NULL CHECK (version >= 0),          -- of the definitions; 0: the room counts for nothing, for ever
    proven_seq bigint  NOT NULL DEFAULT 0,                     -- position up to which the counts were proven
    seq        bigint  NOT NULL CHECK (seq >= 0)               -- number of the last event that is counted
) WITH (fillfactor = 60);

-- What happened in a room in a minute or a quarter of an hour; each event is in one row.
CREATE TABLE statistics_counts (
    room_id      uuid     NOT NULL,
    step         smallint NOT NULL CHECK (step IN (1, 15)),    -- minutes
    bucket       integer  NOT NULL,                            -- its first minute, in minutes since 1970
    starts       integer  NOT NULL,
    plays        integer  NOT NULL,
    skips        integer  NOT NULL,
    votes        integer  NOT NULL,
    unvotes      integer  NOT NULL,
    requests     integer  NOT NULL,
    joins        integer  NOT NULL,
    leaves       integer  NOT NULL,
    tracks_added integer  NOT NULL,
    played_ms    bigint   NOT NULL,
    PRIMARY KEY (room_id, step, bucket)
) WITH (fillfactor = 70);

-- Each entry that was on air, and ended.
CREATE TABLE statistics_plays (
    room_id    uuid     NOT NULL,
    ended_at   bigint   NOT NULL,                              -- milliseconds since 1970
    entry      bigint   NOT NULL,                              -- its number in the room
    track      uuid     NOT NULL,                              -- the song's identity across rooms
    number     bigint   NOT NULL,                              -- the song's number in the room
    added_by   bigint   NOT NULL,                              -- the number of the member who added the song
    started_at bigint   NOT NULL,
    played_ms  bigint   NOT NULL,
    reason     smallint NOT NULL CHECK (reason IN (0, 1, 2)),  -- ended, skipped, replaced
    is_play    boolean  NOT NULL,                              -- heard for long enough
    is_public  boolean  NOT NULL,                              -- the room was public and counted across rooms when it ended
    PRIMARY KEY (room_id, ended_at, entry)
);
CREATE INDEX statistics_plays_ended_at ON statistics_plays USING brin (ended_at) WITH (pages_per_range = 16);
CREATE INDEX statistics_plays_track ON statistics_plays (track);

-- The songs that plays name.
CREATE TABLE statistics_tracks (
    track      uuid NOT NULL PRIMARY KEY,
    artist_key uuid,                                           -- the artist's identity across rooms
    title      text NOT NULL,
    artist     text
);

-- What each server has seen of a room's listeners in a minute, as absolute values.
CREATE TABLE statistics_audience (
    room_id     uuid    NOT NULL,
    minute      integer NOT NULL,                              -- minutes since 1970
    node        text    NOT NULL,                              -- the server; empty: all servers in a quarter of an hour
    peak        integer NOT NULL,                              -- most members online at once
    listened_ms bigint  NOT NULL,                              -- online members × time on air
    PRIMARY KEY (room_id, minute, node)
);

-- Hours that were over when plays of them were written or deleted: their days are to be computed again.
CREATE TABLE statistics_late (
    room_id uuid    NOT NULL,
    hour    integer NOT NULL,                                  -- hours since 1970
    PRIMARY KEY (room_id, hour)
);

-- The songs of all rooms in a span of time, replaced as a whole.
CREATE TABLE statistics_top (
    span      smallint NOT NULL,                               -- hours
    bucket    integer  NOT NULL,                               -- its first hour, in hours since 1970
    track     uuid     NOT NULL,
    plays     integer  NOT NULL,
    rooms     integer  NOT NULL,                               -- rooms of distinct owners
    played_ms bigint   NOT NULL,
    PRIMARY KEY (span, bucket, track)
);

CREATE TABLE statistics_buckets (
    span        smallint NOT NULL,
    bucket      integer  NOT NULL,
    computed_at bigint   NOT NULL,
    sealed_at   bigint,                                        -- when every room was proven past its end
    rooms       integer  NOT NULL,
    plays       bigint   NOT NULL,
    checksum    bigint,                                        -- over its rows, when it was sealed
    PRIMARY KEY (span, bucket)
);

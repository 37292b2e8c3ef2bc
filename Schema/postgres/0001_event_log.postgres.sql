-- The event log, and what is derived from it in the transaction that appends.
--
-- Times are milliseconds since the Unix epoch. Rooms have UUIDv7 ids, so that the order of ids is that of creation.
-- Events are never updated or deleted. Every table of a room begins its key with room_id, so that all of them can be
-- distributed by it.

CREATE TABLE schema_migrations (
    number     bigint      NOT NULL PRIMARY KEY,
    name       text        NOT NULL,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- The head of each room's stream, and its row in the directory. Each append updates seq and keyed, which no index
-- holds: the free space lets the new row version stay on its page (a heap-only update).
CREATE TABLE rooms (
    room_id            uuid    NOT NULL PRIMARY KEY,
    epoch              text    NOT NULL,
    seq                bigint  NOT NULL CHECK (seq >= 0),    -- number of the last event
    keyed              bigint  NOT NULL CHECK (keyed >= 0),  -- ordinal of the last keyed command
    code               text    NOT NULL,
    name               text    NOT NULL,
    is_public          boolean NOT NULL,
    lat                double precision CHECK (lat BETWEEN -90 AND 90),
    lon                double precision CHECK (lon BETWEEN -180 AND 180 AND (lat IS NULL) = (lon IS NULL)),
    created_at         bigint  NOT NULL,
    closed_at          bigint,
    owner              uuid,
    dj_name            text,
    now_playing_title  text,
    now_playing_artist text
) WITH (fillfactor = 60);

CREATE UNIQUE INDEX rooms_open_code ON rooms (code) WHERE closed_at IS NULL;
CREATE INDEX rooms_closed_code ON rooms (code, closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX rooms_open_owner ON rooms (owner) WHERE closed_at IS NULL;
CREATE INDEX rooms_open_public ON rooms (room_id) WHERE closed_at IS NULL AND is_public;

CREATE TABLE events (
    room_id uuid   NOT NULL,
    seq     bigint NOT NULL,
    at      bigint NOT NULL,
    type    text   NOT NULL,
    payload jsonb  NOT NULL,
    PRIMARY KEY (room_id, seq)
) PARTITION BY HASH (room_id);

CREATE TABLE events_00 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 0);
CREATE TABLE events_01 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 1);
CREATE TABLE events_02 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 2);
CREATE TABLE events_03 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 3);
CREATE TABLE events_04 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 4);
CREATE TABLE events_05 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 5);
CREATE TABLE events_06 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 6);
CREATE TABLE events_07 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 7);
CREATE TABLE events_08 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 8);
CREATE TABLE events_09 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 9);
CREATE TABLE events_10 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 10);
CREATE TABLE events_11 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 11);
CREATE TABLE events_12 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 12);
CREATE TABLE events_13 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 13);
CREATE TABLE events_14 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 14);
CREATE TABLE events_15 PARTITION OF events FOR VALUES WITH (MODULUS 16, REMAINDER 15);

-- The newest keyed commands of each room, in a ring: the slot is the ordinal modulo the ring's size.
CREATE TABLE command_keys (
    room_id     uuid    NOT NULL,
    slot        integer NOT NULL CHECK (slot BETWEEN 0 AND 999),
    ordinal     bigint  NOT NULL,
    session_id  uuid    NOT NULL,
    key         text    NOT NULL,
    fingerprint bigint  NOT NULL,
    seq         bigint  NOT NULL,
    result      jsonb,
    PRIMARY KEY (room_id, slot)
) WITH (fillfactor = 80);

CREATE TABLE snapshots (
    room_id         uuid    NOT NULL,
    seq             bigint  NOT NULL,
    reducer_version bigint  NOT NULL,
    state           bytea   NOT NULL,
    PRIMARY KEY (room_id, seq)
);

-- The keys under which sessions made rooms.
CREATE TABLE creation_keys (
    session_id  uuid   NOT NULL,
    key         text   NOT NULL,
    room_id     uuid   NOT NULL,
    fingerprint bigint NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (session_id, key)
);

-- Which rooms a session is a member of. A session's row may go before its memberships do.
CREATE TABLE memberships (
    session_id uuid NOT NULL,
    room_id    uuid NOT NULL,
    PRIMARY KEY (session_id, room_id)
);

CREATE TABLE sessions (
    session_id uuid    NOT NULL PRIMARY KEY,
    token_hash bytea   NOT NULL UNIQUE,
    name       text    NOT NULL,
    created_at bigint  NOT NULL,
    expires_at bigint  NOT NULL,
    has_ended  boolean NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_ended ON sessions (expires_at) WHERE has_ended;

-- The event log, and what is derived from it in the transaction that appends.
--
-- Identifiers are 16-byte blobs, most significant byte first, so that their order is that of UUIDv7: oldest first.
-- Times are milliseconds since the Unix epoch. JSON is kept as text. Events are never updated or deleted.

-- The head of each room's stream, and its row in the directory.
CREATE TABLE rooms (
    room_id            BLOB    NOT NULL PRIMARY KEY,
    epoch              TEXT    NOT NULL,
    seq                INTEGER NOT NULL,  -- number of the last event
    keyed              INTEGER NOT NULL,  -- ordinal of the last keyed command
    code               TEXT    NOT NULL,
    name               TEXT    NOT NULL,
    is_public          INTEGER NOT NULL,
    latitude           REAL CHECK (latitude BETWEEN -90 AND 90),
    longitude          REAL CHECK (longitude BETWEEN -180 AND 180 AND (latitude IS NULL) = (longitude IS NULL)),
    created_at         INTEGER NOT NULL,
    closed_at          INTEGER,
    owner              BLOB,
    dj_name            TEXT,
    now_playing_title  TEXT,
    now_playing_artist TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX rooms_open_code ON rooms (code) WHERE closed_at IS NULL;
CREATE INDEX rooms_code ON rooms (code, closed_at);
CREATE INDEX rooms_open_owner ON rooms (owner) WHERE closed_at IS NULL;
CREATE INDEX rooms_open_public ON rooms (room_id) WHERE closed_at IS NULL AND is_public = 1;

CREATE TABLE events (
    room_id BLOB    NOT NULL REFERENCES rooms (room_id),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    payload TEXT    NOT NULL,
    PRIMARY KEY (room_id, seq)
) STRICT, WITHOUT ROWID;

-- The newest keyed commands of each room, in a ring: the slot is the ordinal modulo the ring's size.
CREATE TABLE command_keys (
    room_id     BLOB    NOT NULL REFERENCES rooms (room_id),
    slot        INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    session     BLOB    NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    result      TEXT,
    PRIMARY KEY (room_id, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
    room_id         BLOB    NOT NULL REFERENCES rooms (room_id),
    seq             INTEGER NOT NULL,
    reducer_version INTEGER NOT NULL,
    state           BLOB    NOT NULL,
    PRIMARY KEY (room_id, seq)
) STRICT;

-- The keys under which sessions made rooms.
CREATE TABLE creations (
    session     BLOB    NOT NULL,
    key         TEXT    NOT NULL,
    room_id     BLOB    NOT NULL REFERENCES rooms (room_id),
    fingerprint INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (session, key)
) STRICT, WITHOUT ROWID;

-- Which rooms a session is a member of. A session's row may go before its memberships do.
CREATE TABLE memberships (
    session BLOB NOT NULL,
    room_id BLOB NOT NULL REFERENCES rooms (room_id),
    PRIMARY KEY (session, room_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    session_id BLOB    NOT NULL PRIMARY KEY,
    token_hash BLOB    NOT NULL UNIQUE,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    has_ended  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE INDEX sessions_ended ON sessions (expires_at) WHERE has_ended = 1;

-- Rooms that are forgotten, and rooms that are removed.

-- An owner closed the room to be forgotten: from forget_at on, until forgotten_at, the payloads of its events are being
-- rewritten without its location and its members' names. A room with forget_at gets no snapshots.
ALTER TABLE rooms ADD COLUMN forget_at INTEGER;
ALTER TABLE rooms ADD COLUMN forgotten_at INTEGER;

CREATE INDEX rooms_to_forget ON rooms (forget_at) WHERE forget_at IS NOT NULL AND forgotten_at IS NULL;
CREATE INDEX rooms_closed ON rooms (closed_at) WHERE closed_at IS NOT NULL;

-- Rooms whose row in rooms is deleted, so that there is no such room any more, and whose rows elsewhere are being
-- deleted: so the references to rooms are not enforced.
CREATE TABLE removals (
    room_id BLOB NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_room ON memberships (room_id);
CREATE INDEX creations_room ON creations (room_id);

-- Rooms that are forgotten, and rooms that are removed.
--
-- Adding columns that may be null rewrites no table. Making the indexes keeps appends waiting while it lasts: some
-- seconds for a million rooms.

-- An owner closed the room to be forgotten: from forget_at on, until forgotten_at, the payloads of its events are being
-- rewritten without its location and its members' names. A room with forget_at gets no snapshots.
ALTER TABLE rooms
    ADD COLUMN forget_at    bigint,
    ADD COLUMN forgotten_at bigint;

CREATE INDEX rooms_to_forget ON rooms (forget_at) WHERE forget_at IS NOT NULL AND forgotten_at IS NULL;
CREATE INDEX rooms_closed ON rooms (closed_at) WHERE closed_at IS NOT NULL;

-- Rooms whose row in rooms is deleted, so that there is no such room any more, and whose rows elsewhere are being
-- deleted.
CREATE TABLE removals (
    room_id uuid NOT NULL PRIMARY KEY
);

CREATE INDEX memberships_room ON memberships (room_id);
CREATE INDEX creation_keys_room ON creation_keys (room_id);

-- Rooms whose location was cleared: nobody is shown one of before, and events of before are rewritten without it.

-- The last event that cleared the room's location; none in a room that is to be forgotten.
ALTER TABLE rooms ADD COLUMN clearing_seq INTEGER;
-- Events up to this one, as far as they come before that one, have been rewritten.
ALTER TABLE rooms ADD COLUMN cleared_seq INTEGER NOT NULL DEFAULT 0;

CREATE INDEX rooms_to_clear ON rooms (room_id) WHERE cleared_seq < clearing_seq;

-- Rooms that were cleared before there were the columns.
UPDATE rooms SET clearing_seq = (
    SELECT max(seq) FROM events
    WHERE events.room_id = rooms.room_id AND type = 'roomUpdated'
        AND json_extract(payload, '$.locationCleared') = 1
) WHERE forget_at IS NULL;

-- Rooms whose location was cleared: nobody is shown one of before, and events of before are rewritten without it.
--
-- Adding the columns rewrites no table. Finding the rooms that were cleared before reads every event once.

-- clearing_seq: the last event that cleared the room's location; none in a room that is to be forgotten.
-- cleared_seq: events up to this one, as far as they come before that one, have been rewritten.
ALTER TABLE rooms
    ADD COLUMN clearing_seq bigint,
    ADD COLUMN cleared_seq  bigint NOT NULL DEFAULT 0;

CREATE INDEX rooms_to_clear ON rooms (room_id) WHERE cleared_seq < clearing_seq;

UPDATE rooms SET clearing_seq = found.seq
FROM (
    SELECT room_id, max(seq) AS seq FROM events
    WHERE type = 'roomUpdated' AND payload @> '{"locationCleared": true}' GROUP BY room_id
) AS found
WHERE rooms.room_id = found.room_id AND rooms.forget_at IS NULL;

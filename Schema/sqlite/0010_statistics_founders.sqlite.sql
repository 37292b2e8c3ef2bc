-- Who made each room, so that rooms of one person count once in numbers across rooms, whoever owns them later.
--
-- Reads the plays for an index; no row is rewritten. The server counts rooms anew, one after the other, and writes the
-- founders then.

ALTER TABLE statistics_heads ADD COLUMN founder BLOB;  -- the session that made the room; NULL: not known

-- What numbers across rooms need of plays, by time.
DROP INDEX statistics_plays_ended_at;
CREATE INDEX statistics_plays_shared ON statistics_plays (ended_at, track, played_ms) WHERE is_play = 1 AND is_public = 1;

-- Who made each room, so that rooms of one person count once in numbers across rooms, whoever owns them later.
--
-- Fast: no row is rewritten. The server counts rooms anew, one after the other, and writes it then.

ALTER TABLE statistics_heads ADD COLUMN founder BLOB;  -- the session that made the room; NULL: not known

-- Who made each room, so that rooms of one person count once in numbers across rooms, whoever owns them later.
--
-- Fast: no row is rewritten. Servers count rooms anew, one after the other, and write it then.

ALTER TABLE statistics_heads ADD COLUMN founder uuid;  -- the session that made the room; NULL: not known

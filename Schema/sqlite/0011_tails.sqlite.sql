-- What a log has at its end: two histories of one room may count to the same number.
--
-- Fast: no row is rewritten.

ALTER TABLE heads ADD COLUMN tail INTEGER;  -- the checksum of the last event; NULL: not known

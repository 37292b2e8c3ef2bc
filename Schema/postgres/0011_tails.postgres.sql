-- What a log has at its end: two histories of one room may count to the same number.
--
-- Fast: no row is rewritten. A server of an earlier release leaves tails behind: stop all of them before.

ALTER TABLE heads ADD COLUMN tail bigint;  -- the checksum of the last event; NULL: not known

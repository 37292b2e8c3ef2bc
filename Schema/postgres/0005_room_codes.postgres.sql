-- Codes of eight characters, beside those of six.
--
-- The column holds either as it is: what changes is what a program must be able to read. A program that knows codes of
-- six characters alone does not know this migration, and so does not start on a log that may have others.

COMMENT ON COLUMN rooms.code IS
    'Six or eight characters of Crockford''s base 32, in upper case: eight where the room was made unlisted';

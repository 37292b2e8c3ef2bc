-- Checksums beside what the events alone cannot prove, and what tools need that read or write a whole log.
--
-- A row that an earlier release wrote has no checksum.

ALTER TABLE rooms ADD COLUMN checksum bigint;  -- over room_id and epoch; the rest follows from the events
ALTER TABLE events ADD COLUMN checksum bigint;
ALTER TABLE command_keys ADD COLUMN checksum bigint;
ALTER TABLE snapshots ADD COLUMN checksum bigint;

-- Holds a row from the beginning of an import to its end. A log with one is in part only, and nobody serves from it.
CREATE TABLE unfinished_imports (
    id integer NOT NULL PRIMARY KEY CHECK (id = 1)
);

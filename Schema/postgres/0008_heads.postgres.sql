-- The heads of rooms apart from their entries in the directory: what every append writes, apart from what few change.
--
-- Keeps appends waiting while it copies the heads: about five seconds for a million rooms. Nothing else is rewritten.

-- A server of an earlier release may still append: what it has committed is copied, and what it appends later fails.
LOCK TABLE rooms IN ACCESS EXCLUSIVE MODE;

-- The head of each room's stream. Every append updates seq and keyed, which no index holds: the free space lets the new
-- row version stay on its page (a heap-only update). They stand last, so that the write-ahead log takes only them.
CREATE TABLE heads (
    room_id  uuid   NOT NULL PRIMARY KEY,
    checksum bigint,                               -- over room_id and epoch; the rest follows from the events
    epoch    text   NOT NULL,
    seq      bigint NOT NULL CHECK (seq >= 0),     -- number of the last event
    keyed    bigint NOT NULL CHECK (keyed >= 0)    -- ordinal of the last keyed command
) WITH (fillfactor = 30);

INSERT INTO heads (room_id, checksum, epoch, seq, keyed)
SELECT room_id, checksum, epoch, seq, keyed FROM rooms ORDER BY room_id;

-- What is left: one entry for each head, written where it changes.
ALTER TABLE rooms DROP COLUMN epoch, DROP COLUMN seq, DROP COLUMN keyed, DROP COLUMN checksum;
ALTER TABLE rooms RESET (fillfactor);
ALTER TABLE rooms RENAME TO directory;

ALTER TABLE directory RENAME CONSTRAINT rooms_pkey TO directory_pkey;
ALTER TABLE directory RENAME CONSTRAINT rooms_lat_check TO directory_lat_check;
ALTER TABLE directory RENAME CONSTRAINT rooms_check TO directory_check;
ALTER INDEX rooms_open_code RENAME TO directory_open_code;
ALTER INDEX rooms_closed_code RENAME TO directory_closed_code;
ALTER INDEX rooms_open_owner RENAME TO directory_open_owner;
ALTER INDEX rooms_open_public RENAME TO directory_open_public;
ALTER INDEX rooms_to_forget RENAME TO directory_to_forget;
ALTER INDEX rooms_closed RENAME TO directory_closed;
ALTER INDEX rooms_listed_in RENAME TO directory_listed_in;
ALTER INDEX rooms_open_places RENAME TO directory_open_places;
ALTER INDEX rooms_to_clear RENAME TO directory_to_clear;

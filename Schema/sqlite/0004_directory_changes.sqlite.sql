-- Which rows of the directory were written last, and where rooms are.

-- What counts them.
CREATE TABLE directory_changes (
    id    INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    count INTEGER NOT NULL
) STRICT;

INSERT INTO directory_changes (id, count) VALUES (1, 0);

-- The count at the time when what the directory shows of a room was last written. Appends that leave that as it is
-- leave this too.
ALTER TABLE rooms ADD COLUMN listed_in INTEGER NOT NULL DEFAULT 0;

CREATE INDEX rooms_listed_in ON rooms (listed_in);

-- For whoever looks for rooms near a point in SQL.
CREATE INDEX rooms_open_places ON rooms (latitude, longitude)
    WHERE closed_at IS NULL AND is_public = 1 AND latitude IS NOT NULL;

-- Which rows of the directory were written last, and where rooms are.
--
-- Adding the column rewrites no table. Making the indexes keeps appends waiting while it lasts: some seconds for a
-- million rooms.

-- The transaction that last wrote what the directory shows of a room. Appends that leave that as it is leave this too,
-- so that no index changes with them.
ALTER TABLE rooms ADD COLUMN listed_in xid8 NOT NULL DEFAULT '0';
-- For rooms that are made by an older program, which does not know the column.
ALTER TABLE rooms ALTER COLUMN listed_in SET DEFAULT pg_current_xact_id();

CREATE INDEX rooms_listed_in ON rooms (listed_in);

-- For whoever looks for rooms near a point in SQL.
CREATE INDEX rooms_open_places ON rooms (lat, lon) WHERE closed_at IS NULL AND is_public AND lat IS NOT NULL;

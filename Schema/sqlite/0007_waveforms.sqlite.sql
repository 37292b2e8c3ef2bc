-- Waveforms of tracks, beside the events that name them.
--
-- An event of the type waveformSet names a waveform, and the row is written in the event's transaction. A program that
-- does not know such events does not know this migration, and so does not start on a log that may have some.

CREATE TABLE waveforms (
    room_id        BLOB NOT NULL REFERENCES rooms (room_id),
    waveform       TEXT NOT NULL,  -- base64url of the first 16 bytes of the data's SHA-256
    data           BLOB NOT NULL,
    unneeded_since INTEGER,        -- when the last track that had it lost it; null while a track has it
    PRIMARY KEY (room_id, waveform)
) STRICT;

CREATE INDEX waveforms_unneeded ON waveforms (unneeded_since) WHERE unneeded_since IS NOT NULL;

"""Makes what `test_migrations.py` migrates: the log of a released program, with every type of event in it.

    BACKLINE_PROGRAM=… python Tests/EndToEnd/Migrations/make.py NUMBER

NUMBER is the last migration that the program knows. Run once for a release that has a new one, with that release's
program; takes two minutes. Beside this file it leaves, for each store, the rows of the tables as SQL, and what the
program served of them as JSON; and the export of the embedded store.
"""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import backline  # noqa: E402
import postgres  # noqa: E402

TYPES = {
    "roomCreated", "memberJoined", "memberLeft", "memberRenamed", "roomUpdated", "roomClosed", "roleChanged",
    "memberBanned", "memberUnbanned", "tracksAdded", "tracksRemoved", "voteCast", "voteWithdrawn", "votesCleared",
    "entryEnqueued", "entryRemoved", "entryMoved", "playbackStarted", "playbackPaused", "playbackResumed",
    "playbackSeeked", "playbackStopped", "entryFinished",
}


#: The last migration of programs without waveforms.
WITHOUT_WAVEFORMS = 6


def types(number):
    """The types of events in the log of a program."""
    return TYPES | (set() if number <= WITHOUT_WAVEFORMS else {"waveformSet"})


def play(server, number):
    """Two open rooms and a closed one, with everything that can happen; returns the people, by name."""
    ana, ben, cyd, dan = people = [server.session(name) for name in ("Ana", "Ben Ünïcode 🎵", "Cyd", "Dan")]
    place = {"lat": 52.52, "lon": 13.405}
    kitchen = ana.create_room("Kitchen", key="kitchen", location=place)["room"]["state"]["id"]
    members = {
        person.name: person.command(kitchen, "join", f"join {number}")["result"]["member"]
        for number, person in enumerate((ben, cyd, dan))
    }
    ana.command(kitchen, "addTracks", "add", tracks=[
        {"source": "demo", "sourceId": "1", "title": "Blue Monday", "artist": "New Order", "album": "Substance",
         "durationMs": 448_000, "artworkUrl": "https://example.org/1.jpg"},
        *backline.tracks("Zwölf", "Éclair", "quote \" and \\ backslash", "Gone")])
    ana.command(kitchen, "removeTracks", tracks=[5])
    if number > WITHOUT_WAVEFORMS:
        for track in (1, 2, 1):
            ana.command(kitchen, "setWaveform", track=track, data=backline.waveform_text(bytes([track]) * 2_048))
    for person, track in ((ana, 1), (ben, 1), (cyd, 2), (dan, 3)):
        person.command(kitchen, "vote", f"vote {track}", track=track)
    ben.command(kitchen, "unvote", track=1)
    ana.command(kitchen, "setRole", member=members[ben.name], role="dj")
    for track in (1, 2, 3, 4):
        ben.command(kitchen, "enqueue", track=track)
    ben.command(kitchen, "move", entry=4, to=0)
    ben.command(kitchen, "dequeue", entry=3)
    ben.command(kitchen, "play")
    ben.command(kitchen, "pause")
    ben.command(kitchen, "seek", positionMs=61_000)
    ben.command(kitchen, "resume")
    ben.command(kitchen, "skip")
    ben.command(kitchen, "finish", entry=1)
    ben.command(kitchen, "skip")
    ana.command(kitchen, "kick", member=members["Cyd"], ban=True, reason="too loud")
    ana.command(kitchen, "kick", member=members["Dan"], ban=True)
    ana.command(kitchen, "unban", member=members["Dan"])
    dan.command(kitchen, "join", name="Daniel")
    dan.command(kitchen, "rename", name="Dan")
    ana.command(kitchen, "updateRoom", name="Cellar", settings={"skipRatio": 0.25, "maxWaitingPerMember": 3})
    ana.command(kitchen, "updateRoom", clearLocation=True, visibility="unlisted")
    ana.command(kitchen, "updateRoom", location=place, visibility="public")
    garden = cyd.create_room("Garden", visibility="unlisted")["room"]["state"]["id"]
    ana.command(garden, "join")
    cyd.command(garden, "transferOwnership", member=2)
    attic = dan.create_room("Attic", key="attic")["room"]["state"]["id"]
    dan.command(attic, "addTracks", tracks=backline.tracks("Last"))
    dan.command(attic, "leave", "leave")
    return people, [kitchen, garden, attic]


def tell(people, rooms):
    """What the program serves of it."""
    ana = people[0]
    told = []
    for room in rooms:
        snapshot = ana.room(room)["room"]
        told.append({
            "room": room, "epoch": snapshot["epoch"], "seq": snapshot["seq"], "state": snapshot["state"],
            "events": ana.events(room),
        })
    return {
        "sessions": [{"session": person.session, "token": person.token, "name": person.name} for person in people],
        "rooms": told,
    }


def make(number, store, rows):
    with backline.Server(store=store) as server:
        people, rooms = play(server, number)
        # When nobody has looked for a minute a room leaves memory, and its snapshot is kept.
        backline.eventually(lambda: int(rows("SELECT count(*) FROM snapshots")) >= len(rooms), "snapshots", 120)
        people[1].command(rooms[0], "vote", "after the snapshot", track=2)
        told = tell(people, rooms)
        found = {event["type"] for room in told["rooms"] for event in room["events"]}
        assert found == types(number), found ^ types(number)
        assert server.stop() == 0
    with open(os.path.join(HERE, f"{number:04}.{store[1]}.json"), "w", encoding="utf-8") as file:
        json.dump(told, file, ensure_ascii=False, indent=1, sort_keys=True)
        file.write("\n")


def write(number, store, statements):
    with open(os.path.join(HERE, f"{number:04}.{store}.sql"), "w", encoding="utf-8") as file:
        file.writelines(statement.rstrip("\n") + "\n" for statement in statements)


def main():
    number = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "backline.sqlite")

        def rows(statement):
            with contextlib.closing(sqlite3.connect(path)) as connection:
                return connection.execute(statement).fetchone()[0]

        make(number, ["--store", "sqlite", "--data", folder], rows)
        exported = backline.run("export", "--store", "sqlite", "--data", folder)
        assert exported.returncode == 0, exported
        with open(os.path.join(HERE, f"{number:04}.export.jsonl"), "w", encoding="utf-8") as file:
            file.write(exported.stdout)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            # A migration has put a row into this table already.
            write(number, "sqlite", (
                statement.replace('INSERT INTO "directory_changes"', 'INSERT OR REPLACE INTO "directory_changes"')
                for statement in connection.iterdump()
                if statement.startswith(("INSERT INTO", "CREATE TABLE schema_migrations"))))
        with contextlib.closing(postgres.Cluster()) as cluster:
            url = cluster.database()
            name = url.rpartition("/")[2]
            make(number, ["--store", "postgres", "--database-url", url, "--data", folder],
                 lambda statement: cluster.sql(statement, database=name))
            dump = subprocess.run(
                ["pg_dump", "--data-only", "--column-inserts", url], capture_output=True, text=True, check=True).stdout
            write(number, "postgres", (line for line in dump.splitlines() if line.startswith("INSERT INTO")))


if __name__ == "__main__":
    main()

"""Rooms that look back on an evening: their log tells it, and the server counts what the log tells."""

import contextlib
import math
import random
import sqlite3
import time
import uuid

import backline
import parties

MINUTE = 60_000
HOUR = 60 * MINUTE

#: For the server: two rooms are enough to name a song.
OPTIONS = ("--statistics-minimum-rooms", "2")

#: Songs that Ana has added, with lengths; the first has a name that is as long as they come.
OWN = (("The very long title of a song that somebody recorded in one take, live at the harbour", "A band whose name is not "
        "short either, and their friends", 214_000), ("Polaroid Sea", "Noor", 187_000), ("Passo", "Zonda", 201_000))


class Evening:
    """A party whose guests voted and heard songs for eight hours, and rooms around it that play some of the same."""

    def __init__(self, server, hours=8):
        """`server` runs with the embedded store; it is started again."""
        self.chance = random.Random(7)
        self.room = parties.Party(server, "Rooftop at Ribeira", location=parties.PORTO, settings={"guestsMayAdd": True})
        self.room.add(parties.collection(58))
        self.room.join(*parties.GUESTS)
        self.ana = self.room.admit(self.room.line.session("Ana"))
        own = [parties.track(*song) for song in OWN]
        self.own = self.room.tell(self.ana, "addTracks", tracks=own)["tracks"]
        self.room.ids |= {song[0]: number for song, number in zip(OWN, self.own, strict=True)}
        self._vote()
        self.others = [parties.Party(server, name, owner_name=owner, location=parties.PORTO)
                       for name, owner in (("Garden at Foz", "Ines"), ("Late shift", "Rui"))]
        for other in self.others:
            other.add(parties.collection(12))
        assert server.stop() == 0
        self.now = int(time.time() * 1000)
        self.began = self.now - hours * HOUR
        folder = server.options[server.options.index("--data") + 1]
        with contextlib.closing(sqlite3.connect(f"{folder}/backline.sqlite")) as database, database:
            self._shift(database)
        server.start()
        for party in (self.room, *self.others):
            party.line = parties.Line(server)
        self._play()
        self.room.play("Maré Alta")
        self.room.arrive("Mina", *parties.GUESTS[:5])
        for party in (self.room, *self.others):
            self._counted(party)

    def close(self):
        for party in (self.room, *self.others):
            party.close()

    def end(self):
        for party in (self.room, *self.others):
            party.end()

    def _vote(self):
        titles = list(self.room.ids)
        for turn in range(14):
            for name in self.chance.sample(parties.GUESTS, 9):
                wanted = titles[(turn * 3 + self.chance.randrange(5)) % 40]
                self.room.vote(wanted, name)
            if turn < 12:
                self.room.tell("Mina", "removeTracks", tracks=[self.room.ids.pop(titles[40 + turn])])
        for title, _, votes in parties.WANTED:
            self.room.vote(title, *parties.GUESTS[-votes:])

    def _shift(self, database):
        """Spreads what happened over the evening, and has servers that saw its listeners."""
        for party, began in (self.room, self.began), *((other, self.now - 2 * HOUR) for other in self.others):
            room = uuid.UUID(party.id).bytes
            last, = database.execute("SELECT max(seq) FROM events WHERE room_id = ?", (room,)).fetchone()
            for seq in range(1, last + 1):
                share = max(0, seq - 20) / max(1, last - 20)
                at = began + int((self.now - 4 * MINUTE - began) * (share ** 0.8 + 0.03 * math.sin(share * 19) * (1 - share)))
                database.execute("UPDATE events SET at = ?, checksum = NULL WHERE room_id = ? AND seq = ?", (at, room, seq))
        for table in "heads", "counts", "plays", "tracks":
            database.execute(f"DELETE FROM statistics_{table}")
        room = uuid.UUID(self.room.id).bytes
        first, last = self.began // MINUTE + 20, self.now // MINUTE
        for minute in range(first, last):
            share = (minute - first) / (last - first)
            # For a while no server saw anybody.
            here = round(14 * math.sin(math.pi * (0.08 + 0.86 * share)) + 1.5 * math.sin(share * 40))
            if here > 0 and not 0.42 < share < 0.5:
                database.execute("INSERT OR REPLACE INTO statistics_audience VALUES (?, ?, 'a', ?, ?)", (room, minute, here, here * 50_000))

    def _play(self):
        at, played, titles = self.began + 25 * MINUTE, [], [title for title, _ in zip(self.room.ids, range(24))]
        while at < self.now - 12 * MINUTE:
            heard = self.chance.randrange(175, 245) * 1000
            own = len(played) in (9, 30, 52)
            title = OWN[(len(played) // 20) % 3][0] if own else self.chance.choice(titles[:6] if self.chance.random() < 0.5 else titles)
            skipped = self.chance.random() < 0.06
            heard = 21_000 if skipped else heard
            played.append(self._item(self.room, title, at, heard, "skipped" if skipped else "ended"))
            # Now and then the music rests.
            at += heard + (self.chance.randrange(8, 24) * MINUTE if self.chance.random() < 0.12 else 2_000)
        self._sync(self.room, played)
        for number, other in enumerate(self.others):
            at, played = self.now - 50 * MINUTE, []
            for title in titles[:6 - number] * 2:
                played.append(self._item(other, title, at, 190_000, "ended"))
                at += 195_000
            self._sync(other, played)

    @staticmethod
    def _item(party, title, at, heard, reason):
        return {"track": party.ids[title], "startedAtMs": at, "playedMs": heard, "reason": reason}

    @staticmethod
    def _sync(party, played):
        party.tell("Mina", "syncDeck", queue=[], playback={"status": "stopped"}, played=played)

    @staticmethod
    def _counted(party):
        def is_counted():
            head = party.line.request(party.mina.token, "GET", f"/v1/rooms/{party.id}")["room"]["seq"]
            return party.line.request(party.mina.token, "GET", f"/v1/rooms/{party.id}/statistics")["seq"] >= head

        backline.eventually(is_counted, "the room is counted")

"""Rooms near a point whose rows other programs wrote without the mark by which changes are found."""

import contextlib
import os
import sqlite3
import uuid

import pytest

import backline
from test_nearby import ELSEWHERE, HERE, PLAIN, Watch, make, names, search


class Rows:
    """The table of rooms, written directly."""

    def __init__(self, store, cluster):
        self.options = dict(zip(store[::2], store[1::2]))
        self.cluster = cluster
        self.embedded = self.options["--store"] == "sqlite"
        self.lat, self.lon = ("latitude", "longitude") if self.embedded else ("lat", "lon")

    def run(self, statement):
        if not self.embedded:
            return self.cluster.sql(statement, self.options["--database-url"].rsplit("/", 1)[1])
        path = os.path.join(self.options["--data"], "backline.sqlite")
        with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=backline.PATIENCE)) as file:
            return file.execute(statement).fetchall()

    def id(self, room):
        return f"X'{uuid.UUID(room).hex}'" if self.embedded else f"'{room}'"

    def update(self, room, change):
        self.run(f"UPDATE directory SET {change} WHERE room_id = {self.id(room)}")

    def delete(self, room):
        self.run(f"DELETE FROM directory WHERE room_id = {self.id(room)}")

    def copy(self, room, name):
        """A row like a room's, with the smallest possible mark, as an earlier dump contains it."""
        made = backline.room_id()
        self.run(
            f"INSERT INTO directory (room_id, code, name, is_public, {self.lat}, {self.lon}, created_at, listed_in)"
            f" SELECT {self.id(made)}, '{made[:8]}', '{name}', is_public, {self.lat}, {self.lon}, created_at,"
            f" {0 if self.embedded else chr(39) + '0' + chr(39)} FROM directory"
            f" WHERE room_id = {self.id(room)}")
        return made


@pytest.fixture
def rows(storage, request):
    embedded = "sqlite" in storage
    return Rows(storage, None if embedded else request.getfixturevalue("cluster"))


def test_rooms_that_were_written_without_a_mark_are_shown(servers, storage, rows):
    server = servers(*PLAIN, store=storage).start()
    ana = server.session("Ana")
    rooms = {name: make(ana, name) for name in ("stays", "renamed", "moves", "closes", "hides", "goes")}
    distant = make(ana, "comes", ELSEWHERE)
    with ana.socket() as client:
        watch = Watch(client)
        watch.until(lambda listed: len(listed) == 6, "the rooms that there are")
        rows.update(rooms["renamed"], "name = 'new name'")
        rows.update(rooms["moves"], f"{rows.lat} = {ELSEWHERE['lat']}, {rows.lon} = {ELSEWHERE['lon']}")
        rows.update(rooms["closes"], "closed_at = 1")
        rows.update(rooms["hides"], f"is_public = {0 if rows.embedded else 'false'}")
        rows.delete(rooms["goes"])
        rows.update(distant, f"{rows.lat} = {HERE['lat']}, {rows.lon} = {HERE['lon']}")
        rows.copy(rooms["stays"], "copied")
        watch.until(
            lambda listed: sorted(names(listed)) == ["comes", "copied", "new name", "stays"], "the rooms as they are")
        assert sorted(names(search(ana))) == ["comes", "copied", "new name", "stays"]
        assert names(search(ana, ELSEWHERE)) == ["moves"]

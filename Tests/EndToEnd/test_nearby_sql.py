"""The queries of Documentation/Operations.md for rooms near a point, unchanged, compared with the server's answers."""

import contextlib
import os
import random
import re
import sqlite3
import uuid

import backline
from test_nearby import PLAIN, ask

COUNT = 8_000
"""The number of rooms, without a few more at the same locations."""
ALL = 20_037_508
PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "Documentation", "Operations.md")


def blocks():
    """The code blocks of the section: for psql and for sqlite3."""
    with open(PAGE, encoding="utf-8") as file:
        section = file.read().split("\n## Rooms near a point\n")[1].split("\n## ")[0]
    return re.findall(r"^```\w*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)


def rows(dice):
    """Rooms in the country, in a city, around both poles and along the antimeridian, many of them at one location."""
    places = [(dice.uniform(-90, 90), dice.uniform(-180, 180)) for _ in range(COUNT // 2)]
    places += [(dice.gauss(52.52, 0.05), dice.gauss(13.405, 0.08)) for _ in range(COUNT // 4)]
    places += [(dice.choice([-1, 1]) * dice.uniform(89.9, 90), dice.uniform(-180, 180)) for _ in range(COUNT // 8)]
    places += [(dice.uniform(9.9, 10.1), dice.choice([-1, 1]) * dice.uniform(179.9, 180)) for _ in range(COUNT // 8)]
    fixed = [(90.0, 0.0), (-90.0, 0.0), (10.0, 180.0), (52.52, 13.405), (0.0, 0.0)]
    places += [place for place in fixed for _ in range(40)]
    for number, (lat, lon) in enumerate(places):
        hidden = number % 50  # Closed, unlisted or nowhere.
        where = (None, None) if hidden == 2 else (lat, lon)
        yield (
            uuid.UUID(int=dice.getrandbits(128)), f"N{number}", f"Room {number}", hidden != 1, *where,
            1 if hidden == 0 else None)


class Postgres:
    def __init__(self, store, cluster, dice):
        self.cluster = cluster
        self.database = store[store.index("--database-url") + 1].rsplit("/", 1)[1]
        self.block = blocks()[0]

        def text(value):
            return "NULL" if value is None else f"'{value}'"
        values = ",\n".join(f"({', '.join(map(text, row))}, 1)" for row in rows(dice))
        cluster.script(
            "INSERT INTO directory (room_id, code, name, is_public, lat, lon, closed_at, created_at)"
            f" VALUES {values};\nANALYZE directory;", self.database)

    def ask(self, **numbers):
        """Runs the block, unchanged or with other numbers; returns ids and distances."""
        block = self.block
        for name, value in numbers.items():
            block, count = re.subn(rf"\\set {name} \S+", lambda _: f"\\set {name} {value}", block)
            assert count == 1, name
        rows = [line.split("|") for line in self.cluster.script(block, self.database).splitlines()]
        return [(row[0], float(row[3])) for row in rows]

    def plan(self):
        return self.cluster.script(self.block.replace("SELECT room_id", "EXPLAIN SELECT room_id"), self.database)


class Embedded:
    def __init__(self, store, dice):
        self.path = os.path.join(store[store.index("--data") + 1], "backline.sqlite")
        self.block = blocks()[1]
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.executemany(
                "INSERT INTO directory (room_id, code, name, is_public, latitude, longitude, closed_at, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
                [(row[0].bytes, *row[1:]) for row in rows(dice)])
            file.commit()

    def run(self, before="", **numbers):
        # The shell's own commands; the module has no shell.
        parameters = dict(re.findall(r"^\.parameter set :(\w+) (\S+)$", self.block, re.MULTILINE))
        assert numbers.keys() <= parameters.keys()
        parameters = {name: float(value) for name, value in {**parameters, **numbers}.items()}
        parameters["rooms"] = int(parameters["rooms"])
        query = "".join(line for line in self.block.splitlines() if not line.startswith("."))
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            return file.execute(before + query, parameters).fetchall()

    def ask(self, **numbers):
        return [(str(uuid.UUID(row[0])), row[3]) for row in self.run(**numbers)]

    def plan(self):
        return str(self.run(before="EXPLAIN QUERY PLAN "))


def test_the_operators_query_gives_what_a_search_gives(servers, storage, request, seed):
    dice = random.Random(seed)
    if "sqlite" in storage:
        table = Embedded(storage, dice)
    else:
        table = Postgres(storage, request.getfixturevalue("cluster"), dice)
    ana = servers(*PLAIN, store=storage).start().session("Ana")
    # Nothing changes from here on: an answer is right however long it takes.
    backline.eventually(lambda: ask(ana, {"lat": 0, "lon": 0}).status == 200, "the rooms are read")

    assert "directory_open_places" in table.plan(), table.plan()
    assert len(table.ask()) == 50
    origins = [
        (52.52, 13.405), (90, 0), (-90, 77), (90, -180), (89.95, 10), (-89.95, -170), (0, 0), (-33.5, 151.1),
    ]
    # Of the 1,000 rooms along the antimeridian the 200 nearest reach over it: they fill a circle of more than 0.04°
    # around each of these, a fifth of it or more beyond the line.
    astride = [(10, 180), (10, -180), (9.97, 179.99), (10.03, -179.99)]
    astride += [(dice.uniform(9.95, 10.05), dice.choice([-1, 1]) * dice.uniform(179.99, 180)) for _ in range(2)]
    sizes = [(1, 50), (3_000, 200), (40_000, 200), (ALL, 200), (ALL, 7)]
    origins += [(dice.uniform(-90, 90), dice.uniform(-180, 180)) for _ in range(4)]
    for lat, lon in origins + astride:
        places = []
        for meters, limit in sizes:
            found = ask(ana, {"lat": lat, "lon": lon}, radiusMeters=meters, limit=limit).expect(200)["rooms"]
            rows = table.ask(lat=lat, lon=lon, meters=meters, rooms=limit)
            question = f"seed {seed}: {lat}, {lon} within {meters} m, {limit} rooms"
            assert [row[0] for row in rows] == [room["id"] for room in found], question
            assert all(abs(row[1] - room["distanceMeters"]) < 0.001 for row, room in zip(rows, found)), question
            assert len(found) == limit or meters < ALL, question
            places += [room["location"] for room in found]
        if (lat, lon) in astride:
            assert min(place["lon"] for place in places) < -179.9 and max(place["lon"] for place in places) > 179.9
        if abs(lat) == 90:
            assert max(place["lon"] for place in places) - min(place["lon"] for place in places) > 180

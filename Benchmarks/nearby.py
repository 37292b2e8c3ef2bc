#!/usr/bin/env python3
"""The nearest rooms: the index in a process of its own beside four peers, on the same rooms and queries.

    swift build -c release --product NearbyLoad
    Benchmarks/nearby.py [--rooms 1000000] [--queries 1000] [--rounds 3] [--only sqlite,postgis,btree,redis]
                         [--out FILE]

Half of the rooms and queries are anywhere on the Earth. The other half are around 200 cities, normally distributed with
a deviation of 5 km; the n-th city has a share proportional to 1/n. One client asks for the 50 nearest (--limit) within
1, 10 and 100 km (--radii, metres) and waits for each answer.

index      NearbyIndex, called in its process
sqlite     R*Tree in its process, in memory: box, then Haversine as a function in C
postgis    geography with a GiST index: ST_DWithin and KNN order, on the sphere
btree      PostgreSQL, (lat, lon) in a B-tree: box, then Haversine in SQL
redis      GEOSEARCH

Every answer is compared with that of a brute-force search. Exits with 1 if an answer of the index differs in ids, in
order or by more than 1 mm, or if a line is missed.
"""

import bisect
import contextlib
import itertools
import json
import math
import os
import random
import socket
import statistics
import struct
import subprocess
import tempfile
import time

import servers

LOAD = os.path.join(servers.TREE, ".build", "release", "NearbyLoad")
PEER = os.path.join(servers.HERE, "load", "nearby")
NAMES = {
    "sqlite": "SQLite R*Tree, in process", "postgis": "PostGIS, ST_DWithin and KNN order",
    "btree": "PostgreSQL, B-tree box and Haversine", "redis": "Redis GEOSEARCH",
}
SERVERS = ("postgis", "btree", "redis")


def add_options(parser):
    parser.add_argument("--rooms", type=int, default=1_000_000, help="number of rooms")
    parser.add_argument("--queries", type=int, default=1_000, help="number of locations to search around")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions of each query, whose median counts")
    parser.add_argument("--runs", type=int, default=3, help="runs of the index, for the median; peers have one")
    parser.add_argument("--seed", type=int, default=1, help="seed of rooms and queries")
    parser.add_argument("--radii", type=servers.numbers, default=[1_000, 10_000, 100_000], help="metres")
    parser.add_argument("--limit", type=int, default=50, help="number of rooms in an answer")
    parser.add_argument("--cell", type=float, default=0, help="cells that locations are rounded to, metres")
    parser.add_argument("--program", default=LOAD, help="the load program")
    parser.add_argument("--only", default=",".join(NAMES), help="the peers that are measured")


class Data:
    """Rooms and queries, in files that every program reads."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.rooms, self.queries = os.path.join(folder, "rooms"), os.path.join(folder, "queries")
        self.random = random.Random(options.seed)
        self.cities = [self._anywhere(math.sin(math.radians(65))) for _ in range(200)]
        self.shares = list(itertools.accumulate(1 / rank for rank in range(1, 201)))
        with open(self.rooms, "wb") as file:
            for number in range(options.rooms):
                file.write(self.random.randbytes(16) + struct.pack("=dd", *self._place(number)))
        with open(self.queries, "wb") as file:
            for number in range(options.queries):
                file.write(struct.pack("=dd", *self._place(number)))

    def _anywhere(self, highest=1.0):
        latitude = math.degrees(math.asin(self.random.uniform(-highest, highest)))
        return latitude, self.random.uniform(-180, 180)

    def _place(self, number):
        if number % 2:
            return self._anywhere()
        city = bisect.bisect(self.shares, self.random.uniform(0, self.shares[-1]))
        latitude, longitude = self.cities[min(city, 199)]
        deviation = 5 / 111.195
        longitude += self.random.gauss(0, deviation) / math.cos(math.radians(latitude))
        return latitude + self.random.gauss(0, deviation), (longitude + 180) % 360 - 180

    def arguments(self, answers):
        return [
            "--rooms", self.rooms, "--queries", self.queries, "--radii", ",".join(map(str, self.options.radii)),
            "--limit", str(self.options.limit), "--answers", answers,
        ]

    def answers(self, name):
        """The answers of a program: for each query a list of ids and distances."""
        with open(self.path(name), "rb") as file:
            content = file.read()
        found, at = [], 0
        for _ in range(len(self.options.radii) * self.options.queries):
            (count,) = struct.unpack_from("=Q", content, at)
            at += 8
            found.append([struct.unpack_from("=16sd", content, at + 24 * n) for n in range(count)])
            at += 24 * count
        return found

    def path(self, name):
        return os.path.join(self.folder, name)


def run(command):
    """Runs a load; returns the JSON object that it prints."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def index(data, options):
    runs = []
    for number in range(options.runs):
        servers.say(f"index, run {number + 1} of {options.runs}")
        runs.append(run([
            options.program, "measure", *data.arguments(data.path("index")), "--rounds", str(options.rounds),
            "--cell", str(options.cell),
        ]))
    return {name: statistics.median(figures[name] for figures in runs) for name in runs[0]}


def peer(name, data, options):
    servers.say(name)
    with place(name, data.folder) as at:
        return run([
            PEER, name, *data.arguments(data.path(name)), "--rounds", str(options.rounds), *(["--at", at] if at else [])
        ])


@contextlib.contextmanager
def place(name, folder):
    """The address of a running peer."""
    if name in ("postgis", "btree"):
        from postgres import Cluster

        with servers.on_server_cpu():
            cluster = Cluster()
        try:
            for setting in ("shared_buffers = '1GB'", "maintenance_work_mem = '512MB'", "max_wal_size = '8GB'"):
                cluster.sql(f"ALTER SYSTEM SET {setting}", "postgres")
            cluster.stop("fast")
            with servers.on_server_cpu():
                cluster.start()
            yield cluster.database()
        finally:
            cluster.close()
    elif name == "redis":
        port = servers.free_port()
        with servers.on_server_cpu():
            process = subprocess.Popen(
                ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                 "--dir", folder], stdout=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield str(port)
        finally:
            process.terminate()
            process.wait(10)
    else:
        yield None


def compare(found, truth, size):
    """How many of `size` answers for each radius have the same ids in the same order, and in any order."""
    ordered, same = [], []
    for start in range(0, len(truth), size):
        pairs = list(zip(found[start:start + size], truth[start:start + size], strict=True))
        ordered.append(sum([i for i, _ in a] == [i for i, _ in b] for a, b in pairs))
        same.append(sum({i for i, _ in a} == {i for i, _ in b} for a, b in pairs))
    return ordered, same


def check(found, truth, out):
    for number, (answer, expected) in enumerate(zip(found, truth, strict=True)):
        if [i for i, _ in answer] != [i for i, _ in expected]:
            out.fail(f"the index's answer {number} has other ids, or in another order")
        elif any(abs(a - b) > 0.001 for (_, a), (_, b) in zip(answer, expected, strict=True)):
            out.fail(f"the index's answer {number} has other distances")


def lines(options, figures, out):
    """The lines, each as a row: the subject, the figure, the line, and whether it is met."""
    scale = options.rooms / 1_000_000
    own = figures["index"]
    wanted = [
        ("inserts, s", own["inserts_s"], 2 * scale, "2 s a million"),
        ("bytes a room", own["bytes_per_room"], 120, "what is allowed"),
    ]
    for radius in options.radii:
        p50, p99, name = f"{radius}_us_p50", f"{radius}_us_p99", f"{radius // 1000} km"
        if "sqlite" in figures:
            wanted.append((f"{name}, median µs", own[p50], figures["sqlite"][p50] / 2, "half of SQLite's"))
        if rivals := [figures[peer][p50] for peer in SERVERS if peer in figures]:
            wanted.append((f"{name}, median µs", own[p50], min(rivals) / 10, "a tenth of the fastest server's"))
        if "postgis" in figures:
            wanted.append((f"{name}, p99 µs", own[p99], figures["postgis"][p99] / 10, "a tenth of PostGIS's"))
        wanted.append((f"{name}, p99 µs", own[p99], 250, "250 µs"))
    for what, measured, line, words in wanted:
        if measured > line:
            out.fail(f"{what}: {measured:.1f}, the line is {line:.1f} ({words})")
        yield what, f"{measured:.1f}", f"≤ {line:.1f}, {words}", "yes" if measured <= line else "**no**"


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    if not os.access(options.program, os.X_OK):
        raise SystemExit(f"there is no {options.program}: swift build -c release --product NearbyLoad")
    out = servers.Results(options.out)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        servers.say("rooms and queries")
        data = Data(folder, options)
        figures, right = {"index": index(data, options)}, {}
        if not options.cell:
            servers.say("looking at every room")
            run([PEER, "truth", *data.arguments(data.path("truth")), "--rounds", "1"])
            truth = data.answers("truth")
            check(data.answers("index"), truth, out)
            right["index"] = compare(data.answers("index"), truth, options.queries)
            for name in [name for name in options.only.split(",") if name]:
                figures[name] = peer(name, data, options)
                right[name] = compare(data.answers(name), truth, options.queries)
    for name, found in figures.items():
        out.keep({"name": name, **found, "right": right.get(name)})

    def row(name):
        found = figures[name]
        size = found["bytes_per_room"] if name == "index" else found["index_bytes"] / options.rooms
        return (
            NAMES.get(name, "the index, in process"),
            *(f"{found[f'{radius}_us_p50']:,.1f} / {found[f'{radius}_us_p99']:,.1f}" for radius in options.radii),
            f"{found['inserts_s']:.1f}", f"{size:.0f}",
            *(" ".join(map(str, right[name][part])) if name in right else "" for part in (0, 1)),
        )

    servers.table(
        ("median / p99, µs", *(f"{radius // 1000} km" for radius in options.radii), "inserts, s", "bytes a room",
         f"right of {options.queries}", "right in any order"),
        [row(name) for name in figures])
    servers.table(("line", "measured", "", "met"), list(lines(options, figures, out)))
    out.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A room of 10,000 tracks and 2,000 members: its snapshot, the delta of a vote, and the time of decisions.

    swift build -c release --product backline
    swift build -c release --product EventLogLoad
    Benchmarks/large_room.py [--tracks 10000] [--members 2000] [--runs 30] [--out FILE]

The snapshot is timed at the client, over TLS, from sending `subscribe` to the message's last byte. A snapshot is cold
if a vote has changed the room since it was encoded last, else warm. Decisions are timed in a process without sockets.
Exits with 1 if a line is missed.
"""

import concurrent.futures
import json
import os
import statistics
import subprocess
import time

import servers

LOAD = os.path.join(servers.TREE, ".build", "release", "EventLogLoad")
COMPRESSION = ["Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover"]


def add_options(parser):
    parser.add_argument("--tracks", type=int, default=10_000, help="tracks in the pool")
    parser.add_argument("--members", type=int, default=2_000, help="members, the owner among them")
    parser.add_argument("--runs", type=int, default=30, help="snapshots of each kind, and votes")


def join(server, room, number):
    """Makes a session and joins the room with it."""
    person = server.session(f"Member {number}")
    person.command(room, "join")
    return person


def snapshot(server, person, room, headers=()):
    """Follows a room on a connection of its own.

    Returns the milliseconds until the whole snapshot has arrived, its bytes, and the server's CPU time in seconds.
    """
    import backline

    with backline.RawSocket(server, person.token, headers=headers) as socket:
        socket.receive_frame()
        before, began = servers.cpu_seconds(server.process.pid), time.perf_counter()
        socket.send({"type": "subscribe", "id": 1, "room": room})
        while True:
            opcode, payload = socket.receive_frame()
            took = (time.perf_counter() - began) * 1e3
            if opcode in (1, 2) and len(payload) > 10_000:
                return took, len(payload), servers.cpu_seconds(server.process.pid) - before


class Votes:
    """Members vote in turn, each for a track of its own."""

    def __init__(self, people, room):
        self.people, self.room, self.number = people, room, 0

    def cast(self):
        """Casts one vote; returns the room's new position."""
        person = self.people[self.number % len(self.people)]
        self.number += 1
        return person.command(self.room, "vote", track=self.number)["seq"]


def measure_snapshots(options, server, votes, out):
    found = {}
    watcher = server.session("Watcher")
    for kind, headers in (("", ()), (", compressed", COMPRESSION)):
        times, used = {"cold": [], "warm": []}, {"cold": [], "warm": []}
        for _ in range(options.runs):
            votes.cast()
            for name in times:
                took, size, seconds = snapshot(server, watcher, votes.room, headers)
                times[name].append(took)
                used[name].append(seconds * 1e3)
        for name, values in times.items():
            found[f"{name}{kind}"] = {
                "p50": statistics.median(values), "most": max(values), "cpu": statistics.median(used[name]),
                "bytes": size}
    out.keep({"name": "snapshot", **found})
    return found


def measure_deltas(options, server, votes, out):
    """The largest delta of a single vote, in bytes of payload."""
    import backline

    watcher, largest = server.session("Watcher"), 0
    with backline.RawSocket(server, watcher.token, f"/v1/rooms/{votes.room}/socket") as socket:
        while socket.receive()["type"] != "snapshot":
            pass
        for _ in range(options.runs):
            seq = votes.cast()
            while True:
                _, payload = socket.receive_frame()
                message = json.loads(payload)
                if message["type"] == "delta" and message["seq"] == seq:
                    break
            assert message["from"] == seq, message
            largest = max(largest, len(payload))
    out.keep({"name": "delta", "bytes": largest})
    return largest


def decide(options, out):
    """The figures of `EventLogLoad deciding`, in a process of its own on the server's CPU."""
    with servers.on_server_cpu():
        done = subprocess.run(
            [LOAD, "deciding", "--tracks", str(options.tracks), "--members", str(options.members - 1)],
            capture_output=True, text=True, timeout=600, check=True)
    figures = json.loads(done.stdout)
    out.keep({"name": "deciding", **figures})
    return figures


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    if not os.access(LOAD, os.X_OK):
        raise SystemExit(f"there is no {LOAD}: swift build -c release --product EventLogLoad")
    out, rows = servers.Results(options.out), []

    def row(what, measured, line=None, limit=None, value=None):
        met = limit is None or value <= limit
        if not met:
            out.fail(f"{what}: {measured}, the line is {line}")
        rows.append((what, measured, line or "", "" if limit is None else "yes" if met else "**no**"))

    with servers.backline() as server:
        owner = server.session("Owner")
        room = servers.make_room(owner, options.tracks)
        servers.say(f"{options.members} members join")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            people = list(pool.map(lambda number: join(server, room, number), range(options.members - 1)))
        votes = Votes(people, room)
        for _ in range(500):
            votes.cast()
        servers.say("snapshots and votes")
        for name, found in measure_snapshots(options, server, votes, out).items():
            is_line = "compressed" not in name
            row(f"snapshot, {name}, {found['bytes'] / 1e6:.2f} MB: ms at p50, the most, and of the server's CPU",
                f"{found['p50']:.1f}, {found['most']:.1f}, {found['cpu']:.1f}", *(("≤ 30", 30, found["p50"]) if is_line else ()))
        largest = measure_deltas(options, server, votes, out)
        row("a vote's delta, bytes", largest, "≤ 200", 200, largest)
    servers.say("deciding")
    figures = decide(options, out)
    for name, words in (
        ("vote", "a vote"), ("rename", "a new name"), ("enqueue", "enqueuing"), ("skip", "skipping"),
        ("choice_votes", "skipping, and the choice by votes"), ("choice_fair", "skipping, and the fair choice"),
        ("encode", "encoding the state"),
    ):
        p50, p99 = figures[f"{name}_us_p50"], figures[f"{name}_us_p99"]
        row(f"{words}, in process: µs at p50 and p99", f"{p50:,.1f}, {p99:,.1f}",
            *(("≤ 20", 20, p50) if name == "vote" else ()))
    servers.table(("room of %s tracks, %s members" % (f"{options.tracks:,}", f"{options.members:,}"), "measured",
                   "line", "met"), rows)
    out.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The network is back: how long a client on the library needs until its room is live again, far from the server.

    Benchmarks/network_back.py [--losses 50] [--round-trip-ms 50] [--out FILE]

`backline watch --json` follows a room through a proxy that delays each byte by half a round trip, and what a client
sends on a new connection by one more, which stands for TCP's handshake. The proxy loses the connection, refuses others
until the client has noticed, and lets the next one through; meanwhile the room has changed. Measured from the client's
attempt to connect, which leaves its random wait out, to the line that tells the change. The floor is a bare TLS socket
that resumes in the same moment, by the same way. Exits with 1 if the line is missed.
"""

import contextlib
import json
import operator
import os
import queue
import statistics
import subprocess
import tempfile
import threading
import time

import servers


def add_options(parser):
    parser.add_argument("--losses", type=int, default=50, help="lost connections")
    parser.add_argument("--round-trip-ms", type=float, default=50, help="a round trip")
    parser.add_argument("--tracks", type=int, default=1_000, help="tracks in the room's pool")


class Watch:
    """`backline watch --json`, and when it has printed each line."""

    def __init__(self, address, room, token, authority, folder):
        command = [
            os.environ["BACKLINE_PROGRAM"], "watch", room, "--json", "--server", address.origin, "--ca", authority]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "BACKLINE_TOKEN": token, "XDG_CONFIG_HOME": folder})
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self._process.stdout:
            self._lines.put((time.monotonic(), json.loads(line)))

    def until(self, **members):
        """Waits for a line with these members; returns when it was printed."""
        while True:
            printed, line = self._lines.get(timeout=60)
            if members.items() <= line.items():
                return printed

    def close(self):
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process.stdout.close()


def floor(address, token, room, position):
    """The seconds that a bare socket takes from its attempt to connect to the events since a position."""
    from backline import RawSocket

    began = time.monotonic()
    path = f"/v1/rooms/{room}/socket?epoch={position['epoch']}&seq={position['seq']}"
    with RawSocket(address, token, path) as client:
        while client.receive()["type"] != "delta":
            pass
        return time.monotonic() - began


def times(options):
    """The time after each loss, and that of the floor, in seconds."""
    from distance import Distance

    authority, _ = servers.certificate_files()
    with servers.backline("--presence-grace-seconds", "0") as server, tempfile.TemporaryDirectory() as folder:
        owner = server.session("Owner")
        room = servers.make_room(owner, options.tracks)
        with Distance(server, options.round_trip_ms / 1000) as far:
            for number in range(options.losses):
                # A new program each time: its waits have not grown by earlier losses.
                with contextlib.closing(Watch(far.address, room, owner.token, authority, folder)) as watch:
                    watch.until(type="room")
                    # What a connection begins with is over: the clocks are compared.
                    time.sleep(10 * far.round_trip)
                    far.cut()
                    watch.until(type="link", status="offline")
                    name, position = f"Owner {number}", owner.room(room)["room"]
                    owner.command(room, "rename", name=name)
                    far.mend()
                    told = watch.until(type="renamed", name=name)
                    assert len(far.connections) == 1, "one connection is enough"
                    yield told - far.connections[0].began, floor(far.address, owner.token, room, position)


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    out = servers.Results(options.out)
    found, bare = zip(*((1000 * taken, 1000 * least) for taken, least in times(options)))
    out.keep({"name": "network back", "round_trip_ms": options.round_trip_ms, "ms": found, "floor_ms": bare})
    trips = 3 * options.round_trip_ms
    line, median = trips + 20, statistics.median(found)
    if median > line:
        out.fail(f"live again after {median:.1f} ms, the line is {line:.0f}")
    servers.table(
        (f"{len(found)} losses, a round trip of {options.round_trip_ms:.0f} ms", "measured", "line", ""),
        [("live again, ms, median", f"{median:.1f}", f"≤ {line:.0f}", "met" if median <= line else "**MISSED**"),
         ("… the quickest", f"{min(found):.1f}", "", ""),
         ("… the slowest", f"{max(found):.1f}", "", ""),
         ("a bare TLS socket, ms, median", f"{statistics.median(bare):.1f}", "", ""),
         ("what the client adds, ms, median", f"{statistics.median(map(operator.sub, found, bare)):.1f}", "", "")])
    out.end()


if __name__ == "__main__":
    main()

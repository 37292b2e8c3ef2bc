#!/usr/bin/env python3
"""Reconnect storm: very many clients connect to one busy room at once.

    Benchmarks/storm.py [--clients 10000] [--tracks 100] [--out FILE]

All connect at the same instant, with full TLS handshakes, while the room goes on changing. In the first case they
have no position and get a snapshot; in the second each has the position of a hundred events ago and gets the events
since. The table shows the time until all have their state, the server's CPU time for each client, and how often a
snapshot was encoded. It also shows the time in which a peer accepts as many connections without any state.
"""

import threading
import time

import servers


def add_options(parser):
    parser.add_argument("--clients", type=int, default=10_000, help="clients")
    parser.add_argument("--tracks", type=int, default=100, help="tracks in the room's pool")
    parser.add_argument("--rate", type=float, default=10, help="events of the room in a second")


class Publisher:
    """Makes events in a room at a steady rate until it is stopped."""

    def __init__(self, owner, room, rate):
        self._owner, self._room, self._pause = owner, room, 1 / rate
        self._stopping = threading.Event()
        self.events = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with self._owner.socket() as socket:
            while not self._stopping.wait(self._pause):
                assert socket.command(self._room, "rename", name=f"Owner {self.events}")["type"] == "ack"
                self.events += 1

    def stop(self):
        self._stopping.set()
        self._thread.join(30)


def snapshot_encodings(server):
    """The count of encodings, under any name that the server gives it; None if it reports none."""
    figures = [value for name, value in servers.metrics(server).items()
               if "snapshot" in name and "encod" in name and name.partition("{")[0].endswith("_total")]
    return sum(figures) if figures else None


def storm(options, resuming, out):
    with servers.backline() as server:
        owner, guest = server.session("Owner"), server.session("Guest")
        room = servers.make_room(owner, options.tracks)
        for number in range(120):
            owner.command(room, "rename", name=f"Name {number}")
        answer = owner.room(room)
        snapshot = len(str(answer["room"]))
        url = f"wss://127.0.0.1:{server.port}/v1/rooms/{room}/socket"
        arguments = ["--header", f"Authorization: Bearer {guest.token}", "--first", '"type":"snapshot"']
        if resuming:
            url = f"wss://127.0.0.1:{server.port}/v1/socket"
            position = '{"epoch":"%s","seq":%d}' % (answer["room"]["epoch"], answer["room"]["seq"] - 100)
            arguments = [
                "--header", f"Authorization: Bearer {guest.token}", "--first", '"type":"delta"',
                "--hello", '{"type":"subscribe","id":1,"room":"%s","position":%s}' % (room, position),
            ]
        before, publisher = snapshot_encodings(server), Publisher(owner, room, options.rate)
        time.sleep(0.5)
        target = servers.Target("backline, resuming" if resuming else "backline", server.process.pid, url)
        try:
            line = connect(target, options, arguments, out)
        finally:
            publisher.stop()
        after = snapshot_encodings(server)
        line["encodings"] = None if after is None else after - (before or 0)
        line["events"], line["snapshot_bytes"] = publisher.events, snapshot
        return line


def connect(target, options, arguments, out):
    count, overflows = str(options.clients), servers.accept_queue_overflows()
    (line,) = servers.load(target, *arguments, "--connect-only", "-n", count, "-c", count, "--settle", "1", out=out)
    line["overflows"] = servers.accept_queue_overflows() - overflows
    wrong = servers.defects(line)
    if line["connections"] != options.clients or arguments and line["first_messages"] != options.clients:
        wrong.append(f"{line['connections']} connected, {line['first_messages']} have their state")
    if wrong:
        out.fail(f"{target.name}: {', '.join(wrong)}")
    return line


def main():
    options = servers.options(__doc__.splitlines()[0], add_options, peers="socketify,nchan")
    servers.enter()
    out = servers.Results(options.out)
    names = ["backline", "backline, resuming", *options.peers]
    found = {name: [] for name in names}
    for run in range(1, options.runs + 1):
        for name in names:
            servers.say(f"run {run} of {options.runs}: {options.clients} clients, {name}")
            if name.startswith("backline"):
                line = storm(options, name != "backline", out)
            else:
                with servers.target(name) as target:
                    line = connect(target, options, [], out)
            found[name].append(line)
    rows = []
    for name in names:
        lines = found[name]
        own = name.startswith("backline")
        rows.append((
            name, f"{servers.medians(lines, 'connect_s'):.1f}",
            f"{servers.medians(lines, 'first_message_s'):.1f}" if own else "",
            f"{servers.medians(lines, 'connects_per_s'):,.0f}",
            f"{servers.medians(lines, 'connect_server_cpu_us'):.0f}",
            f"{servers.medians(lines, 'overflows'):,.0f}",
            f"{servers.medians(lines, 'snapshot_bytes') / 1000:.0f}" if own else "",
            f"{servers.medians(lines, 'events'):.0f}" if own else "",
            f"{servers.medians(lines, 'encodings'):.0f}" if own and lines[0]["encodings"] is not None else "",
        ))
    servers.table(
        ("server", "all connected after s", "all have their state after s", "connections a second",
         "server CPU µs each", "refused by a full accept queue", "snapshot kB", "events meanwhile",
         "snapshots encoded"),
        rows,
    )
    out.end()


if __name__ == "__main__":
    main()

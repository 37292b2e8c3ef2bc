#!/usr/bin/env python3
"""The event log on PostgreSQL: appends, one busy room, latency and loading, compared with pgbench and bare inserts.

    swift build -c release --product backline
    swift build -c release --product EventLogLoad
    Benchmarks/event_log.py [--runs 3] [--seconds 5] [--only appends,light,hot,sockets,loading] [--out FILE]

Starts a PostgreSQL of its own (fsync and synchronous_commit on). Each load runs in turn with its peer:

appends   batches of 250 and of 1,000 rooms through raw store calls, every position checked; peer: the same rows
          without any check
light     few writers, one vote in flight each, with and without a key for a retry; peers: as many pgbench clients that
          commit single rows, and as many that commit a keyed vote's rows, position checked, one vote after the other
hot       200 voters of one room, decided and appended as in the server, without sockets, with and without keys; and at a
          tenth of that rate, in an open loop, the time until a vote is acknowledged; peer: pgbench, which commits single
          rows at the same rate in an open loop
sockets   the same through the server, and at a tenth the time until a vote's delta reaches another client
loading   a room of 10,000 tracks and 100,000 events, from its snapshot and from its first event

Beside the open loops, small writes measure the disk: the table says in which share of the runs it stalled (more than
half a percent of the time was spent in writes that took longer than 5 ms).

Exits with 1 if an append was lost, refused or not shown. The table marks lines that are missed.
"""

import contextlib
import json
import os
import statistics
import subprocess
import tempfile

import servers

LOAD = os.path.join(servers.TREE, ".build", "release", "EventLogLoad")
INSERTS = os.path.join(servers.HERE, "load", "inserts")
VOTES = os.path.join(servers.HERE, "load", "votes")
STALLS = os.path.join(servers.HERE, "load", "stalls")
LIGHT = {1: (0.5, 0.4), 8: (0.7, 0.5), 32: (0.95, 0.7)}
"""Writers with one vote in flight each, and the least ratio to commits of single rows, without and with keys: what a
vote's statement and the changes of threads allow (Documentation/Decisions/0030)."""
VOTERS = 200
STALLED = 0.005
"""The share of the time in slow writes from which on a disk stalls."""
VOTE = """\
WITH moved AS (
    UPDATE heads SET seq = seq + 1, keyed = keyed + 1
    WHERE room_id = lpad(:client_id::text, 32, '0')::uuid AND seq = :seq AND keyed = :seq RETURNING room_id, seq
), recorded AS (
    INSERT INTO log SELECT room_id, seq, 1, 'trackVoted', '{"by": "m1", "track": "t1"}', 1 FROM moved
)
INSERT INTO keys SELECT room_id, seq % 1000, seq, room_id, 'vote', 1, seq, '{}', 1 FROM moved
ON CONFLICT (room_id, slot) DO UPDATE SET
    ordinal = excluded.ordinal, session_id = excluded.session_id, key = excluded.key, seq = excluded.seq,
    fingerprint = excluded.fingerprint, result = excluded.result, checksum = excluded.checksum;
\\set seq :seq + 1
"""
"""One vote as one transaction: the rows that the server writes for it, without batches."""
BATCHES = ((250, 1, False), (1_000, 1, False), (250, 4, False), (250, 1, True))
"""Rooms of a batch, events for each room, and whether each event comes from a command with a key."""


def add_options(parser):
    parser.add_argument("--runs", type=int, default=3, help="number of runs; the table shows their median")
    parser.add_argument("--seconds", type=float, default=5, help="measured time of each load")
    parser.add_argument("--lanes", type=int, default=3, help="concurrent batches, for both peers; the server has 3")
    parser.add_argument("--only", default="appends,light,hot,sockets,loading", help="the loads to measure")


class Log:
    """A PostgreSQL, and the loads that run against it."""

    def __init__(self, options, out):
        from postgres import Cluster

        self.seconds, self.lanes, self.out = options.seconds, options.lanes, out
        self.cluster = Cluster()
        self.rounds = 0
        # No checkpoint may fall into one measurement and not into its peer's.
        for setting in ("max_wal_size = '8GB'", "checkpoint_timeout = '1h'", "shared_buffers = '512MB'"):
            self.cluster.sql(f"ALTER SYSTEM SET {setting}", "postgres")
        self.cluster.stop("fast")
        self.cluster.start()
        self.folder = tempfile.TemporaryDirectory(prefix="benchmark-")
        with open(self._path("commit.sql"), "w", encoding="utf-8") as file:
            file.write("INSERT INTO single VALUES (1);\n")
        with open(self._path("vote.sql"), "w", encoding="utf-8") as file:
            file.write(VOTE)
        self.bare = self.cluster.database()
        self._sql(
            "CREATE TABLE single (value bigint)",
            "CREATE TABLE log (room_id uuid NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, type text NOT NULL,"
            " payload jsonb NOT NULL, checksum bigint, PRIMARY KEY (room_id, seq)) PARTITION BY HASH (room_id)",
            *(f"CREATE TABLE log_{n} PARTITION OF log FOR VALUES WITH (MODULUS 16, REMAINDER {n})" for n in range(16)),
            "CREATE TABLE heap (room_id uuid, seq bigint, at bigint, type text, payload jsonb, checksum bigint)",
            "CREATE TABLE keys (room_id uuid, slot integer, ordinal bigint, session_id uuid, key text,"
            " fingerprint bigint, seq bigint, result jsonb, checksum bigint, PRIMARY KEY (room_id, slot))",
            "CREATE TABLE heads (room_id uuid PRIMARY KEY, seq bigint, keyed bigint) WITH (fillfactor = 60)",
        )

    def close(self):
        self.folder.cleanup()
        self.cluster.close()

    def _path(self, name):
        return os.path.join(self.folder.name, name)

    def _sql(self, *statements):
        for statement in statements:
            self.cluster.sql(statement, self.bare.rpartition("/")[2])

    def _run(self, name, command):
        """Runs a load; returns the JSON object that it prints."""
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode not in (0, 1) or not done.stdout.strip():
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        figures = json.loads(done.stdout.splitlines()[-1])
        if done.returncode:
            self.out.fail(f"{name}: {done.stderr.strip()[-500:] or figures}")
        self.out.keep({"name": name, **figures})
        return figures

    def load(self, name, kind, *arguments, seconds=None):
        """Loads a log of its own, in a process without sockets."""
        seconds = () if kind == "loading" else ("--seconds", str(seconds or self.seconds))
        return self._run(name, [LOAD, kind, "--database-url", self.cluster.database(), *seconds, *arguments])

    def inserts(self, name, table, rooms, batch, events, keyed):
        self._sql("TRUNCATE log, heap, keys", "CHECKPOINT")
        keys = ("--keys", "keys") if keyed else ()
        return self._run(name, [
            INSERTS, "--table", table, *keys, "--rooms", str(rooms), "--batch", str(batch), "--events", str(events),
            "--connections", str(self.lanes), "--seconds", str(self.seconds), self.bare,
        ])

    def single_votes(self, clients):
        """Votes in transactions of their own: how many a second."""
        self._sql(
            "TRUNCATE log, keys, heads",
            f"INSERT INTO heads SELECT lpad(n::text, 32, '0')::uuid, 0, 0 FROM generate_series(0, {clients - 1}) AS n")
        return self.commits(clients, "vote.sql", "-D", "seq=0")

    @contextlib.contextmanager
    def stalls(self, found, name):
        """Measures beside a load how long the disk keeps a small write waiting, and notes it."""
        with subprocess.Popen(
            [STALLS, os.path.dirname(self.cluster.data)], stdout=subprocess.PIPE, text=True
        ) as probe:
            try:
                yield
            finally:
                probe.terminate()
            figures = json.loads(probe.stdout.readline())
        self.out.keep({"name": f"disk beside {name}", **figures})
        found.note(f"{name} disk", figures["write_us_p99"])
        found.note(f"{name} stalled", figures["stalled"])

    def commits(self, clients, script="commit.sql", *arguments):
        """Commits of a single row, or of another script: how many a second, and how long one takes.

        With --rate, a time counts from when its transaction was due.
        """
        prefix = self._path(f"log-{clients}-{self.rounds}")
        self.rounds += 1
        subprocess.run(
            [os.path.join(self.cluster.programs, "pgbench"), "-n", "-M", "prepared", "-c", str(clients), "-j", "1",
             "-T", str(max(1, round(self.seconds))), *arguments, "-f", self._path(script), "-l", "--log-prefix",
             prefix, self.bare],
            capture_output=True, text=True, check=True,
        )
        times = []
        for name in os.listdir(self.folder.name):
            if name.startswith(os.path.basename(prefix) + "."):
                with open(self._path(name), encoding="ascii") as file:
                    times += [int(line.split()[2]) for line in file]
                os.unlink(self._path(name))
        times.sort()
        figures = {
            "commits_per_s": len(times) / max(1, round(self.seconds)), "commit_us": statistics.mean(times),
            "commit_us_p50": times[len(times) // 2], "commit_us_p99": times[len(times) * 99 // 100],
        }
        self.out.keep({"name": f"pgbench, {script}, {clients} clients", **figures})
        return figures

    @contextlib.contextmanager
    def server(self):
        """The server without TLS, since TLS is not measured here."""
        from backline import Server

        with Server(
            "--plain", "--log-level", "warning", *servers.supported(*servers.UNLIMITED), *servers.extra,
            store=("--store", "postgres", "--database-url", self.cluster.database()),
        ) as server:
            yield server

    def votes(self, name, server, room, tokens, *arguments):
        path = self._path("tokens")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{token}\n" for token in tokens)
        return self._run(
            name, [VOTES, "--tokens", path, "--seconds", str(self.seconds), *arguments, str(server.port), room])


class Findings:
    """The figures of the runs, by load."""

    def __init__(self):
        self._found = {}

    def note(self, name, value):
        self._found.setdefault(name, []).append(value)

    def __getitem__(self, name):
        return statistics.median(self._found[name])

    def share(self, name, most):
        """The share of the runs in which a figure was larger, as text."""
        values = self._found[name]
        return f"{sum(value > most for value in values)} of {len(values)} runs"

    def __contains__(self, name):
        return name in self._found


def measure_appends(log, found):
    for batch, events, keyed in BATCHES:
        what = name_of(batch, events, keyed)
        rooms = max(1_000, batch * log.lanes)
        arguments = [
            "--rooms", str(rooms), "--batch", str(batch), "--events", str(events), "--lanes", str(log.lanes)]
        appended = log.load(f"appends, {what}", "appends", *arguments, *(["--keyed"] if keyed else []))
        bare = log.inserts(f"bare, {what}", "log", rooms, batch, events, keyed)
        heap = log.inserts(f"heap, {what}", "heap", rooms, batch, events, keyed)
        found.note(f"appends {what}", appended["events_per_s"])
        found.note(f"bare {what}", bare["events_per_s"])
        found.note(f"heap {what}", heap["events_per_s"])
        found.note(f"appends/bare {what}", appended["events_per_s"] / bare["events_per_s"])
        found.note(f"appends/heap {what}", appended["events_per_s"] / heap["events_per_s"])


def name_of(batch, events, keyed):
    return f"{batch:,} rooms × {events}" + (", keyed" if keyed else "")


def measure_light(log, found):
    for writers in LIGHT:
        single = log.commits(writers)["commits_per_s"]
        loads = ["commands", "--rooms", str(writers), "--voters", "1"]
        unkeyed = log.load(f"light, {writers}, no keys", *loads, "--unkeyed")["votes_per_s"]
        votes = log.load(f"light, {writers}", *loads)["votes_per_s"]
        found.note(f"single {writers}", single)
        found.note(f"light unkeyed {writers}", unkeyed)
        found.note(f"light unkeyed/single {writers}", unkeyed / single)
        found.note(f"light {writers}", votes)
        found.note(f"light/single {writers}", votes / single)
        alone = log.single_votes(writers)["commits_per_s"]
        found.note(f"single votes {writers}", alone)
        found.note(f"light/single votes {writers}", votes / alone)


def measure_hot(log, found):
    commit = log.commits(1)
    for name, keys in (("hot", ["--unkeyed"]), ("hot, keyed", [])):
        loads = ["commands", "--rooms", "1", "--voters", str(VOTERS), *keys]
        hot = log.load(name, *loads)
        rate = hot["votes_per_s"] / 10
        with log.stalls(found, name):
            calm = log.load(f"{name}, a tenth", *loads, "--rate", str(rate))
        note_hot(log, found, name, commit, hot, calm)


def measure_sockets(log, found):
    commit = log.commits(1)
    with log.server() as server:
        owner, subscriber = server.session("Owner"), server.session("Subscriber")
        room = servers.make_room(owner, 50)
        voters = [server.session(f"Voter {number}") for number in range(VOTERS)]
        for voter in voters:
            voter.command(room, "join")
        tokens = [voter.token for voter in voters]
        before = servers.cpu_seconds(server.process.pid)
        hot = log.votes("sockets", server, room, tokens)
        used = servers.cpu_seconds(server.process.pid) - before
        found.note("sockets server CPU us", used / max(1, hot["acknowledged"]) * 1e6)
        with log.stalls(found, "sockets"):
            calm = log.votes(
                "sockets, a tenth", server, room, tokens, "--rate", str(hot["votes_per_s"] / 10), "--subscriber",
                subscriber.token)
    note_hot(log, found, "sockets", commit, hot, calm)
    found.note("sockets delta p50", calm["delta_us_p50"])
    found.note("sockets delta p50 over a commit", calm["delta_us_p50"] - commit["commit_us"])


def note_hot(log, found, name, commit, hot, calm):
    # Of several numbers of clients, this one gave the best times.
    with log.stalls(found, f"{name} peer"):
        peer = log.commits(8, "commit.sql", "--rate", str(hot["votes_per_s"] / 10))
    found.note("commit us", commit["commit_us"])
    found.note("commits", commit["commits_per_s"])
    found.note(f"{name} votes", hot["votes_per_s"])
    found.note(f"{name} votes/commits", hot["votes_per_s"] / commit["commits_per_s"])
    found.note(f"{name} rate", calm["votes_per_s"])
    for part in ("p50", "p99"):
        found.note(f"{name} ack {part}", calm[f"ack_us_{part}"])
        found.note(f"{name} peer {part}", peer[f"commit_us_{part}"])
        found.note(f"{name} ack/peer {part}", calm[f"ack_us_{part}"] / peer[f"commit_us_{part}"])


def measure_loading(log, found):
    for name, value in log.load("loading", "loading").items():
        found.note(name, value)


def rows(found):
    """The table's rows: the load, its figure, the peer's figure, the ratio, the line, and whether the line is met."""

    def row(what, measured, peer, ratio, line=None, met=None):
        return (what, measured, peer, ratio, line or "", "" if met is None else "yes" if met else "**no**")

    for batch, events, keyed in BATCHES:
        what = name_of(batch, events, keyed)
        if f"appends {what}" in found:
            for peer, words in (("bare", "bare, same table and key"), ("heap", "bare, no index")):
                ratio = found[f"appends/{peer} {what}"]
                least = 0.5 if keyed else 0.55
                line, met = (f"≥ {least}", ratio >= least) if peer == "bare" else (None, None)
                yield row(f"appends, {what}: events/s", f"{found[f'appends {what}']:,.0f}",
                          f"{found[f'{peer} {what}']:,.0f} ({words})", f"{ratio:.2f}", line, met)
    for writers in LIGHT:
        if f"light {writers}" in found:
            for (name, words), least in zip((("light unkeyed", ""), ("light", ", keyed")), LIGHT[writers]):
                ratio = found[f"{name}/single {writers}"]
                yield row(f"{writers} writers, one vote in flight each{words}: votes/s",
                          f"{found[f'{name} {writers}']:,.0f}",
                          f"{found[f'single {writers}']:,.0f} (pgbench, {writers} clients)", f"{ratio:.2f}",
                          f"≥ {least}", ratio >= least)
            yield row(f"{writers} writers, one vote in flight each, keyed: votes/s", f"{found[f'light {writers}']:,.0f}",
                      f"{found[f'single votes {writers}']:,.0f} (the same rows, each vote a transaction)",
                      f"{found[f'light/single votes {writers}']:.2f}")
    for name, words, line in (
        ("hot", "no sockets", 10), ("hot, keyed", "no sockets, keyed", 10), ("sockets", "through the server, keyed", 7)
    ):
        if f"{name} votes" not in found:
            continue
        ratio = found[f"{name} votes/commits"]
        yield row(f"hot room, {words}: votes/s", f"{found[f'{name} votes']:,.0f}",
                  f"{found['commits']:,.0f} (pgbench, 1 client)", f"{ratio:.1f}", f"≥ {line}", ratio >= line)
        ratio = found[f"{name} ack/peer p99"]
        yield row(f"… {found[f'{name} rate']:,.0f} a second, open loop: acknowledged, p50, p99 µs",
                  f"{found[f'{name} ack p50']:,.0f}, {found[f'{name} ack p99']:,.0f}",
                  f"{found[f'{name} peer p50']:,.0f}, {found[f'{name} peer p99']:,.0f} (single rows, open loop)",
                  f"{found[f'{name} ack/peer p50']:.1f}, {ratio:.1f}", "p99 ≤ 3", ratio <= 3)
        yield row("… beside it, a small write to the disk, p99 µs", f"{found[f'{name} disk']:,.0f}",
                  f"{found[f'{name} peer disk']:,.0f}",
                  f"stalled in {found.share(f'{name} stalled', STALLED)} and "
                  f"{found.share(f'{name} peer stalled', STALLED)}")
    if "sockets delta p50" in found:
        over = found["sockets delta p50 over a commit"]
        yield row("… delta at another subscriber, p50 µs", f"{found['sockets delta p50']:,.0f}",
                  f"{found['commit us']:,.0f} (one commit)", f"{over:+,.0f} µs", "≤ +2,000 µs", over <= 2_000)
        yield row("… server CPU µs a vote, all voters busy", f"{found['sockets server CPU us']:.1f}", "", "")
    if "events" in found:
        yield row("load from its snapshot, ms", f"{found['load_from_snapshot_ms']:.1f}", "", "", "≤ 50",
                  found["load_from_snapshot_ms"] <= 50)
        yield row("replay, events/s", f"{found['replay_events_per_s']:,.0f}", "", "", "≥ 500,000",
                  found["replay_events_per_s"] >= 500_000)
        yield row("load without a snapshot, events/s", f"{found['load_without_snapshot_events_per_s']:,.0f}", "", "")


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    # No process has a CPU for itself: the database uses all of them.
    os.sched_setaffinity(0, range(servers.cpus()))
    if not os.access(LOAD, os.X_OK):
        raise SystemExit(f"there is no {LOAD}: swift build -c release --product EventLogLoad")
    out, found = servers.Results(options.out), Findings()
    parts = {
        "appends": measure_appends, "light": measure_light, "hot": measure_hot, "sockets": measure_sockets,
        "loading": measure_loading,
    }
    log = Log(options, out)
    try:
        for number in range(1, options.runs + 1):
            for part in options.only.split(","):
                servers.say(f"run {number} of {options.runs}: {part}")
                parts[part](log, found)
    finally:
        log.close()
    servers.table(("load", "measured", "beside it", "ratio", "line", "beaten"), rows(found))
    out.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Statistics of rooms: what counting costs, how far it lags, what its answers and tables cost, with their lines.

    swift build -c release --product backline
    swift build -c release --product EventLogLoad
    swift build -c release --product LogFiller
    Benchmarks/room_statistics.py [--runs 3] [--only fold,flush,appends,lag,restart,answers,size,old] [--out FILE]

Starts a PostgreSQL of its own (fsync and synchronous_commit on). Its processor time is that of all its processes.

fold      what counting adds to the fold of a room's events, in process: one event in twenty ends a song
flush     the database's processor time for each room of a flush, 250 rooms each, a song ended in one of twenty; and for
          an append of one event, 250 rooms each
appends   votes in 1,000 rooms, decided and appended as in the server without sockets, in a closed loop, with statistics
          and without: rounds of off, on, on, off
lag       two processes that serve 500 rooms each on one log, 20 votes a second in each room, in an open loop
restart   a server starts, and 10,000 rooms are 20 events behind: a song has ended in one of twenty; in every one
answers   the songs of 200,000 plays, of 200 rooms nearby, and the counts of a room's day, on both stores
size      five days of ten rooms with a song every 3 minutes and twelve votes for each, counted as they happen
old       a log of a million events of which nothing is counted, on both stores: how long a server takes to count it, and
          how many votes it accepts in one busy room meanwhile and afterwards

Exits with 1 if a figure is wrong: a vote lost, or counts that are not those of the log. The table marks lines that are
missed.
"""

import contextlib
import json
import os
import sqlite3
import statistics
import subprocess
import tempfile
import time

import servers
from event_log import LOAD, Findings

VOTES = os.path.join(servers.HERE, "load", "votes")
PARTS = "fold,flush,appends,lag,restart,answers,size,old"
VOTERS = 200
BEHIND = """SELECT count(*) FROM heads LEFT JOIN statistics_heads AS counted USING (room_id)
    WHERE counted.seq IS NULL OR counted.seq < heads.seq"""
TABLES = ("heads", "counts", "plays", "tracks", "audience", "late", "top", "buckets")


def add_options(parser):
    parser.add_argument("--runs", type=int, default=3, help="number of runs; the table shows their median")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of `appends` in a run")
    parser.add_argument("--seconds", type=float, default=5, help="measured time of each load")
    parser.add_argument("--events", type=int, default=1_000_000, help="events of the log of `old`")
    parser.add_argument("--only", default=PARTS, help="the parts to measure")


class Database:
    """A PostgreSQL, and the loads that run against it."""

    def __init__(self, options, out):
        from postgres import Cluster

        self.seconds, self.rounds, self.events, self.out = options.seconds, options.rounds, options.events, out
        self.cluster = Cluster()
        # No checkpoint may fall into one measurement and not into the one beside it.
        for setting in ("max_wal_size = '8GB'", "checkpoint_timeout = '1h'", "shared_buffers = '512MB'"):
            self.cluster.sql(f"ALTER SYSTEM SET {setting}", "postgres")
        self.cluster.stop("fast")
        self.cluster.start()

    def close(self):
        self.cluster.close()

    def sql(self, url, statement):
        return self.cluster.sql(statement, url.rpartition("/")[2])

    def load(self, name, kind, *arguments, between=None):
        """Runs a load; returns its figures, with the database's processor time while it measured."""
        used, marks = {}, []
        with subprocess.Popen(
            [LOAD, kind, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            for line in child.stdout:
                if line.startswith("{"):
                    used |= json.loads(line)
                    continue
                marks.append(servers.database_seconds(self.cluster))
                if between:
                    between()
                child.stdin.write("\n")
                child.stdin.flush()
        if child.returncode or not used:
            raise RuntimeError(f"{kind} {' '.join(arguments)} ended with {child.returncode}")
        if len(marks) == 2:
            used["database_seconds"] = marks[1] - marks[0]
        self.out.keep({"name": name, **used})
        return used

    def fill(self, *arguments):
        """Makes a log with rooms; returns its URL."""
        url = self.cluster.database()
        self.load(f"fill {' '.join(arguments)}", "filling", "--database-url", url, *arguments)
        self.sql(url, "VACUUM ANALYZE")
        return url


def measure_fold(database, found):
    for name, value in database.load("fold", "counting").items():
        found.note(name, value)


def measure_flush(database, found):
    def measured(kind, *arguments):
        return database.load(
            f"{kind} {' '.join(arguments)}", kind, "--database-url", database.cluster.database(), "--asks", "--seconds",
            str(database.seconds), *arguments)

    appends = measured("appends", "--warmup", "0")
    append = appends["database_seconds"] / (appends["events_per_s"] * database.seconds) * 1e6
    found.note("append us", append)
    for events, songs in ((6, 20), (20, 20), (20, 1)):
        flushes = measured("flushes", "--events", str(events), "--songs", str(songs))
        flush = flushes["database_seconds"] / flushes["rooms"] * 1e6
        found.note(f"flush us {events} {songs}", flush)
        found.note(f"flush/append {events} {songs}", events * append / flush)


def measure_appends(database, found):
    for _ in range(database.rounds):
        rates, costs = {False: 0.0, True: 0.0}, {False: 0.0, True: 0.0}
        for counts in (False, True, True, False):
            figures = database.load(
                f"votes {'with' if counts else 'without'} statistics", "commands", "--database-url",
                database.cluster.database(), "--asks", "--seconds", str(database.seconds), "--rooms", "1000",
                "--voters", "1", *(["--statistics"] if counts else []))
            votes = figures["votes_per_s"]
            # The database is measured with the seconds of warming up.
            cost = figures["client_cpu_us_per_vote"] + figures["database_seconds"] / (
                votes * (database.seconds + 1)) * 1e6
            rates[counts] += votes / 2
            costs[counts] += cost / 2
        found.note("votes on", rates[True])
        found.note("votes off", rates[False])
        found.note("votes on/off", rates[True] / rates[False])
        found.note("votes on CPU", costs[True])
        found.note("votes off CPU", costs[False])
        found.note("votes off/on CPU", costs[False] / costs[True])


def measure_lag(database, found):
    url = database.cluster.database()
    # The schema is there before both begin.
    database.load("schema", "filling", "--database-url", url, "--rooms", "0")
    command = [LOAD, "commands", "--database-url", url, "--statistics", "--rooms", "500", "--voters", "2", "--rate",
               "10000", "--unkeyed", "--asks", "--warmup", "2", "--seconds", str(4 * database.seconds)]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        for mark in ("begin", "end"):
            for child in both:
                assert child.stdout.readline().strip() == mark
            for child in both:
                child.stdin.write("\n")
                child.stdin.flush()
        figures = [json.loads(child.stdout.readline()) for child in both]
    finally:
        for child in both:
            child.communicate()
    for one in figures:
        database.out.keep({"name": "lag", **one})
    for name in ("lag_us_p50", "lag_us_p99", "ack_us_p99"):
        found.note(name, max(one[name] for one in figures) / 1e6)
    found.note("lag votes", sum(one["votes_per_s"] for one in figures))
    check_counts(database, "--store", "postgres", "--database-url", url)


def measure_restart(database, found):
    for name, votes in (("few songs", 400), ("songs everywhere", 12)):
        url = database.fill("--rooms", "10000", "--events", "60", "--counted", "40", "--votes", str(votes))
        database.out.keep({"name": f"behind, {name}", "rooms": int(database.sql(url, BEHIND))})
        with serving(("--store", "postgres", "--database-url", url)) as (_, began):
            while int(database.sql(url, BEHIND)) > 0:
                time.sleep(0.1)
            found.note(f"restart {name}", time.monotonic() - began)
        check_counts(database, "--store", "postgres", "--database-url", url)


def measure_answers(database, found):
    url = database.cluster.database()
    answers = {
        "PostgreSQL": database.load("answers", "answers", "--database-url", url,
                                    between=lambda: database.sql(url, "VACUUM ANALYZE"))}
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        answers["embedded"] = database.load("answers, embedded", "answers", "--data", folder)
    for store, figures in answers.items():
        for name, value in figures.items():
            found.note(f"{store} {name}", value / 1e3)


def measure_size(database, found):
    url = database.fill("--rooms", "10", "--events", str(120 * 20 * 16), "--age", "0.1")

    def note(when):
        database.sql(url, "VACUUM ANALYZE")
        counted = database.sql(
            url, f"SELECT sum(pg_total_relation_size('statistics_' || name)) FROM unnest(ARRAY{list(TABLES)}) AS name")
        log = database.sql(
            url, "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'events'::regclass")
        found.note(f"size {when}", int(counted) / int(log) * 100)
        database.out.keep({"name": f"size {when}", "statistics": int(counted), "log": int(log)})

    note("by minute")
    # As if a month had passed: what was recorded moves into the past, and the server does the rest.
    database.sql(url, f"UPDATE statistics_counts SET bucket = bucket - {30 * 24 * 60}")
    database.sql(url, "VACUUM FULL statistics_counts")
    with serving(("--store", "postgres", "--database-url", url)):
        while database.sql(url, "SELECT count(*) FROM statistics_counts WHERE step = 1") != "0":
            time.sleep(0.2)
    # Minutes of the next days use the space that was freed.
    database.sql(url, "VACUUM FULL statistics_counts")
    note("by quarter")


def measure_old(database, found):
    filler = os.path.join(os.path.dirname(os.environ["BACKLINE_PROGRAM"]), "LogFiller")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        embedded = ("--store", "sqlite", "--data", os.path.join(folder, "log"))
        url = database.cluster.database()
        imported = ("--store", "postgres", "--database-url", url, "--data", os.path.join(folder, "data"))
        export = os.path.join(folder, "log.jsonl")
        for command in (
            [filler, "--data", embedded[3], "--events", str(database.events)],
            [os.environ["BACKLINE_PROGRAM"], "export", *embedded, "--out", export],
            [os.environ["BACKLINE_PROGRAM"], "migrate", *imported],
            [os.environ["BACKLINE_PROGRAM"], "import", *imported, export],
        ):
            subprocess.run(command, check=True, capture_output=True)
        os.unlink(export)
        database.sql(url, "VACUUM ANALYZE")

        def ask_database(statement):
            return int(database.sql(url, statement) or 0)

        def ask_file(statement):
            with contextlib.closing(sqlite3.connect(embedded[3] + "/backline.sqlite", timeout=20)) as file, file:
                return int((file.execute(statement).fetchone() or [0])[0])

        for name, store, ask in (("PostgreSQL", imported, ask_database), ("embedded", embedded, ask_file)):
            measure_old_log(database, found, name, store, ask, folder)


def measure_old_log(database, found, name, store, ask, folder):
    tokens = os.path.join(folder, "tokens")
    with serving((*store, "--no-statistics")) as (server, _):
        owner = server.session("Owner")
        room = servers.make_room(owner, 50)
        voters = [server.session(f"Voter {number}") for number in range(VOTERS)]
        for voter in voters:
            voter.command(room, "join")
        with open(tokens, "w", encoding="utf-8") as file:
            file.writelines(f"{voter.token}\n" for voter in voters)

    def votes(server):
        """Votes of two seconds; the server's answers are checked."""
        done = subprocess.run(
            [VOTES, "--tokens", tokens, "--seconds", "2", str(server.port), room], capture_output=True, text=True)
        if done.returncode:
            database.out.fail(f"votes beside counting an old log: {done.stderr.strip()[-300:]}")
        return json.loads(done.stdout.splitlines()[-1])["votes_per_s"]

    others = f"{BEHIND} AND heads.room_id <> {literal(room, name)}"
    with serving(store) as (_, began):
        while ask(others) > 0:
            time.sleep(0.2)
        found.note(f"old {name} idle", time.monotonic() - began)
    check_counts(database, *store)
    for table in TABLES:
        ask(f"DELETE FROM statistics_{table}")
    with serving(store) as (server, began):
        meanwhile = []
        while ask(others) > 0:
            meanwhile.append(votes(server))
        found.note(f"old {name} seconds", time.monotonic() - began)
        afterwards = [votes(server) for _ in range(max(5, len(meanwhile)))]
    check_counts(database, *store)
    # The last stretch reaches beyond the end of counting.
    meanwhile = meanwhile[:-1] or meanwhile
    found.note(f"old {name} meanwhile", statistics.median(meanwhile))
    found.note(f"old {name} afterwards", statistics.median(afterwards))
    found.note(f"old {name} ratio", statistics.median(meanwhile) / statistics.median(afterwards))
    database.out.keep({"name": f"old, {name}", "meanwhile": meanwhile, "afterwards": afterwards})


def literal(room, store):
    """A room's id in SQL."""
    return f"'{room}'" if store == "PostgreSQL" else f"x'{room.replace('-', '')}'"


@contextlib.contextmanager
def serving(store):
    """A server without TLS, and when it was started."""
    from backline import Server

    began = time.monotonic()
    with Server(
        "--plain", "--log-level", "warning", *servers.supported(*servers.UNLIMITED), *servers.extra, store=store
    ) as server:
        yield server, began
        assert server.stop() == 0, server.said()


def check_counts(database, *store):
    """Compares every row with the log."""
    from backline import run

    done = run("statistics", "verify", *store, timeout=600)
    database.out.keep({"name": "statistics verify", "said": done.stdout.splitlines()[-1:]})
    if done.returncode or "not counted yet" in done.stdout:
        database.out.fail(f"statistics verify ended with {done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}")


def rows(found):
    """The table's rows: what was measured, the figure, the line, and whether it is met."""

    def row(what, name, form, line=None, met=None):
        if name not in found:
            return
        value = found[name]
        yield (what, form.format(value), line or "", "" if met is None else "met" if met(value) else "**MISSED**")

    def most(limit):
        return lambda value: value <= limit

    def least(limit):
        return lambda value: value >= limit

    yield from row("folding an event, ns", "fold_ns", "{:.0f}")
    yield from row("counting it as well, ns", "count_ns", "{:.0f}", "≤ 50", most(50))
    yield from row("making the rows of a room's counts, ns", "flush_ns_a_room", "{:,.0f}")
    yield from row("append of an event: database CPU, µs", "append us", "{:.1f}")
    yield from row("flush, 6 events a room: database CPU a room, µs", "flush us 6 20", "{:.1f}", "≤ 15", most(15))
    yield from row("… events counted for one that is appended, in the same CPU time", "flush/append 6 20", "{:.1f}",
                   "≥ 5", least(5))
    yield from row("flush, 20 events a room: database CPU a room, µs", "flush us 20 20", "{:.1f}", "≤ 15", most(15))
    yield from row("… events counted for one that is appended, in the same CPU time", "flush/append 20 20", "{:.1f}",
                   "≥ 15", least(15))
    yield from row("flush, 20 events and a song's end in every room: database CPU a room, µs", "flush us 20 1", "{:.1f}")
    if "votes on" in found:
        yield ("votes a second without statistics, and with them",
               f"{found['votes off']:,.0f}, {found['votes on']:,.0f}", "", "")
    yield from row("… rate with ÷ without", "votes on/off", "{:.3f}", "≥ 0.95", least(0.95))
    if "votes on" in found:
        yield ("CPU of a vote, database and server, without statistics and with them, µs",
               f"{found['votes off CPU']:.1f}, {found['votes on CPU']:.1f}", "", "")
    yield from row("… without ÷ with", "votes off/on CPU", "{:.3f}", "≥ 0.95", least(0.95))
    yield from row("two servers, votes a second in 1,000 rooms", "lag votes", "{:,.0f}")
    yield from row("… until counted, p50, s", "lag_us_p50", "{:.2f}")
    yield from row("… until counted, p99, s", "lag_us_p99", "{:.2f}", "≤ 1", most(1))
    yield from row("… until acknowledged, p99, s", "ack_us_p99", "{:.2f}")
    yield from row("10,000 rooms 20 events behind, a song ended in 1 of 20: s until counted", "restart few songs",
                   "{:.1f}", "≤ 10", most(10))
    yield from row("… a song ended in every one", "restart songs everywhere", "{:.1f}", "≤ 10", most(10))
    for store in ("PostgreSQL", "embedded"):
        for name, what, limit in (
            ("tracks", "songs of 200,000 plays", 100), ("artists", "their artists", None),
            ("nearby_tracks", "songs of 200 rooms nearby", 15), ("nearby_artists", "their artists", None),
            ("day", "a room's day by minute", 3),
        ):
            if f"{store} {name}_us_p50" in found:
                value = found[f"{store} {name}_us_p50"]
                yield (f"{what}, {store}: p50, p99, ms", f"{value:.1f}, {found[f'{store} {name}_us_p99']:.1f}",
                       f"≤ {limit}" if limit else "", "" if limit is None else "met" if value <= limit else "**MISSED**")
    yield from row("tables, the last two days by minute: % of the log", "size by minute", "{:.1f}")
    yield from row("tables, all by quarter: % of the log", "size by quarter", "{:.1f}", "≤ 10", most(10))
    for store in ("PostgreSQL", "embedded"):
        yield from row(f"a log that is not counted, {store}: s until counted", f"old {store} idle", "{:.1f}")
        yield from row("… with 200 voters meanwhile", f"old {store} seconds", "{:.1f}")
        if f"old {store} ratio" in found:
            yield ("… votes a second meanwhile, and afterwards",
                   f"{found[f'old {store} meanwhile']:,.0f}, {found[f'old {store} afterwards']:,.0f}", "", "")
        yield from row("… meanwhile ÷ afterwards", f"old {store} ratio", "{:.2f}", "≥ 0.9", least(0.9))


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    # No process has a CPU for itself: the database uses all of them.
    os.sched_setaffinity(0, range(servers.cpus()))
    if not os.access(LOAD, os.X_OK):
        raise SystemExit(f"there is no {LOAD}: swift build -c release --product EventLogLoad")
    out, found = servers.Results(options.out), Findings()
    database = Database(options, out)
    try:
        for number in range(1, options.runs + 1):
            for part in options.only.split(","):
                servers.say(f"run {number} of {options.runs}: {part}")
                globals()[f"measure_{part}"](database, found)
    finally:
        database.close()
    servers.table(("what", "measured", "line", ""), rows(found))
    out.end()


if __name__ == "__main__":
    main()

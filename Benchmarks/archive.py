#!/usr/bin/env python3
"""Moves a log of a million events from the embedded store to PostgreSQL, counts it in both, and proves the counts.

Measures time and memory of each step; of counting also the processor time of the database, which is that of the
command itself for the embedded store.

Build first: swift build -c release --product backline; swift build -c release --product LogFiller. Needs PostgreSQL's
server programs.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time

import servers

MEMORY_LIMIT_MIB = 200
COUNTING = {"embedded store": 800_000, "PostgreSQL": 1_000_000}
"""The least events for each second of the database's processor time in which statistics are rebuilt or verified."""


def main():
    options = arguments()
    servers.enter()
    # There is no load on another CPU: every step may use all processors.
    os.sched_setaffinity(0, range(servers.cpus()))
    from postgres import Cluster

    os.environ.setdefault("BACKLINE_PROGRAM", os.path.join(servers.TREE, ".build", "release", "backline"))
    steps = []
    cluster = Cluster()
    try:
        with tempfile.TemporaryDirectory(prefix="backline-archive-", dir=options.scratch) as folder:
            move(options, cluster, folder, steps)
    finally:
        cluster.close()
    print("| step | seconds | events/s | peak memory, MiB | events/s and core of the database | line | |")
    print("|---|--:|--:|--:|--:|--:|---|")
    for step in steps:
        line = ["", "", ""]
        if least := step.get("least"):
            line = [f"{step['per_core']:,.0f}", f"≥ {least:,}", "met" if step["per_core"] >= least else "**MISSED**"]
        figures = [step["step"], f"{step['seconds']:.1f}", f"{step['rate']:,.0f}", f"{step['mib']:.0f}", *line]
        print(f"| {' | '.join(figures)} |")
    if options.out:
        with open(options.out, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(step) + "\n" for step in steps)
    return 1 if any(step["mib"] >= MEMORY_LIMIT_MIB for step in steps) else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000, help="number of events in the log (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the log's content (%(default)s)")
    parser.add_argument("--data", help="a folder with the embedded store to move; without it, one is made")
    parser.add_argument("--scratch", help="a folder for temporary files")
    parser.add_argument("--out", help="a file that the figures are added to, one JSON object a line")
    return parser.parse_args()


def move(options, cluster, folder, steps):
    source = ["--store", "sqlite", "--data", options.data or os.path.join(folder, "embedded")]
    target = ["--store", "postgres", "--database-url", cluster.database(), "--data", os.path.join(folder, "data")]
    if not options.data:
        filler = os.path.join(os.path.dirname(os.environ["BACKLINE_PROGRAM"]), "LogFiller")
        run([filler, "--data", source[3], "--events", str(options.events), "--seed", str(options.seed)], folder)
    export = os.path.join(folder, "log.jsonl")
    program = os.environ["BACKLINE_PROGRAM"]

    def step(name, *command):
        ended = run([program, *command], folder)
        counts = [word for word in re.sub("[,:]", "", ended["said"]).split()]
        events = int(counts[counts.index("events") - 1]) if "events" in counts else 0
        ended |= {"step": name, "events": events, "rate": events / ended["seconds"]}
        steps.append(ended)

    def count(name, store, database_seconds=lambda: 0.0):
        """Counts everything, twice, and compares it with the log."""
        for kind in ("rebuild", "verify", "rebuild again"):
            before = database_seconds()
            step(f"statistics {kind}, {name}", "statistics", kind.split()[0], *store)
            ended = steps[-1]
            used = database_seconds() - before or ended["cpu"]
            ended |= {"least": COUNTING[name], "per_core": ended["events"] / used}

    step("verify, embedded store", "verify", *source)
    count("embedded store", source)
    step("export", "export", *source, "--out", export)
    run([program, "migrate", *target], folder)
    step("import into PostgreSQL", "import", *target, export)
    step("verify, PostgreSQL", "verify", *target)
    count("PostgreSQL", target, lambda: servers.database_seconds(cluster))
    check_that_rooms_continue(target)
    step("verify again", "verify", *target)


def check_that_rooms_continue(store):
    """A server serves the imported log, and its rooms accept commands and continue their numbers."""
    from backline import Server

    with Server(store=store) as server:
        ana = server.session("Ana")
        rooms = server.request("GET", "/v1/rooms?limit=20", token=ana.token).expect(200)["rooms"]
        assert rooms, "no room was imported"
        for room in rooms:
            seq = ana.room(room["id"])["room"]["seq"]
            joined = ana.command(room["id"], "join")
            assert joined["seq"] == seq + 1, (room, seq, joined)
        say(f"{len(rooms)} rooms go on")
        assert server.stop() == 0


def run(command, folder):
    """Runs a program to its end; returns its output, how long it took and its peak memory."""
    began = time.monotonic()
    with tempfile.TemporaryFile(dir=folder) as output:
        child = os.posix_spawn(
            command[0], command, os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1), (os.POSIX_SPAWN_DUP2, output.fileno(), 2)])
        _, status, usage = os.wait4(child, 0)
        output.seek(0)
        said = output.read().decode()
    seconds = time.monotonic() - began
    assert os.waitstatus_to_exitcode(status) == 0, f"{' '.join(command)}: {said}"
    # Linux counts it in KiB.
    mib = usage.ru_maxrss / 1024
    last = said.strip().splitlines()[-1]
    say(f"{seconds:7.1f} s {mib:6.0f} MiB  {' '.join(command[1:3])}: {last}")
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "mib": mib, "said": last}


def say(text):
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

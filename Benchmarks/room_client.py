#!/usr/bin/env python3
"""The client's library with a room of 10,000 tracks: votes, snapshots, the main actor's work, and memory.

    swift build -c release --product RoomClientLoad
    Benchmarks/room_client.py [--tracks 10000] [--runs 3] [--out FILE]

Each part runs in a process of its own. Times are processor time of the thread that does the work, so that other
programs disturb them little; memory is what the allocator has given out. The figures are medians of the runs. The floor
is the message parsed as a tree in the same run. Exits with 1 if a line is missed.
"""

import json
import os
import statistics
import subprocess

import servers

LOAD = os.path.join(servers.TREE, ".build", "release", "RoomClientLoad")


def add_options(parser):
    parser.add_argument("--tracks", type=int, default=10_000, help="tracks in the pool")
    parser.add_argument("--runs", type=int, default=3, help="runs, whose medians count")
    parser.add_argument("--program", default=LOAD, help="the load program")


def run(options, command):
    """Runs a load; returns the JSON object that it prints."""
    done = subprocess.run(
        [options.program, command, "--tracks", str(options.tracks)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def lines(found):
    """The rows: what was measured, the figure, its digits, and the line if there is one."""
    mb = 1e6
    yield "a vote from bytes to the replica, µs", found["vote_us"], 2, 2
    yield "… parsed as a tree only, µs", found["vote_tree_us"], 2, None
    yield "… read as a message only, µs", found["vote_parse_us"], 2, None
    yield "… from bytes through the client's machine, µs", found["vote_machine_us"], 2, None
    yield "`requests` after a vote, all tracks voted, replica, µs", found["vote_all_voted_fold_us"], 2, 5
    yield "… on the main actor, µs", found["vote_all_voted_us_on_main_actor"], 2, 5
    yield f"snapshot of {found['snapshot_bytes'] / mb:.2f} MB, from bytes to the replica, ms", found["snapshot_ms"], 1, 60
    yield "… parsed as a tree only, ms", found["snapshot_tree_ms"], 1, None
    yield "the first snapshot on the main actor, ms", found["first_snapshot_ms"], 1, 8
    yield "… a later one, ms", found["snapshot_ms_on_main_actor"], 1, 8
    yield "… a later one, all tracks voted, ms", found["snapshot_all_voted_ms"], 1, 8
    yield "a delta of 200 events on the main actor, 20 rows looked at, ms", found["delta_ms"], 2, 0.5
    yield "… all tracks voted, ms", found["delta_all_voted_ms"], 2, 0.5
    yield "memory of the room, headless, MB", found["memory_headless_bytes"] / mb, 1, 8
    yield "… with an object for every track, MB", found["memory_bytes"] / mb, 1, 12
    yield "… what looking at every one of them adds, MB", found["memory_looking_bytes"] / mb, 1, None


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    if not os.access(options.program, os.X_OK):
        raise SystemExit(f"there is no {options.program}: swift build -c release --product RoomClientLoad")
    out, runs = servers.Results(options.out), []
    for number in range(options.runs):
        servers.say(f"run {number + 1} of {options.runs}")
        shown = run(options, "main-actor")
        figures = run(options, "headless")
        # Both measure votes and snapshots.
        runs.append({**{name + "_on_main_actor" if name in figures else name: shown[name] for name in shown}, **figures})
        out.keep({"name": f"run {number + 1}", **runs[-1]})
    found = {name: statistics.median(figures[name] for figures in runs) for name in runs[0]}
    rows = []
    for what, measured, digits, line in lines(found):
        is_met = line is None or measured <= line
        if not is_met:
            out.fail(f"{what}: {measured:.{digits}f}, the line is {line}")
        rows.append((what, f"{measured:.{digits}f}", "" if line is None else f"≤ {line}",
                     "" if line is None else "met" if is_met else "**MISSED**"))
    servers.table((f"a room of {options.tracks:,} tracks", "measured", "line", ""), rows)
    out.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""One hostile client against the server, one attack after the other, while ordinary clients vote in other rooms.

    Benchmarks/hostile.py [--minutes 10] [--clients 50] [--only NAME,…] [--store sqlite|postgres] [--out FILE]

The server runs with its default settings. These lines apply to every attack:

- The 99th percentile of the ordinary clients' time to an acknowledgement is at most 3 times that without an attack: the
  median of the times before the first attack and between attacks.
- The server's resident memory is at most 256 MB above that before the first attack.
- Nothing is lost: every acknowledged vote is in its room's log once, and `backline verify` finds nothing.

Exits with 1 if a line is missed.
"""

import collections
import contextlib
import json
import multiprocessing
import os
import statistics
import subprocess
import tempfile
import threading
import time

import attacks
import attacks.process
import servers
import voters
from attacks.connections import Line

RATIO = 3.0
"""The factor by which an acknowledgement may take longer under attack, at p99."""
MEMORY_KIB = 256 * 1000 * 1000 // 1024
"""The resident memory that an attack may add."""
BEGIN, BETWEEN, SETTLE = 20.0, 4.0, 2.0
"""Seconds without an attack: before the first, between two attacks, and those after an attack that are not counted."""
ENOUGH_KIB = 4 * 1024 * 1024
"""The resident memory of the server at which an attack is ended: the other attacks need the machine too."""


def add_options(parser):
    parser.add_argument("--minutes", type=float, default=10, help="minutes of attacks and pauses between them")
    parser.add_argument("--clients", type=int, default=50, help="ordinary clients")
    parser.add_argument("--period", type=float, default=0.5, help="seconds between two votes of one client")
    parser.add_argument("--only", default="", help="the attacks to run, separated by commas")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite", help="where events are kept")
    parser.add_argument("--small", action="store_true", help="begin with few connections and small rooms")


class Memory:
    """Samples the server's resident memory: the time, and KiB."""

    def __init__(self, pid):
        self._pid, self._stopping, self.samples = pid, threading.Event(), []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping.wait(0.1):
            with contextlib.suppress(OSError, StopIteration):
                self.samples.append((time.monotonic(), servers.resident_kib(self._pid)))

    @property
    def last(self):
        return self.samples[-1][1] if self.samples else 0

    def most(self, begin, end):
        return max((kib for at, kib in self.samples if begin <= at <= end), default=0)

    def stop(self):
        self._stopping.set()
        self._thread.join()


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))] if ordered else float("nan")


class Helper:
    """A process beside this one."""

    def __init__(self, main, *arguments):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=main, args=(*arguments, other), daemon=True)
        self.process.start()
        other.close()

    def ask(self, question, patience):
        self.pipe.send(question)
        return self.wait(patience)

    def wait(self, patience):
        if not self.pipe.poll(patience):
            raise RuntimeError(f"{self.process.name} says nothing for {patience:.0f} s")
        return self.pipe.recv()

    def end(self):
        if self.process.is_alive():
            self.process.terminate()
            self.process.join(10)


def places():
    """The processors of the server, the attacker and the ordinary clients.

    With two processors the server has both, as it has by default. The attacker is on the first, at the lowest priority
    and in short turns, because it stands for another machine; the clients are on the second. With more the server has
    the others.
    """
    count = servers.cpus()
    if count == 1:
        return None, None, None
    if count == 2:
        return {0, 1}, 0, 1
    return set(range(count - 2)), count - 2, count - 1


def check_log(server, record, out):
    """Every acknowledged vote must be in its room's log once, and no other vote."""
    acknowledged = collections.defaultdict(list)
    for vote in record.votes:
        acknowledged[vote.room].append((vote.seq, vote.type, vote.track, vote.member))
    lost = 0
    for room, token in record.rooms.items():
        logged, after = [], 0
        with Line(server.address, token, "127.0.3.1") as line:
            while True:
                status, content = line.ask("GET", f"/v1/rooms/{room}/events?after={after}&limit=1000")
                if status == 429:
                    time.sleep(json.loads(content)["retryAfterMs"] / 1000)
                    continue
                page = json.loads(content)
                logged += [(event["seq"], event["type"], event["track"], event["by"]) for event in page["events"]
                           if event["type"].startswith("vote")]
                if not page["events"] or page["events"][-1]["seq"] >= page["seq"]:
                    break
                after = page["events"][-1]["seq"]
        missing = collections.Counter(acknowledged[room]) - collections.Counter(logged)
        lost += sum(missing.values())
        for vote in list(missing)[:3]:
            out.fail(f"an acknowledged vote is not in the log: {vote} of {room}")
    if len(record.votes) != len({(vote.room, vote.seq) for vote in record.votes}):
        out.fail("two votes were acknowledged with one number")
    return lost


class Attacks:
    """The attacker's process, which is started again if it had to be ended."""

    def __init__(self, *arguments):
        self._arguments = arguments
        self._helper = Helper(attacks.process.main, *arguments)

    def make(self, name, seconds, memory):
        """One attack; its figures, and when it began and ended."""
        began = time.monotonic()
        self._helper.pipe.send((name, seconds))
        while not self._helper.pipe.poll(0.1):
            if memory.last > ENOUGH_KIB or time.monotonic() - began > seconds + 60:
                why = "too much memory" if memory.last > ENOUGH_KIB else "no end"
                self.end()
                self._helper = Helper(attacks.process.main, *self._arguments)
                cut = {"made": 0, "refused": 0, "cpu_s": 0, "notes": {f"cut off: {why}": 1}, "fault": None}
                return cut, began, time.monotonic()
        return self._helper.pipe.recv(), began, time.monotonic()

    def end(self):
        self._helper.end()


def within(record, memory, begin, end):
    """The figures of the ordinary clients and the server in a period."""
    votes = [vote.took for vote in record.votes if begin <= vote.due < end]
    health = [took for at, took in record.health if begin <= at < end]
    return {
        "votes": len(votes), "p50_ms": percentile(votes, 0.5) * 1000, "p99_ms": percentile(votes, 0.99) * 1000,
        "worst_ms": max(votes, default=0) * 1000, "health_ms": max(health, default=0) * 1000,
        "resident_kib": memory.most(begin, end),
        "troubles": dict(collections.Counter(text for at, text in record.troubles if begin <= at < end)),
    }


def run(server, chosen, out):
    """All attacks on the running server; returns the lines of the table."""
    names = [name for name in chosen.only.split(",") if name] or [one.__name__ for one in attacks.ATTACKS]
    share = chosen.minutes * 60 / len(names)
    scale = min(1.0, share / 30)
    between, settle = max(1.5, BETWEEN * scale), SETTLE * scale
    servers_cpus, attackers_cpu, voters_cpu = places()
    if servers_cpus:
        for task in os.listdir(f"/proc/{server.process.pid}/task"):
            os.sched_setaffinity(int(task), servers_cpus)
    size = attacks.SMALL if chosen.small else attacks.Size()
    memory = Memory(server.process.pid)
    ordinary = Helper(voters.main, server.address, chosen.clients, 5, chosen.period, voters_cpu)
    attacker = Attacks(server.address, "127.0.0.1", size, attackers_cpu)
    turns, alone = [], []
    try:
        ordinary.wait(60)
        time.sleep(2)
        begin = time.monotonic()
        time.sleep(max(5, BEGIN * scale))
        alone.append((begin, time.monotonic()))
        for name in names:
            servers.say(f"{name} …")
            cpu = servers.cpu_seconds(server.process.pid)
            figures, began, ended = attacker.make(name, max(1.0, share - between - settle), memory)
            figures["server_cpu_s"] = servers.cpu_seconds(server.process.pid) - cpu
            if figures["fault"]:
                out.fail(f"the attack {name} broke off: {figures['fault']}")
            turns.append((name, figures, began, ended))
            servers.say(f"    {figures['made']:,} requests, {figures['refused']:,} refused, "
                        f"{memory.most(began, ended) / 1024:.0f} MiB; {figures['notes']}")
            if not server.running:
                out.fail(f"the server ended during {name}:\n{server.said()}")
                return [], None
            time.sleep(settle)
            begin = time.monotonic()
            time.sleep(between)
            alone.append((begin, time.monotonic()))
        record = ordinary.ask("stop", 90)
    finally:
        attacker.end()
        ordinary.end()
        memory.stop()
    return judge(record, memory, turns, alone, out), record


def judge(record, memory, turns, alone, out):
    """The figures of every attack, and the lines that were missed."""
    quiet = [within(record, memory, *span) for span in alone]
    first = quiet[0]
    # The after-effects of an attack must not relax the line.
    p99 = statistics.median(span["p99_ms"] for span in quiet)
    bound = first["resident_kib"] + MEMORY_KIB
    rows = [("none, before the first", "", "", first["votes"], f"{first['p99_ms']:.1f}", "",
             f"{first['health_ms']:.0f}",
             f"{first['resident_kib'] / 1024:.0f}", "", ""),
            (f"none, median of {len(quiet)} times", "", "", sum(span["votes"] for span in quiet), f"{p99:.1f}", "1.0",
             "", "", "", "")]
    out.keep({"hostile": "alone", "p99_ms": p99, "times": quiet})
    for name, figures, began, ended in turns:
        found = within(record, memory, began, ended)
        out.keep({"hostile": name, "seconds": ended - began, **figures, **found, "ratio": found["p99_ms"] / p99})
        rows.append((
            name, f"{figures['made']:,}", f"{figures['refused']:,}", found["votes"], f"{found['p99_ms']:.1f}",
            f"{found['p99_ms'] / p99:.1f}", f"{found['health_ms']:.0f}", f"{found['resident_kib'] / 1024:.0f}",
            *(f"{figures[whose] / (ended - began) * 100:.0f}" for whose in ("server_cpu_s", "cpu_s"))))
        if not found["p99_ms"] <= RATIO * p99:
            out.fail(f"{name}: acknowledgements take {found['p99_ms']:.1f} ms at p99, {p99:.1f} without an attack")
        if found["resident_kib"] > bound:
            out.fail(f"{name}: {found['resident_kib'] // 1024} MiB resident, {first['resident_kib'] // 1024} before")
    for text, number in collections.Counter(text for _, text in record.troubles).most_common(5):
        out.fail(f"ordinary clients: {number} times {text}")
    return rows


def verify(store, out):
    done = subprocess.run([os.environ["BACKLINE_PROGRAM"], "verify", *store], capture_output=True, text=True)
    servers.say(f"verify: {done.returncode} {done.stdout.strip()[-200:]} {done.stderr.strip()[-300:]}")
    if done.returncode != 0:
        out.fail(f"verify ends with {done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}")


def main():
    chosen = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    from backline import Server

    out = servers.Results(chosen.out)
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder, servers.store(chosen.store) as kind:
        store = [*kind, "--data", folder]
        server = Server(*servers.extra, "--log-level", "error", store=store)
        os.sched_setaffinity(0, range(servers.cpus()))
        try:
            server.start()
            rows, record = run(server, chosen, out)
            if record is not None:
                lost = check_log(server, record, out)
                out.keep({"hostile": "log", "acknowledged": len(record.votes), "lost": lost,
                          "log_bytes": sum(entry.stat().st_size for entry in os.scandir(folder) if entry.is_file())})
                servers.say(f"{len(record.votes):,} votes acknowledged, {lost} lost")
                if (code := server.stop()) != 0:
                    out.fail(f"the server ended with {code}")
                verify(store, out)
        finally:
            server.close()
    servers.table(("attack", "requests", "refused", "votes", "acknowledged p99 ms", "ratio", "healthz worst ms",
                   "resident MiB", "server CPU %", "attacker CPU %"), rows)
    out.end()


if __name__ == "__main__":
    main()

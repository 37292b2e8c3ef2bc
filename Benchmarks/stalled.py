#!/usr/bin/env python3
"""Stalled readers: the cost of a subscriber that stops reading, for the server and for others.

    Benchmarks/stalled.py [--deltas 50000] [--stalled 20] [--never] [--out FILE]

A room makes 50,000 deltas at a steady rate for subscribers that read, once without and once with some that stopped
reading before. The output shows the server's memory for each stalled reader and the others' latency in both runs. The
memory is the growth above the run without stalled readers, divided by their number, because one alone is lost in the
noise of a whole process. Then the stalled readers read again: each must get exactly one snapshot with `collapsed`, and
then follow without a gap.

With `--never` they do not read again: the server must close each with 1013 after its stall limit, and release it.
"""

import asyncio
import json
import threading
import time

import client
import servers


def add_options(parser):
    parser.add_argument("--deltas", type=int, default=50_000, help="deltas made while the stalled readers do not read")
    parser.add_argument("--rate", type=int, default=2_500, help="deltas in a second")
    parser.add_argument("--readers", type=int, default=20, help="subscribers that read")
    parser.add_argument("--stalled", type=int, default=20, help="subscribers that stop reading")
    parser.add_argument("--bound", type=int, default=1024, help="KiB that the server keeps for one connection at most")
    parser.add_argument("--stall-limit", type=float, default=30, help="seconds after which a stalled reader is closed")
    parser.add_argument("--never", action="store_true", help="the stalled readers never read again")


class Memory:
    """Samples a process's resident memory."""

    def __init__(self, pid):
        self._pid, self._stopping = pid, threading.Event()
        self.begin = self.most = self.end = servers.resident_kib(pid)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping.wait(0.1):
            self.end = servers.resident_kib(self._pid)
            self.most = max(self.most, self.end)

    def stop(self):
        self._stopping.set()
        self._thread.join()
        self.end = servers.resident_kib(self._pid)
        self.most = max(self.most, self.end)


class Reader:
    """A subscriber that will stop reading."""

    def __init__(self, room):
        self.follower, self.client, self.messages_after = client.Follower(room), None, []

    def take(self, message):
        if message["type"] != "delta":
            self.messages_after.append(message["type"])
        self.follower.take(message)


async def measure(chosen, count, out):
    """One run with `count` stalled readers; returns its figures."""
    loop = asyncio.get_running_loop()
    with servers.backline() as server:
        owner, guest = server.session("Owner"), server.session("Guest")
        room = servers.make_room(owner)
        path, context = f"/v1/rooms/{room}/socket", client.tls()
        target = servers.Target(
            "backline", server.process.pid, f"wss://127.0.0.1:{server.port}{path}",
            ["--header", f"Authorization: Bearer {guest.token}", "--first", '"type":"snapshot"'],
            ["--pub-header", f"Authorization: Bearer {owner.token}", "--template",
             servers.EVENT.replace("ROOM", room), "--multi"],
        )
        stalled = [Reader(room) for _ in range(count)]
        for reader in stalled:
            reader.client = await client.connect(
                server.port, path, guest.token, reader.take, context, receive_buffer=16_384)
            while reader.follower.seq is None:
                await asyncio.sleep(0.01)
            reader.client.stop_reading()
        without = servers.descriptors(server.process.pid) - count
        seconds = chosen.deltas / chosen.rate
        memory, began = Memory(server.process.pid), time.monotonic()
        (line,) = await loop.run_in_executor(None, lambda: servers.load(
            target, *target.publisher, "-n", str(chosen.readers), "--phases", f"r{chosen.rate}:{seconds:g}",
            "--warmup", "0", "--settle", "0.2", "--drain", "5", out=out))
        memory.stop()
        found = {
            "stalled": count, "deltas": line["sent"], "lat_us": line["lat_us"], "begin_kib": memory.begin,
            "most_kib": memory.most, "end_kib": memory.end, "server_cpu_s": line["server_cpu_s"],
            "seconds": time.monotonic() - began,
        }
        if wrong := servers.defects(line):
            out.fail(f"the readers beside {count} stalled ones: {', '.join(wrong)}")
        figures = servers.metrics(server)
        found["metrics"] = {name: value for name, value in figures.items()
                            if any(word in name for word in ("queue", "collaps", "closes"))}
        if count:
            if chosen.never:
                await never_read(server, stalled, without, chosen, began, found, out)
            else:
                await read_on(owner, room, stalled, found, out)
        for reader in stalled:
            reader.client.drop()
        await asyncio.sleep(0.1)
        return found


async def read_on(owner, room, stalled, found, out):
    """The stalled readers read again and must follow without a gap."""
    for reader in stalled:
        reader.messages_after.clear()
        reader.client.read_on()
    loop = asyncio.get_running_loop()
    seq = owner.room(room)["room"]["seq"]

    async def all_at(last, what):
        deadline = time.monotonic() + 20
        while any(reader.follower.seq != last and not reader.client.ended.done() for reader in stalled):
            if time.monotonic() > deadline:
                out.fail(f"{what}: {sum(reader.follower.seq != last for reader in stalled)} are not at event {last}")
                return
            await asyncio.sleep(0.02)

    await all_at(seq, "after reading on")
    for number in range(100):
        await loop.run_in_executor(None, lambda: owner.command(room, "rename", name=f"After {number}"))
    await all_at(seq + 100, "following on")
    found["snapshots_after"] = [reader.messages_after.count("snapshot") for reader in stalled]
    found["collapsed"] = [reader.follower.collapsed for reader in stalled][:3]
    found["faults"] = [fault for reader in stalled for fault in reader.follower.faults][:10]
    ended = [reader.client.ended.result() for reader in stalled if reader.client.ended.done()]
    for bad, text in (
        (ended, f"{len(ended)} of the stalled were closed: {ended[:3]}"),
        (any(count != 1 for count in found["snapshots_after"]),
         f"snapshots after reading on: {found['snapshots_after']}"),
        (any(len(reader.follower.collapsed) != 1 for reader in stalled), "not exactly one snapshot says `collapsed`"),
        (found["faults"], f"holes: {found['faults']}"),
    ):
        if bad:
            out.fail(text)


async def never_read(server, stalled, without, chosen, began, found, out):
    """The server must close each after the stall limit, with 1013; `without` are its descriptors besides them."""
    most = found["seconds"] + chosen.stall_limit + 15
    while (left := servers.descriptors(server.process.pid) - without) > 0 and time.monotonic() - began < most:
        await asyncio.sleep(0.2)
    found["let_go_after_s"] = time.monotonic() - began
    for reader in stalled:
        reader.client.read_on()
    codes = [await asyncio.wait_for(reader.client.ended, 10) if left <= 0 else None for reader in stalled]
    found["codes"] = {str(code): codes.count(code) for code in set(codes)}
    if left > 0:
        out.fail(f"{left} stalled connections are still there after {found['let_go_after_s']:.0f} s")
    elif set(codes) != {1013} and (counted := closes_with(server, 1013)) != len(stalled):
        # A close frame behind a full socket cannot arrive: use the server's own count instead.
        out.fail(f"close codes seen by the stalled: {found['codes']}, by the server's count: {counted}")


def closes_with(server, code):
    """How many connections the server closed with a code, by its own count; None if it reports none."""
    figures = [value for name, value in servers.metrics(server).items() if "close" in name and f'"{code}"' in name]
    return sum(figures) if figures else None


def main():
    chosen = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    out = servers.Results(chosen.out)
    found = {}
    for count in (0, chosen.stalled):
        servers.say(f"{chosen.deltas} deltas to {chosen.readers} readers and {count} stalled")
        found[count] = client.run(measure(chosen, count, out))
        out.keep({"benchmark": "stalled", **found[count]})
    without, beside = found[0], found[chosen.stalled]
    each = (beside["most_kib"] - beside["begin_kib"] - without["most_kib"] + without["begin_kib"]) / chosen.stalled
    if each > chosen.bound + 64:
        out.fail(f"{each:.0f} KiB for a stalled reader, more than {chosen.bound} + 64")
    servers.table(("", "no stalled reader", f"{chosen.stalled} stalled readers"), [
        ("deltas", without["deltas"], beside["deltas"]),
        ("the others' latency p50 ms", *(f"{one['lat_us']['p50'] / 1000:.2f}" for one in (without, beside))),
        ("p99 ms", *(f"{one['lat_us']['p99'] / 1000:.2f}" for one in (without, beside))),
        ("server CPU s", *(f"{one['server_cpu_s']:.1f}" for one in (without, beside))),
        ("server memory grew by MiB, at most",
         *(f"{(one['most_kib'] - one['begin_kib']) / 1024:.1f}" for one in (without, beside))),
        ("KiB for each stalled reader", "", f"{each:.0f}"),
        *([("let go after s", "", f"{beside['let_go_after_s']:.0f}"), ("close codes", "", json.dumps(beside["codes"]))]
          if chosen.never else
          [("snapshots after reading on", "", " ".join(map(str, sorted(set(beside["snapshots_after"])))))]),
    ])
    out.end()


if __name__ == "__main__":
    main()

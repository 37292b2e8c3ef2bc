#!/usr/bin/env python3
"""Drain: thousands of subscribers through a planned restart, with events all the while.

    Benchmarks/drain.py [--clients 10000] [--window 20] [--out FILE]

A server on a private PostgreSQL gets SIGTERM while a publisher makes events; a second server starts on the same port at
once. The first server tells each client when to reconnect (`goaway`) and closes it with 1012 at that instant. The
client reconnects at once, with its position. The output shows when all clients were back, whether any lost or repeated
an event, and how evenly they reconnected.
Exits with 1 if not all are back within the window and ten seconds, if an event was lost or repeated, or if more clients
reconnected in one second than twice the mean.
"""

import asyncio
import collections
import dataclasses
import json
import multiprocessing
import os
import signal
import statistics
import time

import client
import servers

SLACK = 10
"""Seconds after the window within which all clients must be back."""
LATE = 1.0
"""Seconds by which a close may miss the announced instant."""


def add_options(parser):
    parser.add_argument("--clients", type=int, default=10_000, help="subscribers")
    parser.add_argument("--window", type=float, default=20, help="seconds over which the server closes connections")
    parser.add_argument("--rate", type=float, default=1, help="events in a second")
    parser.add_argument("--processes", type=int, default=2, help="processes among which the clients are divided")


@dataclasses.dataclass
class Record:
    """The record of one client; times are on the monotonic clock, which all processes share."""

    told_at: float | None = None
    told: float | None = None
    closed_at: float | None = None
    code: int | None = None
    back_at: float | None = None
    attempts: int = 0
    answers: list[str] = dataclasses.field(default_factory=list)
    faults: list[str] = dataclasses.field(default_factory=list)
    seq: int | None = None


class Subscriber:
    """One client: follows the room, is closed when the server says so, and reconnects with its position."""

    def __init__(self, crowd):
        self.crowd, self.follower, self.record = crowd, client.Follower(crowd.room), Record()

    def take(self, message):
        if message["type"] == "goaway":
            self.record.told_at, self.record.told = time.monotonic(), message["reconnectInMs"] / 1000
        elif message.get("re") == 1:
            self.record.answers.append(message["type"])
            self.record.back_at = time.monotonic()
        self.follower.take(message)

    async def live(self, first):
        crowd, record = self.crowd, self.record
        record.code = await first.ended
        record.closed_at = first.close_arrived or time.monotonic()
        while not crowd.stopping:
            try:
                again = await crowd.connect("/v1/socket", self.take)
                again.send(self.follower.subscribe())
                crowd.clients.append(again)
                return
            except (OSError, client.Refused):
                record.attempts += 1
                await asyncio.sleep(client.backoff(record.attempts))


class Crowd:
    """The clients of one process; `pipe` leads to the process that restarts the server."""

    def __init__(self, pipe, port, token, room):
        self.pipe, self.room = pipe, room
        self._port, self._token, self._tls = port, token, client.tls()
        self.clients, self.stopping = [], False

    async def connect(self, path, take):
        return await client.connect(self._port, path, self._token, take, self._tls)

    async def run(self, count):
        subscribers, gate = [], asyncio.Semaphore(100)

        async def one():
            subscriber = Subscriber(self)
            async with gate:
                connection = await self.connect(f"/v1/rooms/{self.room}/socket", subscriber.take)
                while subscriber.follower.seq is None:
                    await asyncio.sleep(0.05)
            subscribers.append(subscriber)
            return asyncio.create_task(subscriber.live(connection))

        tasks = await asyncio.gather(*(one() for _ in range(count)))
        self.pipe.send(("connected", count))
        while not self.pipe.poll():
            await asyncio.sleep(0.3)
            self.pipe.send(("back", sum(1 for one in subscribers if one.record.back_at)))
        last = self.pipe.recv()
        limit = time.monotonic() + 20
        while time.monotonic() < limit and any(one.follower.seq != last for one in subscribers):
            await asyncio.sleep(0.2)
        self.stopping = True
        for subscriber in subscribers:
            subscriber.record.faults, subscriber.record.seq = subscriber.follower.faults[:3], subscriber.follower.seq
        self.pipe.send(("records", [subscriber.record for subscriber in subscribers]))
        for task in tasks:
            task.cancel()
        for connection in self.clients:
            connection.drop()

    @staticmethod
    def process(pipe, port, token, room, count):
        os.sched_setaffinity(0, range(servers.cpus()))
        client.run(Crowd(pipe, port, token, room).run(count))


class Publisher:
    """Makes events one after the other; repeats a command without an answer, with its key, on the next connection."""

    def __init__(self, port, token, room, rate):
        self._port, self._token, self._room, self._pause, self._tls = port, token, room, 1 / rate, client.tls()
        self.acknowledged, self.stopping = 0, False

    async def run(self):
        answered, connection, number = asyncio.Event(), None, 0

        def take(message):
            if message.get("re") == number and message["type"] == "ack":
                answered.set()

        while not self.stopping:
            if connection is None or connection.ended.done():
                try:
                    connection = await client.connect(self._port, "/v1/socket", self._token, take, self._tls)
                except (OSError, client.Refused):
                    await asyncio.sleep(0.05)
                    continue
            if answered.is_set() or number == 0:
                number += 1
                answered.clear()
            connection.send({
                "type": "command", "id": number, "room": self._room, "key": f"drain-{number}",
                "command": {"type": "rename", "name": f"Owner {number}"},
            })
            waiting = asyncio.ensure_future(answered.wait())
            await asyncio.wait([waiting, connection.ended], return_when=asyncio.FIRST_COMPLETED, timeout=2)
            waiting.cancel()
            if answered.is_set():
                self.acknowledged += 1
                await asyncio.sleep(self._pause)


def start_again(port, database):
    """Starts the second server; the port is free as soon as the first has closed its listener."""
    from backline import Server

    certificate, key = servers.certificate_files()
    deadline = time.monotonic() + 30
    while True:
        second = Server(
            "--certificate", certificate, "--key", key, "--log-level", "warning",
            *servers.supported(*servers.UNLIMITED),
            *servers.extra, store=database,
        )
        second.port = port
        try:
            with servers.on_server_cpu():
                return second.start()
        except AssertionError:
            second.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def start_crowds(chosen, port, token, room):
    """Starts the processes that hold the clients; returns their ends of the pipes, and the processes."""
    context, pipes, processes = multiprocessing.get_context("spawn"), [], []
    for number in range(chosen.processes):
        count = chosen.clients // chosen.processes + (number < chosen.clients % chosen.processes)
        ours, theirs = context.Pipe()
        process = context.Process(target=Crowd.process, args=(theirs, port, token, room, count), daemon=True)
        process.start()
        pipes.append(ours)
        processes.append(process)
    return pipes, processes


async def counted(pipes, kind, enough, limit):
    """Waits until the processes have reported so many clients altogether, or the time is over."""
    told = dict.fromkeys(pipes, 0)
    while sum(told.values()) < enough and time.monotonic() < limit:
        for pipe in pipes:
            while pipe.poll():
                found, count = pipe.recv()
                if found == kind:
                    told[pipe] = count
        await asyncio.sleep(0.1)
    return sum(told.values())


async def restart(first, database, chosen):
    owner, guest = first.session("Owner"), first.session("Guest")
    room, began = servers.make_room(owner), time.monotonic()
    pipes, processes = start_crowds(chosen, first.port, guest.token, room)
    connected = await counted(pipes, "connected", chosen.clients, began + 240)
    assert connected == chosen.clients, f"{connected} of {chosen.clients} clients are connected"
    servers.say(f"{connected} clients connected in {time.monotonic() - began:.1f} s")
    publisher = Publisher(first.port, owner.token, room, chosen.rate)
    publishing = asyncio.create_task(publisher.run())
    await asyncio.sleep(3)

    servers.say("SIGTERM")
    loop, began = asyncio.get_running_loop(), time.monotonic()
    first.process.send_signal(signal.SIGTERM)
    ending = loop.run_in_executor(None, first.process.wait, chosen.window + 60)
    second = await loop.run_in_executor(None, start_again, first.port, database)
    try:
        ready = time.monotonic() - began
        servers.say(f"the second server is ready after {ready:.1f} s")
        code, ended = await ending, time.monotonic() - began
        servers.say(f"the first server ended with {code} after {ended:.1f} s")
        back = await counted(pipes, "back", chosen.clients, began + chosen.window + 3 * SLACK)
        servers.say(f"{back} clients are back")
        publisher.stopping = True
        await publishing
        last = owner.room(room)["room"]["seq"]
        records = []
        for pipe in pipes:
            pipe.send(last)
        for pipe in pipes:
            kind = None
            while kind != "records":
                kind, found = await loop.run_in_executor(None, pipe.recv)
            records += found
    finally:
        for process in processes:
            process.join(10)
            process.kill()
        second.close()
    return {
        "clients": chosen.clients, "window_s": chosen.window, "second_ready_s": ready, "first_ended_s": ended,
        "first_exit_code": code, "events": publisher.acknowledged, "last_seq": last, **figures(records, began, last),
    }


def figures(everyone, began, last):
    back = sorted(one.back_at - began for one in everyone if one.back_at)
    misses = [abs(one.closed_at - one.told_at - one.told) for one in everyone if one.told_at and one.closed_at]
    seconds = collections.Counter(int(at) for at in back)
    accepted = [seconds[second] for second in range(int(back[0]), int(back[-1]) + 1)] if back else []
    # The first and the last second are rarely complete.
    whole = accepted[1:-1] if len(accepted) > 4 else accepted
    return {
        "told": sum(1 for one in everyone if one.told_at),
        "close_codes": dict(collections.Counter(str(one.code) for one in everyone)),
        "close_missed_instant_s_median": statistics.median(misses) if misses else None,
        "close_missed_instant_s_max": max(misses, default=None),
        "back": len(back), "first_back_s": back[0] if back else None, "last_back_s": back[-1] if back else None,
        "answers": dict(collections.Counter("+".join(one.answers) for one in everyone)),
        "attempts_max": max(one.attempts for one in everyone),
        "faults": [fault for one in everyone for fault in one.faults][:20],
        "clients_with_faults": sum(1 for one in everyone if one.faults),
        "not_caught_up": sum(1 for one in everyone if one.seq != last),
        "accepts_per_second": accepted, "accepts_mean": statistics.mean(whole) if whole else 0,
        "accepts_max": max(whole, default=0),
    }


def judge(found, chosen, out):
    for bad, text in (
        (found["first_exit_code"] != 0, f"the first server ended with {found['first_exit_code']}"),
        (found["told"] != chosen.clients, f"{found['told']} clients were told to go"),
        (found["close_codes"] != {"1012": chosen.clients}, f"close codes {found['close_codes']}"),
        ((found["close_missed_instant_s_max"] or 0) > LATE,
         f"a client was closed {found['close_missed_instant_s_max']} s beside its instant"),
        (found["back"] != chosen.clients, f"{found['back']} clients came back"),
        ((found["last_back_s"] or 0) > chosen.window + SLACK, f"the last came back after {found['last_back_s']} s"),
        (set(found["answers"]) != {"resumed"}, f"answers to the position: {found['answers']}"),
        (found["clients_with_faults"] > 0,
         f"{found['clients_with_faults']} clients lost or repeated events: {found['faults']}"),
        (found["not_caught_up"] > 0, f"{found['not_caught_up']} clients are not at the last event"),
        (found["accepts_max"] > 2 * found["accepts_mean"], "more than twice the mean came in one second"),
    ):
        if bad:
            out.fail(text)


def main():
    chosen = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    from postgres import Cluster

    out = servers.Results(chosen.out)
    cluster = Cluster()
    try:
        database = ("--store", "postgres", "--database-url", cluster.database())
        servers.say("PostgreSQL and the first server run")
        with servers.backline(store=database, ends=True) as first:
            found = client.run(restart(first, database, chosen))
    finally:
        cluster.close()
    out.keep({"benchmark": "drain", **found})
    judge(found, chosen, out)

    def seconds(value):
        return "" if value is None else f"{value:.2f}"

    servers.table(("", "figure"), [
        ("clients", f"{chosen.clients:,}"), ("events made", found["events"]),
        ("told to go", found["told"]), ("close codes", json.dumps(found["close_codes"])),
        ("closed beside its instant by, median s", seconds(found["close_missed_instant_s_median"])),
        ("at most s", seconds(found["close_missed_instant_s_max"])),
        ("first server ended after s", seconds(found["first_ended_s"])),
        ("second server ready after s", seconds(found["second_ready_s"])),
        ("first client back after s", seconds(found["first_back_s"])),
        ("last client back after s", seconds(found["last_back_s"])),
        ("clients that lost or repeated an event", found["clients_with_faults"]),
        ("came back in a second, mean", f"{found['accepts_mean']:.0f}"),
        ("came back in a second, most", found["accepts_max"]),
        ("by second", " ".join(map(str, found["accepts_per_second"]))),
    ])
    out.end()


if __name__ == "__main__":
    main()

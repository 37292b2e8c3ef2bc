#!/usr/bin/env python3
"""Soak: many guests come and go for a long time, after which the server must have released everything.

    Benchmarks/soak.py [--minutes 20] [--guests 100] [--store sqlite|postgres] [--out FILE]

Guests make sessions, open or choose rooms, join, vote, lose their connections (half of them without a close: cut, or
silent until the server closes them), reconnect with their position, leave, and are deleted. When all have gone and
the server had time to release rooms and silent connections, its file descriptors, resident memory and rooms in memory
must be as they were after the first two minutes of the same load. Exits with 1 if they are not, if a guest lost or
repeated an event, or if an answer was unexpected.
"""

import asyncio
import collections
import contextlib
import json
import random
import time
import traceback

import client
import servers

MEMORY_RATIO = 1.25
"""The factor by which resident memory may be larger at the end than after the first two minutes."""
DESCRIPTORS = 4
"""File descriptors that may be open in addition: a store opens its connections when it needs them."""
SETTLE = 300
"""Seconds within which everything must have been released."""
GIVEN_BACK = 70
"""Seconds until the server has returned free memory to the system, which it does once a minute."""
TRACKS = 50
TWELVE_HOURS = 12 * 60


def add_options(parser):
    parser.add_argument("--minutes", type=float, default=20, help="minutes of load")
    parser.add_argument("--warm-up", type=float, default=120, help="seconds of load before the measured time")
    parser.add_argument("--guests", type=int, default=100, help="guests at the same time")
    parser.add_argument("--rooms", type=int, default=15, help="approximate number of open rooms")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite", help="where events are kept")
    parser.add_argument("--seed", type=int, default=None, help="seed of the guests' actions")


class Api:
    """HTTP requests over a few kept connections."""

    def __init__(self, port, context, size=8):
        self._port, self._context = port, context
        self._free = asyncio.Queue()
        for _ in range(size):
            self._free.put_nowait(None)

    async def request(self, method, path, body=None, token=None):
        """Returns the status and the JSON of the answer. A kept connection that has ended is replaced once."""
        kept = await self._free.get()
        try:
            if kept is not None:
                with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                    return await self._exchange(kept, method, path, body, token)
                kept[1].close()
            kept = await asyncio.open_connection("127.0.0.1", self._port, ssl=self._context)
            return await self._exchange(kept, method, path, body, token)
        finally:
            self._free.put_nowait(kept)

    async def _exchange(self, connection, method, path, body, token):
        reader, writer = connection
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self._port}", f"Content-Length: {len(content)}"]
        if body is not None:
            lines.append("Content-Type: application/json")
        if token:
            lines.append(f"Authorization: Bearer {token}")
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        content = await reader.readexactly(int(fields.get("content-length", 0)))
        return int(head[0].split()[1]), json.loads(content) if content else None

    def close(self):
        while not self._free.empty():
            if (kept := self._free.get_nowait()) is not None:
                kept[1].close()
            # The place stays free for the next request.
        for _ in range(8):
            self._free.put_nowait(None)


class Unexpected(Exception):
    """An unexpected answer."""


class Guest:
    """One guest's connection to one room."""

    def __init__(self, run, room, token):
        self.run, self.room, self.token = run, room, token
        self.follower = client.Follower(room)
        self.client = None
        self._waiting, self._number = {}, 1
        self._subscribed = asyncio.Event()

    def _take(self, message):
        self.follower.take(message)
        if message["type"] in ("snapshot", "resumed"):
            self._subscribed.set()
        elif (number := message.get("re")) in self._waiting:
            self._waiting.pop(number).set_result(message)

    async def come(self):
        """Connects; when reconnecting, with the position of the connection before."""
        again = self.follower.seq is not None
        self._subscribed.clear()
        path = "/v1/socket" if again else f"/v1/rooms/{self.room}/socket"
        self.client = await self.run.connect(path, self.token, self._take)
        if again:
            self.client.send(self.follower.subscribe())
        async with asyncio.timeout(30):
            await self._subscribed.wait()
        self.run.count["resumed" if again else "subscribed"] += 1

    async def command(self, type, **fields):
        """Sends a command and returns its answer, an ack or an error."""
        self._number += 1
        answer = self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self.client.send({
            "type": "command", "id": self._number, "room": self.room, "key": f"{self.token[-12:]}-{self._number}",
            "command": {"type": type, **fields},
        })
        async with asyncio.timeout(30):
            await asyncio.wait([answer, self.client.ended], return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise Unexpected(f"closed with {self.client.ended.result()} instead of an answer to {type}")
        return answer.result()

    async def lose(self, may_fall_silent):
        """Loses the connection, in half of the cases without a close."""
        kind = random.choice(["close", "close", "cut", "silent" if may_fall_silent else "cut"])
        self.run.count[f"lost: {kind}"] += 1
        if kind == "close":
            self.client.close()
            async with asyncio.timeout(30):
                await self.client.ended
        elif kind == "cut":
            self.client.drop()
        else:
            self.client.fall_silent()
            # Nobody takes its messages any more.
            self.client._take = lambda message: None
            self.run.silent.append(self.client)

    def check(self):
        if self.follower.faults:
            self.run.faults += self.follower.faults


class Run:
    """All guests and rooms of one server."""

    def __init__(self, port, out):
        self.port, self.out = port, out
        self.context, self._connect = client.tls(), client.connect
        self.api = Api(port, self.context)
        self.count = collections.Counter()
        self.rooms, self.silent, self.faults, self.errors = [], [], [], collections.Counter()
        self.stopping = False

    async def connect(self, path, token, take):
        return await self._connect(self.port, path, token, take, self.context)

    async def ask(self, expected, *request):
        status, answer = await self.api.request(*request)
        if status != expected:
            raise Unexpected(f"{request[0]} {request[1].split('/')[2]}: {status} {answer}")
        return answer

    async def live(self, rooms):
        """One guest after the other, until the run ends."""
        while not self.stopping:
            try:
                await self.visit(rooms)
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                self.errors[f"{type(error).__name__}: {error} ({place.name})"[:200]] += 1

    async def visit(self, rooms):
        """A guest's evening."""
        token = (await self.ask(201, "POST", "/v1/sessions", {"name": "Guest"}))["token"]
        self.count["sessions"] += 1
        forgetful = random.random() < 0.25
        owns = len(self.rooms) < rooms
        room = await self.open_room(token) if owns else random.choice(self.rooms)
        guest = Guest(self, room, token)
        try:
            await guest.come()
            answer = await guest.command("join")
            if answer["type"] == "ack":
                self.count["joins"] += 1
                for _ in range(random.randint(1, 3)):
                    await self.vote(guest)
                    await guest.lose(forgetful)
                    await asyncio.sleep(random.uniform(0, 0.5))
                    await guest.come()
                await self.vote(guest)
                if not owns and random.random() < 0.5:
                    await guest.command("leave")
                    self.count["left"] += 1
            elif answer.get("code") != "room_closed":
                raise Unexpected(f"join: {answer}")
            if owns:
                await self.give_up(guest)
        finally:
            if owns and room in self.rooms:
                self.rooms.remove(room)
            if guest.client is not None:
                guest.client.close() if random.random() < 0.5 else guest.client.drop()
            guest.check()
        if not forgetful:
            await self.ask(204, "DELETE", "/v1/session", None, token)
            self.count["sessions deleted"] += 1

    async def open_room(self, token):
        answer = await self.ask(201, "POST", "/v1/rooms", {"name": f"Room {random.randrange(1000)}"}, token)
        room = answer["room"]["state"]["id"]
        tracks = [{"source": "soak", "sourceId": str(n), "title": f"Track {n}"} for n in range(TRACKS)]
        await self.ask(200, "POST", f"/v1/rooms/{room}/commands", {"command": {"type": "addTracks", "tracks": tracks}},
                       token)
        self.rooms.append(room)
        self.count["rooms"] += 1
        return room

    async def give_up(self, owner):
        """The owner stays for a while, then closes the room, or leaves it to the others, or forgets it."""
        await asyncio.sleep(random.uniform(5, 20) if not self.stopping else 0)
        self.rooms.remove(owner.room)
        if (end := random.choice(["closeRoom", "closeRoom", "leave", "forget"])) != "forget":
            await owner.command(end)
            self.count["rooms closed" if end == "closeRoom" else "rooms left"] += 1

    async def vote(self, guest):
        for _ in range(random.randint(2, 8)):
            answer = await guest.command(random.choice(["vote", "vote", "unvote"]), track=random.randint(1, TRACKS))
            if answer["type"] == "ack":
                self.count["votes"] += 1
            elif answer.get("code") not in ("room_closed", "not_member"):
                raise Unexpected(f"vote: {answer}")
            await asyncio.sleep(random.uniform(0, 0.2))

    async def go_on(self, seconds, chosen):
        """Guests come and go for some time, then all go."""
        self.stopping, end = False, time.monotonic() + seconds
        guests = [asyncio.create_task(self.live(chosen.rooms)) for _ in range(chosen.guests)]
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(30, left) + 0.01)
            servers.say(f"{max(0, end - time.monotonic()):.0f} s to go: {self.count['sessions']} sessions, "
                        f"{self.count['joins']} joins, {self.count['votes']} votes, {sum(self.errors.values())} errors")
        self.stopping = True
        await asyncio.wait(guests, timeout=90)
        for guest in guests:
            guest.cancel()
        self.api.close()

    async def settle(self, server):
        """Waits until the server has released everything, or the time is over; returns its state."""
        began, gone_at = time.monotonic(), None
        while True:
            await asyncio.sleep(2)
            state, now = state_of(server), time.monotonic()
            gone = not state["rooms"] and all(one.ended.done() for one in self.silent)
            gone_at = (gone_at or now) if gone else None
            if gone_at and now - gone_at > GIVEN_BACK or now - began > SETTLE:
                return {**state, "settled_s": now - began, "silent_left": sum(not one.ended.done() for one in self.silent)}


def state_of(server):
    figures = servers.metrics(server)
    rooms = [value for name, value in figures.items() if "rooms" in name and "live" in name]
    return {
        "descriptors": servers.descriptors(server.process.pid),
        "resident_kib": servers.resident_kib(server.process.pid),
        "anonymous_kib": servers.resident_kib(server.process.pid, "RssAnon"),
        "rooms": sum(rooms) if rooms else None,
    }


async def soak(server, chosen, out):
    run = Run(server.port, out)
    states = {"fresh": state_of(server)}
    servers.say("warming up")
    await run.go_on(chosen.warm_up, chosen)
    states["begin"] = await run.settle(server)
    run.count.clear()
    run.silent.clear()
    servers.say(f"begin: {states['begin']}")
    cpu = servers.cpu_seconds(server.process.pid)
    await run.go_on(chosen.minutes * 60, chosen)
    states["busy"] = state_of(server)
    cpu = servers.cpu_seconds(server.process.pid) - cpu
    states["end"] = await run.settle(server)
    codes = collections.Counter(str(one.ended.result()) for one in run.silent if one.ended.done())
    return run, states, codes, cpu


def main():
    chosen = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    seed = chosen.seed if chosen.seed is not None else random.randrange(2**32)
    random.seed(seed)
    servers.say(f"seed {seed}")
    out = servers.Results(chosen.out)
    with servers.store(chosen.store) as store, servers.backline(store=store) as server:
        run, states, codes, cpu = client.run(soak(server, chosen, out))
    begin, end = states["begin"], states["end"]
    ratio = end["resident_kib"] / begin["resident_kib"]
    out.keep({"benchmark": "soak", "seed": seed, "count": run.count, "states": states, "silent_closed": codes,
              "errors": run.errors, "faults": run.faults[:20], "server_cpu_s": cpu})
    for bad, text in (
        (end["descriptors"] > begin["descriptors"] + DESCRIPTORS,
         f"{end['descriptors']} file descriptors, {begin['descriptors']} at the beginning"),
        (ratio > MEMORY_RATIO, f"resident memory is {ratio:.2f} times that of the beginning"),
        (end["rooms"] is not None and end["rooms"] > begin["rooms"], f"{end['rooms']} live rooms"),
        (end["silent_left"], f"{end['silent_left']} silent connections were never given up"),
        (run.faults, f"events lost or repeated: {run.faults[:5]}"),
        (run.errors, f"unexpected: {dict(run.errors.most_common(5))}"),
    ):
        if bad:
            out.fail(text)
    count, faster = run.count, TWELVE_HOURS / chosen.minutes
    servers.table(("", "fresh", "begin", "busy", "end"), [
        ("file descriptors", *(states[name]["descriptors"] for name in ("fresh", "begin", "busy", "end"))),
        ("resident MiB", *(f"{states[name]['resident_kib'] / 1024:.1f}" for name in ("fresh", "begin", "busy", "end"))),
        ("of it without mapped files", *(
            f"{states[name]['anonymous_kib'] / 1024:.1f}" for name in ("fresh", "begin", "busy", "end"))),
        ("live rooms", *("" if states[name]["rooms"] is None else f"{states[name]['rooms']:.0f}"
                         for name in ("fresh", "begin", "busy", "end"))),
    ])
    servers.table(("in these minutes", "number"), [
        *((name, f"{count[name]:,}") for name in sorted(count)),
        *((f"silent connections closed with {code}", number) for code, number in codes.items()),
        ("of twelve hours: sessions a minute", f"{count['sessions'] / TWELVE_HOURS:.0f}"),
        ("times faster than twelve hours", f"{faster:.0f}"),
        ("memory, end ÷ begin", f"{ratio:.2f}"), ("server CPU s", f"{cpu:.0f}"),
    ])
    out.end()


if __name__ == "__main__":
    main()

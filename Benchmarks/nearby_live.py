#!/usr/bin/env python3
"""Nearby subscriptions: rooms open, move and close, and subscribers near them see the changes.

    Benchmarks/nearby_live.py [--subscriptions 5000] [--rooms 200] [--seconds 30] [--store memory] [--out FILE]

The subscriptions are around some cities, from 1 to 50 km wide, on a fifth as many connections. Each second a number
of rooms open in and around these cities; each moves after a while and closes after as long. The same load runs before
without any subscription: the difference is the cost of showing the changes. The table shows the server's CPU time for
each change and each message, and the number of messages. At the end the list that each subscription has folded must
equal that of a fresh search at the same location.
"""

import asyncio
import json
import random
import time

import client
import servers
from soak import Api

CITIES = 25
LIFE = 10
"""Seconds from a room's opening to its end."""
OPEN_AT_ONCE = 50
"""Rooms of one session, which may have at most a hundred."""
PER_CONNECTION = 5
SETTLE = 20
"""Seconds within which every change must have been shown."""


def add_options(parser):
    parser.add_argument("--subscriptions", type=int, default=5_000, help="nearby subscriptions")
    parser.add_argument("--rooms", type=int, default=200, help="rooms that open, move and close in a second")
    parser.add_argument("--seconds", type=float, default=30, help="seconds of load")
    parser.add_argument(
        "--store", choices=("memory", "sqlite", "postgres"), default="memory", help="where events are kept")
    parser.add_argument("--seed", type=int, default=None, help="seed of the locations of rooms and subscriptions")


class Subscription:
    """A nearby subscription and the list that it has."""

    def __init__(self, query):
        self.query, self.rooms, self.messages, self.faults = query, None, 0, 0

    def take(self, message):
        if message["type"] == "nearby":
            self.rooms = {room["id"]: room for room in message["rooms"]}
            return
        self.messages += 1
        for room in message["left"]:
            self.faults += self.rooms.pop(room, None) is None
        for room in message["changed"]:
            self.faults += room["id"] not in self.rooms
            self.rooms[room["id"]] = room
        for room in message["entered"]:
            self.faults += room["id"] in self.rooms
            self.rooms[room["id"]] = room

    def has(self, rooms):
        """Whether the subscription has these rooms; changes in listener counts alone are not sent."""
        def told(room):
            return {name: value for name, value in room.items() if name != "listeners"}
        mine = sorted(self.rooms.values(), key=lambda room: (room["distanceMeters"], room["id"]))
        return [told(room) for room in mine] == [told(room) for room in rooms]


class Connection:
    """A socket with some subscriptions."""

    def __init__(self, subscriptions):
        self.subscriptions, self.errors, self.socket = subscriptions, [], None

    def take(self, message):
        if message["type"] in ("nearby", "nearbyDelta"):
            self.subscriptions[message["re" if message["type"] == "nearby" else "sub"]].take(message)
        elif message["type"] == "error":
            self.errors.append(message)

    async def open(self, port, token, context):
        self.socket = await client.connect(port, "/v1/socket", token, self.take, context)
        for number, subscription in enumerate(self.subscriptions):
            self.socket.send({"type": "nearby", "id": number, **subscription.query})
        while any(subscription.rooms is None for subscription in self.subscriptions) and not self.errors:
            await asyncio.sleep(0.02)


class Rooms:
    """Makes, moves and closes rooms."""

    def __init__(self, api, place, owners):
        self.api, self.place, self.owners, self.changes, self.errors = api, place, owners, 0, []

    async def ask(self, method, path, body, token, status):
        answer, content = await self.api.request(method, path, body, token)
        if answer != status:
            self.errors.append(content)
            return None
        self.changes += 1
        return content

    async def live(self, token, life):
        """One room from its opening to its end; without a lifetime it stays open."""
        body = {"name": "A room", "location": self.place()}
        made = await self.ask("POST", "/v1/rooms", body, token, 201)
        if made is None or life is None:
            return
        path = f"/v1/rooms/{made['room']['state']['id']}/commands"
        for command in ({"type": "updateRoom", "location": self.place()}, {"type": "closeRoom"}):
            await asyncio.sleep(life / 2)
            await self.ask("POST", path, {"command": command}, token, 200)

    async def load(self, each_second, seconds, pid):
        """Opens so many rooms and waits for their ends; returns the changes, the seconds, and the server's CPU time."""
        cpu, changes, began = servers.cpu_seconds(pid), self.changes, time.monotonic()
        lives, opened = set(), 0
        while (passed := time.monotonic() - began) < seconds:
            while opened < passed * each_second:
                life = asyncio.create_task(self.live(self.owners[opened % len(self.owners)], LIFE))
                lives.add(life)
                life.add_done_callback(lives.discard)
                opened += 1
            await asyncio.sleep(0.005)
        while lives:
            await asyncio.gather(*lives)
        took = time.monotonic() - began
        # Let the last changes be shown.
        await asyncio.sleep(1.5)
        return self.changes - changes, took, servers.cpu_seconds(pid) - cpu


async def measure(server, chosen, dice, out):
    context, watcher = client.tls(), server.session("Watcher")
    cities = [(dice.uniform(-60, 70), dice.uniform(-180, 180)) for _ in range(CITIES)]

    def place():
        lat, lon = dice.choice(cities)
        return {"lat": lat + dice.gauss(0, 0.2), "lon": (lon + dice.gauss(0, 0.2) + 180) % 360 - 180}

    api, search = Api(server.port, context, size=64), Api(server.port, context)
    needed = max(1, chosen.rooms * LIFE // OPEN_AT_ONCE)
    owners = [server.session(f"Owner {number}").token for number in range(2 * needed)]
    rooms, pid = Rooms(api, place, owners), server.process.pid
    await asyncio.gather(*(rooms.live(token, None) for token in owners for _ in range(OPEN_AT_ONCE // 5)))

    changes, _, cpu = await rooms.load(chosen.rooms, chosen.seconds / 2, pid)
    found = {"cpu_s_without": cpu, "changes_without": changes}

    connections, count = [], 0
    while count < chosen.subscriptions:
        part = min(PER_CONNECTION, chosen.subscriptions - count)
        connections.append(Connection([
            Subscription({**place(), "radiusMeters": 1_000 * dice.choice((1, 5, 10, 50)), "limit": 50})
            for _ in range(part)
        ]))
        count += part
    for first in range(0, len(connections), 50):
        part = connections[first:first + 50]
        await asyncio.gather(*(one.open(server.port, watcher.token, context) for one in part))
    subscriptions = [subscription for one in connections for subscription in one.subscriptions]

    changes, seconds, cpu = await rooms.load(chosen.rooms, chosen.seconds, pid)
    found |= {
        "subscriptions": len(subscriptions), "connections": len(connections), "changes": changes, "seconds": seconds,
        "server_cpu_s": cpu, "messages": sum(subscription.messages for subscription in subscriptions),
        "resident_kib": servers.resident_kib(pid),
    }

    wrong, deadline = subscriptions, time.monotonic() + SETTLE
    while wrong and time.monotonic() < deadline:
        left = []
        for first in range(0, len(wrong), 100):
            part = wrong[first:first + 100]
            answers = await asyncio.gather(*(
                search.request("GET", "/v1/rooms/nearby?" + "&".join(f"{k}={v}" for k, v in one.query.items()),
                               token=watcher.token) for one in part))
            left += [one for one, (status, body) in zip(part, answers) if status != 200 or not one.has(body["rooms"])]
        wrong = left
        await asyncio.sleep(0.5 if wrong else 0)
    found["wrong"] = len(wrong)
    for bad, text in (
        (wrong, f"{len(wrong)} subscriptions do not have what a fresh search gives"),
        (sum(one.faults for one in subscriptions), "rooms came twice, or went without being there"),
        (rooms.errors, f"refused: {rooms.errors[:2]}"),
        ([one for one in connections if one.errors or one.socket.ended.done()], "connections were refused or ended"),
    ):
        if bad:
            out.fail(text)
    for one in connections:
        one.socket.drop()
    for one in (api, search):
        one.close()
    await asyncio.sleep(0.1)
    return found


def main():
    chosen = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    seed = chosen.seed if chosen.seed is not None else random.randrange(2**32)
    servers.say(f"seed {seed}")
    out = servers.Results(chosen.out)
    unlimited = ("--max-searches-per-minute", "0")
    with servers.store(chosen.store) as store, servers.backline(*unlimited, store=store) as server:
        found = client.run(measure(server, chosen, random.Random(seed), out))
    out.keep({"benchmark": "nearby_live", "seed": seed, "store": chosen.store, **found})
    changes, messages, cpu = max(1, found["changes"]), max(1, found["messages"]), found["server_cpu_s"]
    each, without = cpu / changes, found["cpu_s_without"] / max(1, found["changes_without"])
    servers.table(("nearby subscriptions", f"{found['subscriptions']:,}"), [
        ("connections", f"{found['connections']:,}"),
        ("changes a second", f"{found['changes'] / found['seconds']:.0f}"),
        ("messages", f"{found['messages']:,}"),
        ("messages for each change", f"{messages / changes:.1f}"),
        ("server CPU ms for each change", f"{1000 * each:.2f}"),
        ("without subscriptions", f"{1000 * without:.2f}"),
        ("µs for each message, beyond that", f"{1e6 * (each - without) * changes / messages:.0f}"),
        ("server memory MiB", f"{found['resident_kib'] / 1024:.0f}"),
        ("lists unlike a fresh search", json.dumps(found["wrong"])),
    ])
    out.end()


if __name__ == "__main__":
    main()

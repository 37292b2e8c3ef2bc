#!/usr/bin/env python3
"""Nearby searches over HTTP: the server's CPU time for a request, and the time that its client waits.

    Benchmarks/nearby_http.py [--rooms 5000] [--seconds 10] [--store memory] [--out FILE]

The rooms are in some cities. Requests are sent one after the other on a few kept connections: for the 50 nearest
within 10 km, for the nearest one, in an area without rooms, and a request that searches nothing, to compare with. The
table shows the server's CPU time for a request, without the database's, and the client's waiting time.
"""

import asyncio
import random
import statistics
import time

import client
import servers
from soak import Api

CITIES = 25
ROOMS_OF_ONE = 50
"""Rooms of one session, which may have at most a hundred."""
CONNECTIONS = 4


def add_options(parser):
    parser.add_argument("--rooms", type=int, default=5_000, help="open public rooms with a location")
    parser.add_argument("--seconds", type=float, default=10, help="seconds of each kind of request")
    parser.add_argument(
        "--store", choices=("memory", "sqlite", "postgres"), default="memory", help="where events are kept")


async def ask(api, path, token, end, waits):
    """Sends one request after the other; returns how many rooms were in the answers."""
    rooms = 0
    while time.monotonic() < end:
        began = time.perf_counter()
        status, body = await api.request("GET", path(), token=token)
        waits.append(time.perf_counter() - began)
        assert status == 200, body
        rooms += len(body.get("rooms", ()))
    return rooms


async def measure(server, chosen, dice):
    api = Api(server.port, client.tls(), size=CONNECTIONS)
    cities = [(dice.uniform(-60, 70), dice.uniform(-179, 179)) for _ in range(CITIES)]

    def near():
        lat, lon = dice.choice(cities)
        return dice.gauss(lat, 0.03), dice.gauss(lon, 0.03)

    for owner in range(-(-chosen.rooms // ROOMS_OF_ONE)):
        token = server.session(f"Owner {owner}").token
        bodies = []
        for _ in range(min(ROOMS_OF_ONE, chosen.rooms - owner * ROOMS_OF_ONE)):
            lat, lon = near()
            bodies.append({"name": "A room", "location": {"lat": lat, "lon": lon}})
        made = await asyncio.gather(*(api.request("POST", "/v1/rooms", body, token) for body in bodies))
        assert all(status == 201 for status, _ in made), made[0]
    token, found = server.session("Searcher").token, []

    def search(limit):
        return "/v1/rooms/nearby?lat={:.4f}&lon={:.4f}&radiusMeters=10000".format(*near()) + f"&limit={limit}"

    for name, path in (
        ("the 50 nearest within 10 km", lambda: search(50)),
        ("the nearest one", lambda: search(1)),
        ("an area without rooms", lambda: "/v1/rooms/nearby?lat=-80&lon=0&radiusMeters=10000"),
        ("the client's own session, no search", lambda: "/v1/session"),
    ):
        pid, waits = server.process.pid, []
        await ask(api, path, token, time.monotonic() + 1, [])
        before, end = servers.cpu_seconds(pid), time.monotonic() + chosen.seconds
        rooms = sum(await asyncio.gather(*(ask(api, path, token, end, waits) for _ in range(CONNECTIONS))))
        cpu = servers.cpu_seconds(pid) - before
        found.append({
            "request": name, "requests": len(waits), "rooms_found": rooms / len(waits),
            "server_cpu_us": 1e6 * cpu / len(waits), "p50_ms": 1e3 * statistics.median(waits),
            "p99_ms": 1e3 * statistics.quantiles(waits, n=100)[98],
        })
    api.close()
    await asyncio.sleep(0.1)
    return found


def main():
    chosen = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    out = servers.Results(chosen.out)
    unlimited = ("--max-searches-per-minute", "0")
    with servers.store(chosen.store) as store, servers.backline(*unlimited, store=store) as server:
        found = client.run(measure(server, chosen, random.Random(7)))
    for line in found:
        out.keep({"benchmark": "nearby_http", "store": chosen.store, "rooms": chosen.rooms, **line})
    servers.table(
        (f"HTTP, {chosen.rooms:,} rooms, {chosen.store}", "server CPU µs", "rooms found", "p50 ms", "p99 ms"),
        [(line["request"], f"{line['server_cpu_us']:.0f}", f"{line['rooms_found']:.1f}", f"{line['p50_ms']:.2f}",
          f"{line['p99_ms']:.2f}") for line in found])
    out.end()


if __name__ == "__main__":
    main()

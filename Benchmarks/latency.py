"""How long a command takes on PostgreSQL: until its acknowledgement, and until its delta at another subscriber.

    swift build -c release --product backline
    .venv/bin/python Benchmarks/latency.py [COMMANDS]

Starts a private PostgreSQL (fsync on) and the release build, sends COMMANDS (2,000) one after the other from one
client, and prints p50 and p99 in milliseconds, with the time of one single-row commit from pgbench on the same server
beside them. The client is Python on the same machine: its own time is in every figure, and is given as the time of the
protocol's `time` exchange, which touches no log.
"""

import asyncio
import os
import subprocess
import sys
import time

TREE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("BACKLINE_PROGRAM", os.path.join(TREE, ".build", "release", "backline"))
sys.path.insert(0, os.path.join(TREE, "Tests", "EndToEnd"))

import json

import websockets.asyncio.client

from backline import PROTOCOL, Server
from postgres import Cluster


def summary(samples):
    samples = sorted(samples)
    return f"p50 {samples[len(samples) // 2] * 1000:.2f} ms, p99 {samples[len(samples) * 99 // 100] * 1000:.2f} ms"


def socket(server, token, path):
    return websockets.asyncio.client.connect(
        f"wss://127.0.0.1:{server.port}{path}", ssl=server.context(), subprotocols=[PROTOCOL],
        additional_headers={"Authorization": f"Bearer {token}"},
    )


async def measure(server, count):
    owner, guest = (
        server.request("POST", "/v1/sessions", {"name": name}).json for name in ("owner", "guest")
    )
    room = server.request("POST", "/v1/rooms", {"name": "bench"}, owner["token"]).json["room"]["state"]["id"]
    acks, deltas, times = [], [], []
    async with (
        socket(server, owner["token"], f"/v1/rooms/{room}/socket") as one,
        socket(server, guest["token"], f"/v1/rooms/{room}/socket") as other,
    ):
        async def until(connection, kind):
            while True:
                message = json.loads(await connection.recv())
                if message["type"] == kind:
                    return message, time.perf_counter()

        for connection in (one, other):
            await until(connection, "snapshot")
        for number in range(count):
            began = time.perf_counter()
            await one.send(json.dumps({"type": "time", "id": number, "t1": 0}))
            times.append((await until(one, "time"))[1] - began)
        for number in range(count):
            command = {"type": "rename", "name": f"name {number}"}
            began = time.perf_counter()
            await one.send(json.dumps(
                {"type": "command", "id": number, "room": room, "key": f"key-{number}", "command": command}))
            ack, delta = await asyncio.gather(until(one, "ack"), until(other, "delta"))
            acks.append(ack[1] - began)
            deltas.append(delta[1] - began)
    return acks, deltas, times


def commit_time(cluster):
    cluster.sql("CREATE TABLE bench (value bigint)", database="postgres")
    script = os.path.join(cluster.folder, "insert.sql")
    with open(script, "w", encoding="utf-8") as file:
        file.write("INSERT INTO bench VALUES (1);\n")
    os.chmod(cluster.folder, 0o755)
    output = subprocess.run(
        [os.path.join(cluster.programs, "pgbench"), "-n", "-M", "prepared", "-c", "1", "-T", "5", "-f", script,
         "-h", "127.0.0.1", "-p", str(cluster.port), "-U", "backline", "postgres"],
        capture_output=True, text=True, check=True,
    ).stdout
    return next(line for line in output.splitlines() if "latency average" in line)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    cluster = Cluster()
    try:
        with Server(store=("--store", "postgres", "--database-url", cluster.database())) as server:
            acks, deltas, times = asyncio.run(measure(server, count))
        print(f"{count} commands, one after the other")
        print("time exchange, no log     ", summary(times))
        print("command to acknowledgement", summary(acks))
        print("command to delta          ", summary(deltas))
        print("pgbench, one client: single-row commit,", commit_time(cluster))
    finally:
        cluster.close()


if __name__ == "__main__":
    main()

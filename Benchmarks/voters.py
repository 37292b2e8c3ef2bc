"""Ordinary clients in a process of their own: they vote at a steady pace and record the answers.

A vote is timed from the moment at which it was due, so that a vote that waits behind a slow one counts as late too. A
voter that loses its connection reconnects and sends the vote again with its key.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import random
import time

import client
from attacks.connections import BROKEN, Line

TRACKS = 50


@dataclasses.dataclass
class Vote:
    """A vote that was acknowledged."""

    #: When it was due on the monotonic clock, and how many seconds later its acknowledgement arrived.
    due: float
    took: float
    room: str
    seq: int
    member: int
    track: int
    type: str


@dataclasses.dataclass
class Record:
    """The record of the voters at the end."""

    votes: list[Vote] = dataclasses.field(default_factory=list)
    #: When `/healthz` was asked and how many seconds its answer took.
    health: list[tuple[float, float]] = dataclasses.field(default_factory=list)
    #: Lost connections, refused votes, and other failures, with their times.
    troubles: list[tuple[float, str]] = dataclasses.field(default_factory=list)
    #: Rooms, each with a token that may read it.
    rooms: dict[str, str] = dataclasses.field(default_factory=dict)


class Voter:
    """A guest who casts and withdraws a vote for one track, by turns."""

    def __init__(self, address, source, token, room, member, track, record, period):
        self.address, self.source, self.token, self.room = address, source, token, room
        self.member, self.track, self.record, self.period = member, track, record, period
        self.client, self._context = None, client.tls()
        self._answers: dict[int, asyncio.Future] = {}
        self._number = 0

    def _take(self, message):
        if (waiting := self._answers.pop(message.get("re"), None)) is not None and not waiting.done():
            waiting.set_result(message)

    async def _connected(self):
        while self.client is None or self.client.ended.done():
            if self.client is not None:
                self._trouble(f"connection ended with {self.client.ended.result()}")
            try:
                self.client = await client.connect(
                    self.address.port, f"/v1/rooms/{self.room}/socket", self.token, self._take, self._context,
                    source=self.source)
            except (client.Refused, OSError, TimeoutError) as error:
                self.client = None
                self._trouble(f"no connection: {error}")
                await asyncio.sleep(0.2)

    def _trouble(self, text):
        self.record.troubles.append((time.monotonic(), text))

    async def _answer(self, key, kind):
        """Sends a vote until it gets an answer that counts."""
        while True:
            await self._connected()
            self._number += 1
            answer = self._answers[self._number] = asyncio.get_running_loop().create_future()
            self.client.send({
                "type": "command", "id": self._number, "room": self.room, "key": key,
                "command": {"type": kind, "track": self.track}})
            await asyncio.wait([answer, self.client.ended], return_when=asyncio.FIRST_COMPLETED, timeout=30)
            if not answer.done():
                self._trouble("no answer")
                self.client.drop()
                await self.client.ended
                continue
            if (message := answer.result())["type"] == "ack":
                return message
            self._trouble(f"refused: {message['code']}")
            await asyncio.sleep(message.get("retryAfterMs", 100) / 1000)

    async def run(self, stopping: asyncio.Event):
        await self._connected()
        due, kind, number = time.monotonic() + random.uniform(0, self.period), "vote", 0
        while not stopping.is_set():
            await asyncio.sleep(max(0, due - time.monotonic()))
            number += 1
            answer = await self._answer(f"{self.member}-{number}", kind)
            self.record.votes.append(Vote(
                due, time.monotonic() - due, self.room, answer["seq"], self.member, self.track,
                "voteCast" if kind == "vote" else "voteWithdrawn"))
            kind = "unvote" if kind == "vote" else "vote"
            due += self.period * random.uniform(0.8, 1.2)
        self.client.drop()


async def look_at_health(address, source, record, stopping):
    """Asks for `/healthz` four times a second."""
    def ask():
        with Line(address, source=source) as line:
            while not stopping.is_set():
                began = time.monotonic()
                status, _ = line.ask("GET", "/healthz")
                record.health.append((began, time.monotonic() - began))
                if status != 200:
                    record.troubles.append((began, f"healthz {status}"))
                time.sleep(0.25)

    while not stopping.is_set():
        try:
            await asyncio.to_thread(ask)
        except BROKEN as error:
            record.troubles.append((time.monotonic(), f"healthz: {error}"))
            await asyncio.sleep(0.2)


def prepare(address, clients: int, per_room: int, period: float, record: Record) -> list[Voter]:
    """Makes sessions and rooms, from the voters' own addresses."""
    voters, room = [], None
    for number in range(clients):
        source = f"127.0.1.{number % 250 + 1}"
        with Line(address, source=source) as line:
            token = json.loads(line.ask("POST", "/v1/sessions", {"name": f"Voter {number}"})[1])["token"]
            if number % per_room == 0:
                made = json.loads(line.ask("POST", "/v1/rooms", {"name": f"Room {number}"}, token)[1])
                room = made["room"]["state"]["id"]
                record.rooms[room] = token
                tracks = [{"source": "hostile", "sourceId": str(n), "title": f"Track {n}"} for n in range(TRACKS)]
                member = 1
                command(line, room, token, "addTracks", tracks=tracks)
            else:
                member = command(line, room, token, "join")["result"]["member"]
        voters.append(Voter(address, source, token, room, member, number % per_room + 1, record, period))
    return voters


def command(line: Line, room: str, token: str, type: str, **fields) -> dict:
    status, content = line.ask("POST", f"/v1/rooms/{room}/commands", {"command": {"type": type, **fields}}, token)
    assert status == 200, f"{type}: {status} {content!r}"
    return json.loads(content)


async def _vote(address, clients, per_room, period, record, pipe):
    voters = await asyncio.to_thread(prepare, address, clients, per_room, period, record)
    stopping = asyncio.Event()
    tasks = [asyncio.create_task(voter.run(stopping)) for voter in voters]
    tasks.append(asyncio.create_task(look_at_health(address, "127.0.2.1", record, stopping)))
    pipe.send("voting")
    await asyncio.to_thread(pipe.recv)
    stopping.set()
    done, late = await asyncio.wait(tasks, timeout=60)
    for task in done:
        task.result()
    for _ in late:
        record.troubles.append((time.monotonic(), "a vote was never acknowledged"))


def main(address, clients: int, per_room: int, period: float, cpu: int | None, pipe) -> None:
    """The process: reports when the voters have begun, votes until it gets a message, and returns the `Record`."""
    from attacks.process import settle

    settle(cpu, priority=0)
    record = Record()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_vote(address, clients, per_room, period, record, pipe))
    pipe.send(record)

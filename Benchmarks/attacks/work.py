"""Attacks on processor time: searches, heavy reads, compression, listings, guesses of codes and paths."""

import json
import random

from .attacker import MARKS, Attacker
from .connections import message


def searches(attacker: Attacker) -> None:
    """Eight clients search titles of combining marks for a text that none has."""
    room = attacker.full_room("marks", MARKS)

    def turn(number):
        with attacker.line(attacker.session(number)) as line:
            path = f"/v1/rooms/{room}/pool?q=zzz{number}&limit=1"
            while attacker.left:
                status, content = attacker.ask(line, "GET", path)
                following = json.loads(content).get("next") if status == 200 else None
                path = f"/v1/rooms/{room}/pool?q=zzz{number}&limit=1" + (f"&cursor={following}" if following else "")

    attacker.repeat(attacker.size.threads, turn)


def event_pages(attacker: Attacker) -> None:
    """Ten readers of a large log: the largest pages that are allowed, one after the other."""
    room = attacker.full_room()

    def turn(number):
        with attacker.line(attacker.session(number)) as line:
            after = 0
            while attacker.left:
                status, content = attacker.ask(line, "GET", f"/v1/rooms/{room}/events?after={after}&limit=1000")
                page = json.loads(content) if status == 200 else {"events": []}
                after = page["events"][-1]["seq"] if page["events"] else 0

    attacker.repeat(attacker.size.threads + 2, turn)


def past_states(attacker: Attacker) -> None:
    """Ten readers of past states of a large room."""
    room = attacker.full_room()
    with attacker.line(attacker.session()) as line:
        seq = json.loads(line.ask("GET", f"/v1/rooms/{room}/events?after=0&limit=1")[1]).get("seq", 1)

    def turn(number):
        with attacker.line(attacker.session(number)) as line:
            while attacker.left:
                attacker.ask(line, "GET", f"/v1/rooms/{room}?at={random.randint(max(1, seq // 2), seq)}")

    attacker.repeat(attacker.size.threads + 2, turn)


def compressed_snapshots(attacker: Attacker) -> None:
    """Subscribers that read a large room compressed, again and again, while its position changes constantly."""
    room = attacker.full_room()

    def turn(number):
        if number == 0:
            with attacker.line(attacker.session()) as line:
                while attacker.left:
                    attacker.ask(line, "POST", f"/v1/rooms/{room}/commands",
                                 {"command": {"type": "rename", "name": f"Mallory {random.random()}"}})
            return
        ask = message({"type": "subscribe", "room": room, "id": 1})
        with attacker.frames(attacker.session(number), f"/v1/rooms/{room}/socket", deflate=True) as socket:
            while attacker.left:
                socket.send(ask)
                attacker.count()
                while (frame := socket.receive())[0] != 8 and len(frame[1]) < 10_000 and attacker.left:
                    pass

    attacker.repeat(attacker.size.threads, turn)


def listings(attacker: Attacker) -> None:
    """Pages of one room each out of hundreds of rooms, and searches that find none."""
    made = 0
    with attacker.line() as line:
        while made < attacker.size.rooms and attacker.left > 5:
            token = attacker.session(made // 90)
            status, _ = attacker.ask(line, "POST", "/v1/rooms", {"name": f"Many {made}"}, token)
            made += 1
            if status >= 400:
                break

    def turn(number):
        with attacker.line(attacker.session(number)) as line:
            start = "/v1/rooms?limit=1" if number % 2 else "/v1/rooms?limit=1&q=zzz"
            path = start
            while attacker.left:
                status, content = attacker.ask(line, "GET", path)
                following = json.loads(content).get("next") if status == 200 else None
                path = f"{start}&cursor={following}" if following else start

    attacker.repeat(attacker.size.threads, turn)


def code_guessing(attacker: Attacker) -> None:
    """Guesses codes of rooms over HTTP and on sockets, which are opened again when they are refused."""
    def turn(number):
        token = attacker.session(number // 4)
        if number % 4 == 0:
            with attacker.line(token) as line:
                while attacker.left:
                    status, _ = attacker.ask(line, "GET", f"/v1/rooms/{attacker.random_code()}")
                    if status == 200:
                        attacker.count(0, 0, "room found")
        with attacker.frames(token) as socket:
            for _ in range(40):
                socket.send(b"".join(
                    message({"type": kind, "room": attacker.random_code(), "id": 1})
                    for kind in ("subscribe", "subscribe", "unsubscribe") * 40))
                attacker.count(120)
                for answer in socket.waiting():
                    if answer.get("code") == "rate_limited":
                        attacker.count(0, 1, "rate_limited")
                    elif answer["type"] == "snapshot":
                        attacker.count(0, 0, "room found")

    attacker.repeat(attacker.size.threads + 4, turn)


def hidden_paths(attacker: Attacker) -> None:
    """Spellings of the path `/metrics` that a proxy may let pass."""
    origin = attacker.address.origin
    paths = ["//metrics", "/metrics/", "/./metrics", "/v1/../metrics", "/metrics?", "/%6detrics", "/metrics//",
             f"{origin}/metrics", f"{origin}//metrics", "/metrics;a"]

    def turn(number):
        with attacker.line() as line:
            while attacker.left:
                path = random.choice(paths)
                status, content = attacker.ask(line, "GET", path)
                if status == 200 and b"# TYPE" in content:
                    attacker.count(0, 0, f"metrics at {path.removeprefix(origin)}")

    attacker.repeat(attacker.size.threads, turn)

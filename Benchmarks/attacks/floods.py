"""Attacks by messages: frames that cost more than their size, commands that write much, signals, masses of members."""

import json
import random

from .attacker import Attacker
from .connections import PING, PONG, TEXT, deflated, frame, message


def frame_floods(attacker: Attacker) -> None:
    """Messages that inflate a thousandfold, pings, pongs and empty fragments, each on a socket of its own."""
    blown_up = deflated(b'{"type":"time","t1":1}' + b" " * 250_000)
    floods = [
        (b"", blown_up * 200, 200),
        (b"", frame(PING, bytes(125)) * 500, 500),
        (b"", frame(PONG, bytes(125)) * 500, 500),
        (frame(TEXT, b"{", final=False), frame(0, b"", final=False) * 10_000, 10_000),
    ]

    def turn(number):
        first, flood, count = floods[number % len(floods)]
        with attacker.frames(attacker.session(number // 8), deflate=True) as socket:
            socket.send(first)
            while attacker.left:
                socket.send(flood)
                attacker.count(count)
                for _, payload in socket.waiting_frames():
                    if b"rate_limited" in payload:
                        attacker.count(0, 1, "rate_limited")

    attacker.repeat(max(4, attacker.size.threads), turn)


def deck_floods(attacker: Attacker) -> None:
    """Every command replaces the queue by another: five hundred events each."""
    room, token, half = attacker.room("deck"), attacker.session(), attacker.size.deck
    with attacker.line(token) as line:
        tracks = [{"source": "hostile", "sourceId": str(number), "title": f"T{number}"} for number in range(2 * half)]
        attacker.ask(line, "POST", f"/v1/rooms/{room}/commands", {"command": {"type": "addTracks", "tracks": tracks}})
    there = [{"track": number} for number in range(1, half + 1)]
    decks = [message({"type": "command", "room": room, "command": {
        "type": "syncDeck", "queue": queue, "playback": {"status": "stopped"}}})
        for queue in (there, [{"track": number} for number in range(half + 1, 2 * half + 1)])]

    def turn(number):
        with attacker.frames(token) as socket:
            while attacker.left:
                for _ in range(10):
                    socket.send(b"".join(decks))
                    attacker.count(2)
                for answer in socket.waiting():
                    if answer["type"] == "error":
                        attacker.count(0, 1, answer["code"])

    attacker.repeat(4, turn)


def signal_floods(attacker: Attacker) -> None:
    """Signals of 60 KB to another member, and many small ones, from several sockets."""
    room = attacker.room("signals")
    with attacker.line(attacker.session(1)) as line:
        status, content = line.ask("POST", f"/v1/rooms/{room}/commands", {"command": {"type": "join"}})
        victim = json.loads(content)["result"]["member"] if status == 200 else 2
    large = message({"type": "signal", "room": room, "to": victim, "data": "x" * 60_000})
    small = message({"type": "signal", "room": room, "to": victim, "data": 1}) * 50

    def turn(number):
        path = f"/v1/rooms/{room}/socket"
        if number == 0:  # The recipient, which reads everything.
            with attacker.frames(attacker.session(1), path) as socket:
                while attacker.left:
                    opcode, payload = socket.receive()
                    if opcode == 8:
                        attacker.count(0, 0, f"the receiver was closed with {int.from_bytes(payload[:2])}")
                        return
        with attacker.frames(attacker.session(0), path) as socket:
            while attacker.left:
                if number % 2:
                    socket.send(large)
                    attacker.count(1)
                else:
                    socket.send(small)
                    attacker.count(50)
                for answer in socket.waiting():
                    if answer["type"] == "error":
                        attacker.count(0, 1, answer["code"])

    attacker.repeat(5, turn)


def masses_of_members(attacker: Attacker) -> None:
    """New sessions that join one room, from one address."""
    room = attacker.room("masses")

    def turn(number):
        with attacker.line() as line:
            while attacker.left:
                status, content = attacker.ask(line, "POST", "/v1/sessions", {"name": f"M{random.random()}"})
                token = json.loads(content)["token"] if status == 201 else attacker.session(random.randint(0, 100))
                status, _ = attacker.ask(
                    line, "POST", f"/v1/rooms/{room}/commands", {"command": {"type": "join"}}, token)
                if status == 200:
                    attacker.count(0, 0, "joined")

    attacker.repeat(attacker.size.threads, turn)


def command_floods(attacker: Attacker) -> None:
    """Large commands that are refused, and any number of cheap ones."""
    room, token = attacker.room("deck"), attacker.session()
    tracks = [{"source": "hostile", "sourceId": "s", "title": "x" * 300}] * 500
    refused = message({"type": "command", "room": room, "command": {"type": "addTracks", "tracks": [
        *tracks, {"source": "hostile", "sourceId": "s", "title": ""}]}})
    cheap = message({"type": "command", "room": room, "command": {"type": "unvote", "track": 1}}) * 100

    def turn(number):
        with attacker.frames(token) as socket:
            while attacker.left:
                socket.send(refused if number % 2 else cheap)
                attacker.count(1 if number % 2 else 100)
                for answer in socket.waiting():
                    if answer["type"] == "error":
                        attacker.count(0, 1, answer["code"])

    attacker.repeat(4, turn)

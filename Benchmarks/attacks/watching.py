"""Attacks by questions that cost more than they look: rankings of a room with many plays, and watches that are kept."""

import json
import random
import time

from .attacker import Attacker
from .connections import message

LISBON = {"lat": 38.72, "lon": -9.14}
"""Where the attacker's rooms are."""


def play(attacker: Attacker, room: str, token: str, songs: int, plays: int) -> int:
    """Adds songs to a room and has them played, 200 at a time, in no time, for half of the turn at most; returns how many plays it took."""
    done, until = 0, attacker.left / 2
    time.sleep(0.1)  # Nothing is played before the room was made.
    with attacker.line(token) as line:
        def send(**command):
            while attacker.left:
                status, content = attacker.ask(line, "POST", f"/v1/rooms/{room}/commands", {"command": command})
                if status != 429:
                    return status == 200
                time.sleep(json.loads(content)["retryAfterMs"] / 1000)
            return False

        tracks = [{"source": "hostile", "sourceId": str(number), "title": f"Song {number} " + "x" * 60}
                  for number in range(songs)]
        for first in range(0, songs, 200):
            send(type="addTracks", tracks=tracks[first:first + 200])
        while done < plays and attacker.left > until:
            now = int(time.time() * 1000) - 50
            played = [{"track": number % songs + 1, "startedAtMs": now, "endedAtMs": now, "playedMs": 0,
                       "reason": "ended"} for number in range(done, done + 200)]
            if not send(type="syncDeck", played=played, queue=[], playback={"status": "stopped"}):
                break
            done += 200
    return done


def rankings(attacker: Attacker) -> None:
    """Rankings of a room with tens of thousands of plays, each from another moment on, so that none are equal."""
    room = attacker.room("plays")
    done = int(attacker.remembered("plays made", "0"))
    done += play(attacker, room, attacker.session(), 500 if attacker.size.plays > 500 else 20,
                 attacker.size.plays - done)
    attacker.remember("plays made", str(done))
    attacker.notes[f"{done} plays"] += 1

    def turn(number):
        with attacker.line(attacker.session(number % 10)) as line:
            while attacker.left:
                start = random.randrange(1, 1_700_000_000_000)
                status, content = attacker.ask(
                    line, "GET", f"/v1/rooms/{room}/statistics/tracks?limit=500&from={start}")
                if status == 429:
                    time.sleep(min(0.3, json.loads(content).get("retryAfterMs", 300) / 1000))

    attacker.repeat(attacker.size.watching // 2, turn)


def trending_watches(attacker: Attacker) -> None:
    """As many watches of what is played near a place as an address may have, with two hundred songs each."""
    for number in range(5):
        kind = f"trend {number}"
        if attacker.remembered(kind, "") == "":
            with attacker.line(attacker.session(number)) as line:
                status, content = attacker.ask(
                    line, "POST", "/v1/rooms", {"name": kind, "location": LISBON, "visibility": "public"})
            if status != 201:
                continue
            attacker.remember(kind, json.loads(content)["room"]["state"]["id"])
            play(attacker, attacker.remembered(kind, ""), attacker.session(number), min(200, attacker.size.plays // 20),
                 400)
    watch(attacker, lambda number: {"type": "trending", "window": "hour", "limit": 200, **near(number)})


def nearby_watches(attacker: Attacker) -> None:
    """As many watches of rooms nearby as an address may have, while all rooms in reach change."""
    rooms = places(attacker)

    def change():
        command(attacker, rooms, type="updateRoom", name=f"Near {random.random()}")

    watch(attacker, lambda number: {"type": "nearby", "limit": 200, **near(number)}, change)


def count_watches(attacker: Attacker) -> None:
    """As many watches of rooms' counts as an address may have, while these rooms are counted anew."""
    rooms = places(attacker)
    if not rooms:
        return

    def change():
        for _ in range(4):
            song = {"source": "hostile", "sourceId": f"{random.random()}", "title": "Song"}
            command(attacker, rooms, type="addTracks", tracks=[song])

    def query(number):
        return {"type": "statistics", "room": rooms[number % len(rooms)][0], "offsetMinutes": number % 97 * 15 - 720}

    watch(attacker, query, change)


def places(attacker: Attacker) -> list[tuple[str, int]]:
    """Public rooms at one place, each with the number of its owner's session; as many as an attack has, once they are made."""
    rooms = []
    for number in range(attacker.size.rooms):
        kind = f"near {number}"
        if attacker.remembered(kind, "") == "" and attacker.left > 5:
            with attacker.line(attacker.session(number // 90)) as line:
                status, content = attacker.ask(
                    line, "POST", "/v1/rooms", {"name": kind, "location": LISBON, "visibility": "public"})
            if status == 201:
                attacker.remember(kind, json.loads(content)["room"]["state"]["id"])
        if attacker.remembered(kind, ""):
            rooms.append((attacker.remembered(kind, ""), number // 90))
    return rooms


def command(attacker: Attacker, rooms: list[tuple[str, int]], **fields) -> None:
    """Sends a command to one of the rooms, as its owner."""
    if rooms:
        room, session = random.choice(rooms)
        with attacker.line(attacker.session(session)) as line:
            attacker.ask(line, "POST", f"/v1/rooms/{room}/commands", {"command": fields})


def near(number: int) -> dict:
    """A circle around the attacker's rooms, another one for each watch."""
    return {"lat": LISBON["lat"] + number % 1_000 * 1e-6, "lon": LISBON["lon"], "radiusMeters": 20_000}


def watch(attacker: Attacker, query, change=lambda: None) -> None:
    """Sockets with sixteen watches each, which are read."""
    opened = 0

    def make():
        nonlocal opened
        opened += 1
        socket = attacker.frames(attacker.session(opened // 24 % 20))
        for number in range(16):
            socket.send(message({**query(opened * 16 + number), "id": number + 1}))
        attacker.count(16)
        change()
        return socket

    def use(socket):
        for answer in socket.waiting():
            if answer["type"] == "error":
                attacker.count(0, 1, answer["code"])

    attacker.held(attacker.size.watching * 5, make, use)

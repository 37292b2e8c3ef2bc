"""The attacker: one client, one address, as many sessions and connections as it gets."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import random
import threading
import time
from collections.abc import Callable

from .connections import BROKEN, Frames, Line


@dataclasses.dataclass(frozen=True)
class Size:
    """The numbers with which an attack begins. It then goes on as hard as it can."""

    connections: int = 540
    sockets: int = 128
    threads: int = 8
    tracks: int = 10_000
    rooms: int = 300
    idle: int = 16_000
    deck: int = 250
    plays: int = 56_600
    watching: int = 120
    #: Seconds until the attacker gives up a connection that makes no progress.
    patience: float = 4


SMALL = Size(connections=30, sockets=8, threads=3, tracks=60, rooms=6, idle=80, deck=10, plays=400, watching=4, patience=0.5)
"""The size for a quick test."""

WIDE = "\U0001d11e" * 300
"""The longest text that is allowed, of characters of four bytes each."""
MARKS = "a" + "\u0315\u0316" * 149 + "z"
"""Combining marks in an order that normalization reverses."""


def maximal_track(number: int, text: str = WIDE) -> dict:
    return {
        "source": "hostile", "sourceId": f"{number:08}" + text[:292], "title": text, "artist": text, "album": text,
        "artworkUrl": "https://a.example/" + "a" * 2_030, "durationMs": 1,
    }


class Attacker:
    """Shared by all attacks: counts, sessions, rooms, and threads that repeat an action until the turn is over."""

    def __init__(self, address, source: str | None = None, size: Size = Size()):
        self.address, self.source, self.size = address, source, size
        self.end = 0.0
        self.made, self.refused = 0, 0
        self.notes: collections.Counter[str] = collections.Counter()
        self._lock = threading.Lock()
        self._sessions: list[str] = []
        self._rooms: dict[str, str] = {}

    def make(self, attack: Callable[[Attacker], None], seconds: float) -> None:
        """Runs one turn. An attack that the server interrupts begins again."""
        self.end = time.monotonic() + seconds
        self.made, self.refused = 0, 0
        self.notes.clear()
        while True:
            try:
                attack(self)
                return
            except BROKEN as error:
                self.count(0, 1, f"{type(error).__name__} {str(error)[:40]}")
                if not self.left:
                    return
                time.sleep(0.1)

    @property
    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def count(self, made: int = 1, refused: int = 0, note: str | None = None) -> None:
        with self._lock:
            self.made += made
            self.refused += refused
            if note is not None:
                self.notes[note] += 1

    def line(self, token: str | None = None) -> Line:
        return Line(self.address, token, self.source, self.size.patience)

    def frames(self, token: str, path: str = "/v1/socket", **options) -> Frames:
        return Frames(self.address, token, path, source=self.source, patience=self.size.patience, **options)

    def ask(self, line: Line, method: str, path: str, body=None, token: str | None = None) -> tuple[int, bytes]:
        """Sends a request and counts it."""
        status, content = line.ask(method, path, body, token)
        self.count(1, int(status >= 400), f"{status}" if status >= 400 else None)
        return status, content

    def repeat(self, count: int, turn: Callable[[int], None]) -> None:
        """Repeats an action in `count` threads until the time is over, even if the server refuses it."""
        def run(number: int) -> None:
            while self.left:
                try:
                    turn(number)
                except BROKEN as error:
                    self.count(0, 1, f"{type(error).__name__} {str(error)[:40]}")
                    time.sleep(0.02)
        threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def held(self, count: int, make: Callable[[], object], use: Callable[[object], None], pause: float = 0.02) -> None:
        """Keeps `count` connections open, uses each in turn, and replaces those that the server ends."""
        kept: list = []
        try:
            while self.left:
                for _ in range(min(25, count - len(kept))):
                    try:
                        kept.append(make())
                    except BROKEN as error:
                        self.count(1, 1, f"{type(error).__name__} {str(error)[:40]}")
                        break
                for one in list(kept):
                    try:
                        use(one)
                    except BROKEN:
                        self.count(0, 1, "ended by the server")
                        kept.remove(one)
                        one.close()
                    if not self.left:
                        break
                time.sleep(pause)
        finally:
            self.notes[f"{len(kept)} open at the end"] += 1
            for one in kept:
                with contextlib.suppress(OSError):
                    one.close()

    def session(self, number: int = 0) -> str:
        """The token of one of the attacker's sessions, which is made if the server permits it."""
        while len(self._sessions) <= number:
            with self.line() as line:
                status, content = line.ask("POST", "/v1/sessions", {"name": "Mallory"})
            if status == 201:
                self._sessions.append(json.loads(content)["token"])
            elif self._sessions:
                return self._sessions[number % len(self._sessions)]
            else:
                time.sleep(1)
        return self._sessions[number]

    def room(self, kind: str, **fields) -> str:
        """The id of the attacker's room of one kind; its first session owns the room."""
        while kind not in self._rooms:
            with self.line(self.session()) as line:
                status, content = line.ask("POST", "/v1/rooms", {"name": kind, **fields})
            if status == 201:
                self._rooms[kind] = json.loads(content)["room"]["state"]["id"]
            else:
                self.count(1, 1, f"{status}")
                time.sleep(0.5)
        return self._rooms[kind]

    def remembered(self, name: str, otherwise: str) -> str:
        """What an earlier turn has made."""
        return self._rooms.get(name, otherwise)

    def remember(self, name: str, value: str) -> None:
        self._rooms[name] = value

    def full_room(self, kind: str = "full", text: str = WIDE, share: float = 0.4) -> str:
        """A room with as many maximal tracks as the server takes within a share of the turn. A later turn adds more."""
        room, until = self.room(kind), time.monotonic() + share * self.left
        key = f"{kind} is full"
        if key in self._rooms:
            return room
        tracks = int(self._rooms.get(f"{kind} tracks", "0"))
        with self.line(self.session()) as line:
            while tracks < self.size.tracks and time.monotonic() < until:
                batch = [maximal_track(tracks + number, text) for number in range(30)]
                body = json.dumps({"command": {"type": "addTracks", "tracks": batch}}, ensure_ascii=False).encode()
                status, content = self.ask(line, "POST", f"/v1/rooms/{room}/commands", body)
                if status == 200:
                    tracks += 30
                    self._rooms[f"{kind} tracks"] = str(tracks)
                elif status == 422:
                    self._rooms[key] = key
                    break
                elif status == 429:
                    time.sleep(min(self.left, json.loads(content).get("retryAfterMs", 100) / 1000))
                else:
                    self.notes[f"addTracks {status} {content[:120]!r}"] += 1
                    break
        self.notes[f"{tracks} tracks"] += 1
        return room

    @staticmethod
    def random_code(length: int = 6) -> str:
        return "".join(random.choice("0123456789ABCDEFGHJKMNPQRSTVWXYZ") for _ in range(length))

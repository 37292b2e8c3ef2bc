"""A small client, written from `Documentation/Protocol.md`, as a program for `backline rehearse`.

It follows any number of rooms over one socket. The fold is that of the end-to-end tests.
"""

import asyncio
import json
import os
import random
import sys
import time
import uuid

import websockets.asyncio.client
import websockets.exceptions

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "EndToEnd"))
from fold import evolve, plain  # noqa: E402

CAN = [
    "again", "cancel", "claim", "clock", "clock-sync", "commands", "deck", "expiry", "keyed", "nearby", "presence",
    "react", "resume", "several", "shown", "signal", "wake",
]
LIVE_CONTROLS = {"play", "pause", "resume", "seek", "skip"}
HARMLESS = {
    "vote", "unvote", "voteSkip", "unvoteSkip", "finish", "dequeue", "removeTracks", "rename", "leave", "syncDeck",
    "setDuration", "setMissing",
}
KEYS = 500
FINAL = {4401: "unauthorized", 4403: "banned", 4404: "not_found"}
LATER = {"rate_limited", "unavailable", "outcome_unknown", "internal"}


class Clock:
    """A monotonic clock in seconds that can be set ahead; whoever sleeps is woken by that."""

    def __init__(self):
        self.ahead = 0.0
        self._sleepers = set()

    def now(self):
        return time.monotonic() + self.ahead

    def pass_(self, seconds):
        self.ahead += seconds
        for sleeper in self._sleepers:
            sleeper.set()

    async def sleep_until(self, due):
        sleeper = asyncio.Event()
        self._sleepers.add(sleeper)
        try:
            while (left := due - self.now()) > 0:
                sleeper.clear()
                try:
                    await asyncio.wait_for(sleeper.wait(), left)
                except TimeoutError:
                    pass
        finally:
            self._sleepers.discard(sleeper)


class Command:
    """A command until it is answered, and until the room has its events."""

    def __init__(self, name, command, due):
        self.name, self.command, self.due = name, command, due
        self.key = str(uuid.uuid4())
        self.id = None  # On this connection.
        self.first = None  # The epoch and the count of keys when it was first sent.
        self.ack = None  # The number of its last event.

    @property
    def vote(self):
        """The track that it votes for or withdraws a vote from."""
        return self.command["track"] if self.command["type"] in ("vote", "unvote") else None


class Room:
    """One room: what the server has shown, and the commands for it."""

    def __init__(self, client, reference):
        self.client, self.reference = client, reference
        self.id = self.state = self.epoch = self.seq = self.you = self.keyed = None
        self.online = self.members = self.deck = self.ended = None
        self.asked = None  # The id of a question without an answer.
        self.again = None  # A task that asks after a refusal for a time.
        self.is_live = False
        self.commands = []
        self.paused = None  # A task that goes on after a refusal for a time.
        self.own_deck = None
        self.claim = None  # The claim to be the deck: None, "asked", "here", or "away" after a lost connection.

    # What the server tells.

    def take(self, message):
        kind = message["type"]
        if self.ended:
            return
        if kind == "snapshot":
            other = self.epoch is not None and self.epoch != message["epoch"]
            self.id, self.epoch, self.seq = message["room"], message["epoch"], message["seq"]
            known = None if other or self.keyed is None else self.keyed
            self.state = plain(message["state"])
            self._beside(message)
            if known is not None:
                self.keyed = max(known, self.keyed or 0)
            if other:
                self.commands = [one for one in self.commands if one.ack is None]
            self._answered(message)
        elif kind == "resumed":
            if message.get("re") != self.asked:
                return
            if message["epoch"] != self.epoch or message["seq"] < self.seq:
                self.asked = None
                self.seq = self.epoch = None
                return self.ask()
            self._beside(message)
            self._answered(message)
        elif kind == "delta" and self.state is not None:
            if message["from"] > self.seq + 1:
                return self.ask()
            for event in message["events"]:
                if event["seq"] == self.seq + 1:
                    self._fold(event)
            self._settle()
        elif kind == "presence":
            self.online = message["online"]
            if message.get("on") is None or message.get("off") is None:
                self.members = None
            else:
                self.members = (self.members or set()) | set(message["on"]) - set(message["off"])
                self.members -= set(message["off"])
        elif kind == "deck":
            self._deck(message)
        elif kind == "ended":
            self.end(message["code"])

    def _beside(self, message):
        message = plain(message)
        self.you = message.get("you")
        self.keyed = message.get("keyed", self.keyed if message["type"] == "resumed" else None)
        presence = message.get("presence", {})
        self.online = presence.get("online")
        self.members = set(presence["members"]) if "members" in presence else None
        self._deck({"member": message.get("deck"), "here": message.get("here")})

    def _deck(self, message):
        self.deck = None
        if message.get("member"):
            self.deck = {"member": message["member"], **({"here": True} if message.get("here") else {})}
        if message.get("here") and self.claim:
            self.claim = "here"
        elif self.claim == "here":
            self.claim = None
        elif self.claim == "away" and self.deck is None:
            self.claim = "asked"
            self.client.tell({"type": "deck", "room": self.id, "on": True})
        elif self.claim == "away" and self.deck["member"] != (self.you or {}).get("member"):
            self.claim = None

    def _answered(self, message):
        """The room has answered a question, or replaced itself."""
        if message.get("re") == self.asked or not self.is_live:
            self.asked = None
            self.counted = message.get("keyed")
            self.is_live = True
        self._settle()
        self.send()
        if self.own_deck:
            self.own_deck.send()

    def _fold(self, event):
        self.seq = event["seq"]
        event = plain(event)
        me = self.you["member"] if self.you else None
        try:
            self.state = evolve(self.state, event)
        except AssertionError:
            return  # A type of a later release.
        kind = event["type"]
        if kind in ("voteCast", "voteWithdrawn", "votesCleared") and self.you:
            if kind == "votesCleared" or event.get("by") == me:
                votes = set(self.you["votes"]) - {event["track"]}
                self.you["votes"] = sorted(votes | {event["track"]} if kind == "voteCast" else votes)
        elif kind == "tracksRemoved" and self.you:
            self.you["votes"] = [track for track in self.you["votes"] if track not in event["tracks"]]
        elif kind == "memberLeft" and event["member"] == me:
            self.you = None
        elif kind in ("roleChanged", "memberJoined") and event["member"] == me:
            self.you["role"] = event["role"]

    def end(self, code):
        self.ended, self.is_live = code, False
        for one in self.commands:
            self.client.outcomes[one.name] = {"error": code}
        self.commands = []

    # Asking.

    def ask(self):
        if self.client.socket is None or self.asked is not None or self.ended:
            return
        if self.again:
            self.again.cancel()
        position = {} if self.seq is None else {"position": {"epoch": self.epoch, "seq": self.seq}}
        self.asked = self.client.tell({"type": "subscribe", "room": self.id or self.reference, **position})

    def lost(self):
        self.is_live, self.asked = False, None
        self.claim = "away" if self.claim in ("here", "away") else None
        for one in self.commands:
            one.id = None if one.ack is None else one.id

    # Commands.

    def give(self, name, command):
        lifetime = 10 if command["type"] in LIVE_CONTROLS else 86_400
        one = Command(name, command, self.client.clock.now() + lifetime)
        if one.vote:
            votes = [other for other in self.commands if other.vote == one.vote]
            if votes and votes[-1].first is None and votes[-1].command["type"] != command["type"]:
                self.commands.remove(votes[-1])
                self.client.outcomes[votes[-1].name] = self.client.outcomes[name] = {"dropped": True}
                return
        self.commands.append(one)
        self.send()

    def send(self):
        """Sends what may be sent, in the order of the calls."""
        if not self.is_live or self.paused or self.asked is not None:
            return
        now = self.client.clock.now()
        for one in list(self.commands):
            if one.ack is not None or one.id is not None:
                continue
            if one.due <= now or (one.first is not None and not self._may_repeat(one)):
                self._drop(one, {"dropped": True} if one.first is None else {"unknown": True})
                continue
            if one.first is None:
                one.first = (self.epoch, self.keyed)
            one.id = self.client.tell({"type": "command", "room": self.id, "key": one.key, "command": one.command})

    def _may_repeat(self, one):
        if one.command["type"] in HARMLESS:
            return True
        epoch, keyed = one.first
        return epoch == self.epoch and None not in (keyed, self.counted) and self.counted - keyed <= KEYS

    def acknowledged(self, one, message):
        one.ack = message["seq"]
        if message.get("keyed") is not None:
            self.keyed = max(self.keyed or 0, message["keyed"])
        outcome = {"ok": True}
        if message.get("result") is not None:
            outcome["result"] = message["result"]
        if one.command["type"] == "join":
            self.you = {"member": message["result"]["member"], "role": "guest", "votes": []}
        self.client.outcomes[one.name] = outcome
        self._settle()
        self._deck_answered(one)

    def refused(self, one, message):
        if message["code"] in LATER and message.get("retryAfterMs"):
            one.id = None
            self.paused = asyncio.ensure_future(self._pause(message["retryAfterMs"] / 1000))
            return
        self._drop(one, {"error": message["code"]})
        self._deck_answered(one)

    async def _pause(self, seconds):
        await self.client.clock.sleep_until(self.client.clock.now() + seconds)
        self.paused = None
        self.send()

    def _drop(self, one, outcome):
        self.commands.remove(one)
        self.client.outcomes[one.name] = outcome

    def _settle(self):
        """Forgets the commands whose events the room has."""
        self.commands = [one for one in self.commands if one.ack is None or one.ack > self.seq]

    def _deck_answered(self, one):
        if self.own_deck and self.own_deck.sent is one:
            self.own_deck.sent = None
            self.own_deck.send()

    # What is shown.

    def shown(self):
        state = json.loads(json.dumps(self.state))
        for track in state["pool"]:
            votes = [one for one in self.commands if one.vote == track["track"]]
            mine = self.you is not None and track["track"] in self.you["votes"]
            if votes:
                track["votes"] += (votes[-1].command["type"] == "vote") - mine
        return state

    def told(self):
        told = {"phase": "ended" if self.ended else "live" if self.is_live else "offline"}
        if self.ended:
            told["code"] = self.ended
        told["pending"] = len([one for one in self.commands if one.ack is None])
        if self.state is not None:
            told |= {
                "position": {"epoch": self.epoch, "seq": self.seq}, "keyed": self.keyed, "state": self.state,
                "shown": self.shown(), "you": self.you, "online": self.online, "deck": self.deck,
                "members": None if self.members is None else sorted(self.members),
            }
        return told


class Deck:
    """What this device plays, told to the room by `syncDeck`: one at a time, and the newest."""

    def __init__(self, room):
        self.room = room
        self.sent = None
        self.is_unsent = False
        playback = room.state["playback"]
        self.queue = [{"entry": one["entry"]} for one in room.state["queue"]]
        self.song = None if playback["status"] == "stopped" else {
            "status": playback["status"], "entry": playback["entry"], "positionMs": playback["positionMs"],
            "atMs": playback["atMs"],
        }

    def act(self, command):
        now = self.room.client.server_time()
        kind = command["type"]
        if self.song and self.song["status"] == "playing":
            self.song["positionMs"] += max(0, now - self.song["atMs"])
        if self.song:
            self.song["atMs"] = max(now, self.song["atMs"])
        if kind in ("pause", "resume"):
            self.song["status"] = "paused" if kind == "pause" else "playing"
        elif kind == "seek":
            self.song["positionMs"] = command["positionMs"]
        elif kind == "enqueue":
            self.queue.insert(command.get("at", len(self.queue)), {"track": command["track"]})
        self.is_unsent = True
        self.send()

    def send(self):
        room = self.room
        if not room.is_live or self.sent or not self.is_unsent:
            return
        self.is_unsent = False
        known = [one["entry"] for one in room.state["queue"]] + [room.state["playback"].get("entry", 0)]
        playback = self.song or {"status": "stopped"}
        command = {"type": "syncDeck", "queue": list(self.queue), "playback": dict(playback), "known": max(known)}
        self.sent = Command("deck", command, room.client.clock.now() + 86_400)
        room.commands.append(self.sent)
        room.send()


class Circle:
    """The rooms near a point."""

    def __init__(self, query):
        self.query, self.sub, self.rooms, self.error = query, None, {}, None

    def take(self, message):
        if message["type"] == "nearby":
            self.rooms = {room["id"]: room for room in message["rooms"]}
        else:
            for room in message["left"]:
                self.rooms.pop(room, None)
            self.rooms |= {room["id"]: room for room in message["changed"] + message["entered"]}

    def told(self):
        ordered = sorted(self.rooms.values(), key=lambda room: (room["distanceMeters"], room["id"]))
        return {"error": self.error} if self.error else [room["id"] for room in ordered]


class Client:
    def __init__(self, start):
        self.address = start["address"].replace("http", "ws", 1)
        self.token = start["token"]
        self.clock = Clock()
        self.rooms, self.circles, self.outcomes = {}, {}, {}
        self.reactions, self.signals, self.tellings = [], [], {}
        self.socket = None
        self.over = None
        self.beat = 25.0
        self.offset = self.best = None
        self.heard = self.clock.now()
        self._id = 0
        self._times = 0
        self._outgoing = None

    # The connection.

    async def run(self):
        failures = 0
        while not self.over:
            wait, began = 0.0, self.clock.now()
            try:
                opening = websockets.asyncio.client.connect(
                    f"{self.address}/v1/socket", additional_headers={"Authorization": f"Bearer {self.token}"},
                    subprotocols=["backline.v1.json"], max_size=None, ping_interval=None, proxy=None, close_timeout=1,
                )
                socket = await opening
                await self._use(socket)
            except websockets.exceptions.InvalidStatus as refusal:
                problem = self._problem(refusal.response)
                if problem.get("code") == "unauthorized":
                    self.end("unauthorized")
                wait = problem.get("retryAfterMs", 0) / 1000
            except (OSError, TimeoutError, websockets.exceptions.WebSocketException):
                pass
            if self.clock.now() - began >= 30:
                failures = 0
            if self.is_leaving and not wait:
                continue
            limit = min(20.0, 0.25 * 2**failures)
            failures += 1
            await self.clock.sleep_until(self.clock.now() + wait + random.uniform(0, limit))

    @staticmethod
    def _problem(response):
        try:
            return json.loads(response.body or b"{}")
        except ValueError:
            return {}

    is_leaving = False

    async def _use(self, socket):
        self.is_leaving = False
        self.socket, self.heard = socket, self.clock.now()
        self._outgoing = asyncio.Queue()
        writing = asyncio.ensure_future(self._write(socket))
        watching = asyncio.ensure_future(self._watch(socket))
        for room in self.rooms.values():
            room.ask()
        for circle in self.circles.values():
            self._ask(circle)
        try:
            async for text in socket:
                self.heard = self.clock.now()
                self.take(json.loads(text))
        finally:
            writing.cancel()
            watching.cancel()
            self.socket = None
            for room in self.rooms.values():
                room.lost()
            if code := FINAL.get(socket.close_code):
                self.end(code)

    async def _write(self, socket):
        while True:
            await socket.send(await self._outgoing.get())

    async def _watch(self, socket):
        """Gives a connection up on which nothing has come for too long."""
        while (due := self.heard + 2 * self.beat + 10) > self.clock.now():
            await self.clock.sleep_until(due)
        socket.transport.abort()

    def wake(self):
        asyncio.ensure_future(self._probe())

    async def _probe(self):
        socket, asked = self.socket, self.clock.now()
        if socket is None:
            return
        self._measure()
        await self.clock.sleep_until(asked + 3)
        if self.socket is socket and self.heard < asked:
            self.is_leaving = True
            socket.transport.abort()

    def end(self, code):
        self.over = code
        for room in self.rooms.values():
            room.end(code)

    # Messages.

    def tell(self, message):
        self._id += 1
        self._outgoing.put_nowait(json.dumps({**message, "id": self._id}))
        return self._id

    def take(self, message):
        kind, re = message.get("type"), message.get("re")
        if kind == "welcome":
            self.beat = message["beatMs"] / 1000
            self._times = 8
            self._measure()
        elif kind == "time":
            self._measured(message)
        elif kind == "goaway":
            self.is_leaving = True
        elif kind == "beat":
            for name, seq in message["rooms"].items():
                for room in self._named(name):
                    if room.seq is not None and room.seq < seq:
                        room.ask()
        elif kind in ("nearby", "nearbyDelta"):
            for circle in self.circles.values():
                if circle.sub == message.get("re", message.get("sub")):
                    circle.take(message)
        elif kind == "reaction":
            self.reactions.append({"from": message["from"], "emoji": message["emoji"]})
        elif kind == "signal":
            self.signals.append({"from": message["from"], "data": message["data"]})
        elif kind in ("ack", "error", "ok"):
            self._answer(kind, re, message)
        elif kind in ("snapshot", "resumed"):
            for room in self.rooms.values():
                if room.asked == re if re is not None else room.id == message["room"]:
                    room.take(message)
        elif "room" in message:
            for room in self._named(message["room"]):
                room.take(message)

    def _named(self, name):
        return [room for room in self.rooms.values() if room.id == name]

    def _answer(self, kind, re, message):
        if re is None:
            return
        for circle in self.circles.values():
            if circle.sub == re and kind == "error":
                if message["code"] in LATER:
                    asyncio.ensure_future(self._ask_again(circle, message.get("retryAfterMs", 1000) / 1000))
                else:
                    circle.error = message["code"]
        if name := self.tellings.pop(re, None):
            self.outcomes[name] = {"ok": True} if kind == "ok" else {"error": message["code"]}
        for room in self.rooms.values():
            if room.asked == re and kind == "error":
                room.asked = None
                if message["code"] in LATER:
                    room.again = asyncio.ensure_future(
                        self._subscribe_again(room, message.get("retryAfterMs", 1000) / 1000))
                else:
                    room.end(message["code"])
            for one in list(room.commands):
                if one.id == re and one.ack is None:
                    room.acknowledged(one, message) if kind == "ack" else room.refused(one, message)

    async def _ask_again(self, circle, seconds):
        await self.clock.sleep_until(self.clock.now() + seconds)
        if self.socket is not None:
            self._ask(circle)

    async def _subscribe_again(self, room, seconds):
        await self.clock.sleep_until(self.clock.now() + seconds)
        room.again = None
        room.ask()

    def _ask(self, circle):
        circle.sub = self.tell({"type": "nearby", **circle.query})

    # The server's clock, in milliseconds.

    def _measure(self):
        if self.socket is not None:
            self.tell({"type": "time", "t1": self.clock.now() * 1000})

    def _measured(self, message):
        arrived = self.clock.now() * 1000
        delay = arrived - message["t1"] - (message["t3"] - message["t2"])
        if self.best is None or delay < self.best:
            self.best = delay
            self.offset = (message["t2"] - message["t1"] + message["t3"] - arrived) / 2
        self._times -= 1
        if self._times > 0:
            self._measure()

    def server_time(self):
        return int(self.clock.now() * 1000 + (self.offset or 0))

    # What the program is told to do.

    def room(self, name):
        return next((room for room in self.rooms.values() if name in (room.id, room.reference)), None)

    def do(self, action):
        kind, name = action["type"], action.get("as")
        room = self.room(action["room"]) if "room" in action else None
        if kind == "follow":
            self.rooms[action["room"]] = Room(self, action["room"])
            self.rooms[action["room"]].ask()
        elif kind == "unfollow":
            self.rooms.pop(room.reference)
            if self.socket is not None:
                self.tell({"type": "unsubscribe", "room": room.id or room.reference})
        elif kind == "command":
            room.give(name, action["command"])
        elif kind == "takeDeck":
            room.own_deck = Deck(room)
        elif kind == "deck":
            room.own_deck.act(action["command"])
        elif kind == "react":
            self.tell({"type": "react", "room": room.id, "emoji": action["emoji"]})
        elif kind == "signal":
            fields = {"room": room.id, "to": action["to"], "data": action["data"]}
            self.tellings[self.tell({"type": "signal", **fields})] = name
        elif kind == "claim":
            room.claim = "asked" if action["on"] else None
            self.tellings[self.tell({"type": "deck", "room": room.id, "on": action["on"]})] = name
        elif kind == "nearby":
            query = {field: action[field] for field in ("lat", "lon", "radiusMeters") if field in action}
            self.circles[name] = Circle(query)
            if self.socket is not None:
                self._ask(self.circles[name])
        elif kind == "wake":
            self.wake()
        elif kind == "pass":
            self.clock.pass_(action["ms"] / 1000)
        else:
            return {"cannot": f"there is no {kind}"}
        return {"done": True}

    def told(self, name):
        room = self.room(name)
        return {
            **(room.told() if room else {}), "outcomes": self.outcomes, "reactions": self.reactions,
            "signals": self.signals, "nearby": {name: circle.told() for name, circle in self.circles.items()},
            **({} if self.offset is None else {"time": self.server_time()}),
        }


async def main():
    lines = asyncio.StreamReader(limit=2**24)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    client = running = None
    while line := await lines.readline():
        request = json.loads(line)
        if "start" in request:
            client = Client(request["start"])
            running = asyncio.ensure_future(client.run())
            answer = {"can": CAN}
        elif "state" in request:
            answer = {"state": client.told(request["state"])}
        else:
            answer = client.do(request["do"])
        print(json.dumps(answer), flush=True)
        if running.done():
            running.result()
    running.cancel()


asyncio.run(main())

"""Clients that move between servers and record everything they were told, for `chaos_checks` to check."""

import asyncio
import collections
import contextlib
import copy
import dataclasses
import json
import random
import socket
import time

import aiohttp

import backline
from fold import Follower, Gap, plain

ATTEMPT = 5.0
"""Seconds after which a request counts as unanswered."""
REFUSALS = {"not_found", "conflict", "forbidden", "bad_request"}
"""The allowed refusals of a command that a client chose in a slightly older state."""
LOST = (aiohttp.ClientError, OSError, asyncio.TimeoutError)


@dataclasses.dataclass
class Command:
    """One command of a client, repeated until its outcome is known."""

    room: str
    key: str
    body: dict
    #: The sender's number in the room when it was first sent.
    member: int | None
    answer: dict | None = None
    refusal: str | None = None
    #: Whether an attempt was left without an answer, so that it may still be carried out.
    is_uncertain: bool = False
    attempts: int = 0
    #: The number of acknowledged commands of the room when it was first sent: keys are remembered for a number of
    #: commands.
    answered_before: int = 0


class Room:
    """Everything that all clients together were told about one room."""

    def __init__(self, id, epoch, code):
        self.id = id
        self.epoch = epoch
        self.code = code
        #: Every event that any client saw.
        self.seen = {}
        #: Every snapshot that any client saw, by its position and text.
        self.snapshots = {}
        #: Acknowledged commands in the order of their answers, with their senders.
        self.acknowledged = []
        self.uncertain = []


class World:
    """The state that the clients share."""

    def __init__(self, nodes, seed, say):
        self.nodes = nodes
        self.seed = seed
        self.say = say
        self.rooms = []
        self.counts = collections.Counter()
        self.problems = []
        #: Clients send no new commands.
        self.is_settling = False
        #: Clients leave.
        self.is_over = False
        #: The condition that excuses a snapshot behind its client's position: whether the log was out of reach.
        self.is_log_troubled = lambda: False
        self.http = None

    def problem(self, text):
        self.counts["problems"] += 1
        if len(self.problems) < 40:
            self.problems.append(text)
            self.say(f"!! {text}")

    async def open(self):
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self.nodes[0].context() or False, limit=0),
            timeout=aiohttp.ClientTimeout(total=ATTEMPT))

    async def request(self, node, method, path, token=None, body=None, key=None):
        """One request: its status and JSON."""
        headers = {}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if key:
            headers["Idempotency-Key"] = key
        async with self.http.request(method, node.origin + path, json=body, headers=headers) as response:
            return response.status, await response.json(content_type=None)

    async def insist(self, chance, method, path, token=None, body=None, key=None):
        """A request to any node, until one answers it."""
        while True:
            try:
                status, answer = await self.request(chance.choice(self.nodes), method, path, token, body, key)
                if status < 300:
                    return answer
                if status not in (429, 503):
                    raise AssertionError(f"{method} {path}: {status} {answer}")
            except LOST:
                pass
            await asyncio.sleep(chance.uniform(0.1, 0.5))


class Seat:
    """A client's place in a room."""

    def __init__(self, room):
        self.room = room
        self.follower = Follower(room.id)
        #: The client's number as a member; None while it is not one.
        self.member = None
        #: Whether the server was told the client's position.
        self.has_told_position = False
        #: Whether the server has confirmed that the connection follows the room.
        self.is_followed = False
        #: The online members as the client was told; None if it was only told their number.
        self.present = None


class Client:
    """One person with one device."""

    def __init__(self, world, number, pace):
        self.world = world
        self.number = number
        self.chance = random.Random(f"{world.seed}/{number}")
        self.pace = pace
        self.token = None
        self.seats = {}
        self.node = None
        self._socket = None
        self._waiting = {}
        self._ids = 0
        self._marks = 0
        #: The command that is being tried.
        self.is_busy = None

    # Coming

    async def begin(self):
        made = await self.world.insist(self.chance, "POST", "/v1/sessions", body={"name": f"Client {self.number}"})
        self.token = made["token"]

    async def make_room(self):
        made = await self.world.insist(
            self.chance, "POST", "/v1/rooms", self.token, {"name": f"Room {self.number}"}, backline.new_key())
        snapshot = made["room"]
        room = Room(snapshot["state"]["id"], snapshot["epoch"], snapshot["state"]["code"])
        self.world.rooms.append(room)
        self.sit(room).member = made["you"]["member"]
        return room

    def sit(self, room):
        return self.seats.setdefault(room.id, Seat(room))

    async def run(self):
        async with asyncio.TaskGroup() as tasks:
            connecting = tasks.create_task(self._stay_connected())
            await self._want_things()
            while not self.world.is_over:
                await asyncio.sleep(0.1)
            connecting.cancel()

    # The socket

    async def _stay_connected(self):
        while True:
            node = self.chance.choice(self.world.nodes)
            try:
                await self._connection(node)
            except aiohttp.WSServerHandshakeError as error:
                self.world.counts[f"handshakes answered {error.status}"] += 1
                if error.status not in (429, 502, 503):
                    self.world.problem(f"client {self.number}: its handshake is answered {error.status}")
            except LOST:
                self.world.counts["connections lost"] += 1
            except Gap as gap:
                self.world.problem(f"client {self.number} at {node.origin}: {gap}")
            finally:
                self._disconnected()
            await asyncio.sleep(self.chance.uniform(0.05, 0.6))

    def _disconnected(self):
        self._socket = self.node = None
        for seat in self.seats.values():
            seat.is_followed = False
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(ConnectionError("the socket is gone"))

    async def _connection(self, node):
        """One connection, from its beginning to its end."""
        path, own = "/v1/socket", None
        if self.chance.random() < 0.2:
            own = self.chance.choice(list(self.seats.values()))
            path = f"/v1/rooms/{self.chance.choice([own.room.id, own.room.code])}/socket"
        async with asyncio.timeout(ATTEMPT):
            opened = await self.world.http.ws_connect(
                node.origin.replace("http", "ws", 1) + path, headers={"Authorization": f"Bearer {self.token}"},
                protocols=[backline.PROTOCOL], max_msg_size=0, timeout=aiohttp.ClientWSTimeout(ws_close=2))
        self.world.counts["connections"] += 1
        subscriptions = {}
        try:
            self._socket, self.node = opened, node
            for seat in self.seats.values():
                seat.has_told_position = False
                if seat is own:
                    continue  # Its snapshot arrives without a request.
                self._ids += 1
                message = {"type": "subscribe", "id": self._ids, "room": seat.room.id}
                if seat.follower.seq is not None and self.chance.random() < 0.9:
                    message["position"] = seat.follower.position
                    seat.has_told_position = True
                subscriptions[self._ids] = seat
                await opened.send_json(message)
            leaves_at = time.monotonic() + self.chance.uniform(2, 25)
            answered_by = time.monotonic() + 2 * ATTEMPT
            while self.world.is_settling or time.monotonic() < leaves_at:
                try:
                    received = await opened.receive(timeout=0.5)
                except asyncio.TimeoutError:
                    if time.monotonic() > answered_by and not all(seat.is_followed for seat in self.seats.values()):
                        return  # The server holds its answer back: another server may have it.
                    continue
                if received.type != aiohttp.WSMsgType.TEXT:
                    self.world.counts[f"sockets closed with {opened.close_code}"] += 1
                    return
                if not self._take(json.loads(received.data), subscriptions):
                    return
            if self.chance.random() < 0.5:
                # Cut without a close frame, unless the peer closed first.
                if (connection := opened.get_extra_info("socket")) is not None:
                    connection.shutdown(socket.SHUT_RDWR)
        finally:
            with contextlib.suppress(*LOST):
                await opened.close()

    def _take(self, message, subscriptions):
        """Handles a message; returns whether the connection is still useful."""
        kind, re = message["type"], message.get("re")
        seat = self.seats.get(message.get("room"))
        if kind in ("snapshot", "resumed"):
            self._check_answer(seat, message)
            seat.follower.take(message)
            seat.is_followed = True
            members = message.get("presence", {}).get("members")
            seat.present = None if members is None else set(members)
            if kind == "snapshot":
                state = json.dumps(plain(message["state"]), sort_keys=True)
                seat.room.snapshots.setdefault((message["seq"], state), f"{self.number} at {self.node.origin}")
            self.world.counts[kind] += 1
        elif kind == "delta":
            if not seat.is_followed:
                raise Gap(f"a delta {message['from']}…{message['seq']} before the answer to the subscription")
            seat.follower.take(message)
            for event in message["events"]:
                first = seat.room.seen.setdefault(event["seq"], event)
                if first != event:
                    self.world.problem(f"event {event['seq']} of {seat.room.id} was told as {first} and as {event}")
            seat.follower.events.clear()
            self.world.counts["deltas"] += 1
        elif kind == "presence":
            self.world.counts["presence"] += 1
            if seat.present is not None and "on" in message:
                seat.present = seat.present - set(message["off"]) | set(message["on"])
        elif re in subscriptions:
            if message.get("code") not in ("unavailable", "outcome_unknown", "rate_limited"):
                self.world.problem(f"client {self.number}: a subscription is answered {message}")
            return False
        elif re in self._waiting:
            future = self._waiting.pop(re)
            if not future.done():
                future.set_result(message)
        elif kind == "goaway":
            return False
        elif kind == "ended":
            self.world.problem(f"client {self.number}: {message}")
            return False
        return True

    def _check_answer(self, seat, message):
        if message["epoch"] != seat.room.epoch:
            self.world.problem(f"room {seat.room.id} has the epoch {message['epoch']}, it had {seat.room.epoch}")
        if message["type"] == "snapshot" and seat.follower.seq is not None and message["seq"] < seat.follower.seq:
            # A server that does not know the client's position may be behind for a moment, and a server that cannot
            # reach the log keeps serving the state that it has.
            if not seat.has_told_position:
                self.world.counts["snapshots behind a client who said nothing"] += 1
            elif self.world.is_log_troubled():
                self.world.counts["snapshots behind a client while the log was out of reach"] += 1
            else:
                self.world.problem(
                    f"client {self.number} at {self.node.origin} resumes at {seat.follower.position} and gets a "
                    f"snapshot at {message['seq']}")

    # Commands

    async def _want_things(self):
        while not self.world.is_settling:
            await asyncio.sleep(self.chance.expovariate(1 / self.pace))
            seat = self.chance.choice(list(self.seats.values()))
            body = self._choose(seat)
            if body is not None and not self.world.is_settling:
                await self.carry_out(Command(seat.room.id, backline.new_key(), body, seat.member), seat)

    async def carry_out(self, command, seat):
        """Tries a command until its outcome is known."""
        self.is_busy = command
        try:
            await self._carry_out(command, seat)
        finally:
            self.is_busy = None

    async def _carry_out(self, command, seat):
        if command.attempts == 0:
            command.answered_before = len(seat.room.acknowledged)
        while True:
            command.attempts += 1
            try:
                answer = await (
                    self._by_socket(command) if self._socket is not None and self.chance.random() < 0.6
                    else self.by_request(command))
            except (*LOST, json.JSONDecodeError):
                command.is_uncertain = True
                self.world.counts["attempts without an answer"] += 1
                await asyncio.sleep(self.chance.uniform(0.05, 0.5))
                continue
            if "code" not in answer:
                self._acknowledged(command, seat, answer)
                return
            if answer["code"] in ("unavailable", "outcome_unknown", "rate_limited", "internal"):
                if answer["code"] == "internal":
                    self.world.problem(f"client {self.number}: {command.body} is answered {answer}")
                command.is_uncertain = True
                self.world.counts[f"attempts answered {answer['code']}"] += 1
                await asyncio.sleep(answer.get("retryAfterMs", 300) / 1_000 * self.chance.uniform(0.5, 1))
                continue
            self.world.counts["commands refused"] += 1
            command.refusal = answer["code"]
            if answer["code"] not in REFUSALS:
                self.world.problem(f"client {self.number}, member {command.member}: {command.body}: {answer}")
            if command.is_uncertain:
                seat.room.uncertain.append((self, seat, command))
            return

    def _acknowledged(self, command, seat, answer):
        self.world.counts["commands acknowledged"] += 1
        if command.attempts > 1:
            self.world.counts["of them after retries"] += 1
        command.answer = {"seq": answer["seq"], "result": answer.get("result")}
        seat.room.acknowledged.append((self, command))
        if command.body["type"] == "join":
            seat.member = answer["result"]["member"]
        elif command.body["type"] == "leave":
            seat.member = None

    async def _by_socket(self, command):
        self._ids += 1
        number, opened = self._ids, self._socket
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(ATTEMPT):
                await opened.send_json({
                    "type": "command", "id": number, "room": command.room, "key": command.key,
                    "command": command.body})
                return await future
        finally:
            self._waiting.pop(number, None)

    async def by_request(self, command):
        """Sends a command over HTTP, to any server; returns its answer."""
        _, answer = await self.world.request(
            self.chance.choice(self.world.nodes), "POST", f"/v1/rooms/{command.room}/commands", self.token,
            {"command": command.body}, command.key)
        return answer

    def _mark(self):
        """A name that nothing else has."""
        self._marks += 1
        return f"{self.number}.{self._marks}"

    def _choose(self, seat):
        """A command that fits what the client sees; None for none."""
        state, chance = seat.follower.state, self.chance
        if state is None:
            return None
        if seat.member is None:
            return {"type": "join", "name": self._mark()}
        me = next((member for member in state["members"] if member["member"] == seat.member), None)
        if me is None:
            return None  # It has not been told of its own joining.
        pool, queue = [track["track"] for track in state["pool"]], [entry["entry"] for entry in state["queue"]]
        wanted = {"vote": 8, "unvote": 3, "rename": 3}
        if me["role"] == "guest":
            wanted["leave"] = 1
        else:
            wanted |= {"addTracks": 3 if len(pool) < 40 else 0, "removeTracks": 1 if len(pool) > 15 else 0}
            wanted |= {"enqueue": 6 if len(queue) < 15 else 0, "dequeue": 1, "move": 2, "play": 2, "pause": 1}
            wanted |= {"resume": 2, "seek": 1, "skip": 2, "finish": 2}
        if me["role"] == "owner":
            wanted |= {"updateRoom": 1, "setRole": 1}
        kind = chance.choices(list(wanted), wanted.values())[0]
        playing = state["playback"].get("entry")
        body = {"type": kind}
        match kind:
            case "rename" | "updateRoom":
                body["name"] = self._mark()
            case "addTracks":
                body["tracks"] = backline.tracks(*(self._mark() for _ in range(chance.randint(1, 4))))
            case "vote" | "unvote" | "enqueue" if pool:
                body["track"] = chance.choice(pool)
                if kind == "enqueue" and chance.random() < 0.5:
                    body["at"] = chance.randint(0, len(queue))
            case "removeTracks" if pool:
                body["tracks"] = chance.sample(pool, 1)
            case "dequeue" if queue:
                body["entry"] = chance.choice(queue)
            case "move" if queue:
                body |= {"entry": chance.choice(queue), "to": chance.randrange(len(queue))}
            case "play" if queue:
                if chance.random() < 0.5:
                    body["entry"] = chance.choice(queue)
            case "pause" | "resume" | "skip" | "leave":
                pass
            case "seek":
                body["positionMs"] = chance.randrange(200_000)
            case "finish" if playing is not None:
                body["entry"] = playing
            case "setRole":
                others = [member["member"] for member in state["members"] if member["role"] != "owner"]
                if not others:
                    return None
                body |= {"member": chance.choice(others), "role": chance.choice(["dj", "guest"])}
            case _:
                return None
        return body


async def take_up(client, room, command):
    """Sends an acknowledged command again with its key; returns the fault of the answer, or None."""
    expected = copy.deepcopy(command.answer)
    while True:
        try:
            answer = await client.by_request(command)
        except LOST:
            await asyncio.sleep(0.2)
            continue
        if answer.get("code") in ("unavailable", "outcome_unknown", "rate_limited"):
            await asyncio.sleep(0.3)
            continue
        told = {"seq": answer.get("seq"), "result": answer.get("result")}
        return None if told == expected else f"{command.body} of room {room.id} was answered {expected}, again {answer}"

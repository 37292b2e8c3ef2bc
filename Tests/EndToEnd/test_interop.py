"""Clients of other authors follow one room together while 600 events happen in it.

Each subscribes, loses its connection in the middle, resumes with its position, sends a long command, and closes; with
permessage-deflate and without. This happens once; the tests check what each client saw.
"""

import asyncio
import contextlib
import json
import threading
import time

import pytest
import websockets.asyncio.client

import backline
from fold import Follower, differences
from interop_chromium import Chromium
from interop_clients import Aiohttp, Curl, Picows, Raw, WebsocketClient, Websockets

EVENTS = 600
WINDOW = 100
"""The most unanswered commands of the publisher."""
MISSED = 100
"""The fewest events that happen while a client has no connection."""
DEADLINE = 500.0
"""Seconds after which the whole run has failed."""

KINDS = [Websockets, Aiohttp, Picows, WebsocketClient, Curl, Raw, Chromium]
# A browser always offers compression: without it, it connects to a server that declines.
CASES = [(kind, deflate) for kind in KINDS for deflate in (False, True) if kind.deflates or not deflate]


def case_name(case):
    kind, deflate = case
    return f"{kind.__name__}-{'deflate' if deflate else 'plain'}"


class Room(threading.Thread):
    """A room, and the publisher who makes events in it while clients follow."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.owner = server.session("Ana")
        snapshot = self.owner.create_room()["room"]
        self.room = snapshot["state"]["id"]
        self.first = self.seq = snapshot["seq"]
        self.last = self.first + EVENTS
        self.clients = []
        self.answered = []
        #: The time for the next message, in the clock `time.monotonic`.
        self.rests_until = 0.0
        self.failure = None

    def run(self):
        try:
            asyncio.run(asyncio.wait_for(self._publish(), DEADLINE))
        except Exception as failure:
            self.failure = failure

    async def _publish(self):
        # All clients are there from the first event on.
        while not all(client.subscribed.is_set() for client in self.clients):
            await asyncio.sleep(0.01)
        connection = await websockets.asyncio.client.connect(
            f"wss://{self.server.host}:{self.server.port}/v1/socket", ssl=self.server.context(), proxy=None,
            additional_headers={"Authorization": f"Bearer {self.owner.token}"}, max_size=None, ping_interval=None,
        )
        async with connection, asyncio.TaskGroup() as tasks:
            free = asyncio.Semaphore(WINDOW)
            tasks.create_task(self._read(connection, free, tasks))
            for number in range(EVENTS):
                await free.acquire()
                await self._send(connection, number)

    async def _send(self, connection, number):
        while (rest := self.rests_until - time.monotonic()) > 0:
            await asyncio.sleep(rest)
        await connection.send(self._command(number))

    def _command(self, number):
        return json.dumps({
            "type": "command", "id": number, "room": self.room, "key": f"key-{number}",
            "command": {"type": "updateRoom", "name": f"Name {number}"},
        })

    async def _read(self, connection, free, tasks):
        while len(self.answered) < EVENTS:
            answer = json.loads(await connection.recv())
            if answer.get("code") == "rate_limited":
                self.rests_until = time.monotonic() + answer["retryAfterMs"] / 1000
                tasks.create_task(self._send(connection, answer["re"]))
            elif "re" in answer:
                assert answer["type"] == "ack", answer
                self.answered.append(answer["re"])
                self.seq = max(self.seq, answer["seq"])
                free.release()


class Run(threading.Thread):
    """One client, from its first connection to its close."""

    def __init__(self, room, kind, deflate):
        super().__init__(daemon=True)
        self.room, self.kind, self.deflate = room, kind, deflate
        self.follower = Follower(room.room)
        self.subscribed = threading.Event()
        self.failure = self.client = None
        self.dropped_at = self.resumed_at = self.added = self.close_code = None
        self.extensions, self.compresses, self.subprotocols = [], [], []
        self.ids = iter(range(1, 100))

    def run(self):
        try:
            self._run()
        except BaseException as failure:
            self.failure = failure
        finally:
            # A client that failed does not delay the others.
            self.subscribed.set()
            if self.client is not None:
                with contextlib.suppress(Exception):
                    self.client.end()

    def _run(self):
        person = self.room.server.session(self.kind.__name__)
        own = person.create_room()["room"]["state"]["id"]
        self.client = self.kind(self.room.server, person, self.deflate)
        self._open()
        assert self._ask(type="subscribe", room=self.room.room)["type"] == "snapshot"
        assert self.follower.seq == self.room.first
        self.subscribed.set()

        while self.follower.seq < self.room.first + EVENTS // 2:
            self._receive()
        self.client.drop()
        self.dropped_at = self.follower.seq
        backline.eventually(lambda: self.room.seq >= min(self.dropped_at + MISSED, self.room.last), "events", DEADLINE)
        self._open()
        answer = self._ask(type="subscribe", room=self.room.room, position=self.follower.position)
        assert answer["type"] == "resumed", answer
        assert self.follower.seq == self.dropped_at, "nothing comes before the answer"
        self.resumed_at = answer["seq"]
        while self.follower.seq < self.room.last:
            self._receive()

        titles = [f"Track {number} of one hundred" for number in range(100)]
        self.added = self._ask(
            type="command", room=own, key=backline.new_key(),
            command={"type": "addTracks", "tracks": backline.tracks(*titles)},
        )
        self.pool = [track["title"] for track in person.room(own)["room"]["state"]["pool"]]
        self.titles = sorted(titles)
        self.close_code = self.client.close()

    def _open(self):
        self.client.open()
        self.extensions.append(self.client.extensions)
        self.compresses.append(self.client.compresses)
        self.subprotocols.append(self.client.subprotocol)
        assert self._receive()["type"] == "welcome"

    def _ask(self, **message):
        number = next(self.ids)
        self.client.send(json.dumps({"id": number, **message}))
        while True:
            answer = self._receive()
            if answer.get("re") == number:
                return answer

    def _receive(self):
        message = json.loads(self.client.receive())
        self.follower.take(message)
        return message

    def check(self):
        """Raises the publisher's exception, or else the client's."""
        for who, failure in ("the publisher", self.room.failure), (self.kind.__name__, self.failure):
            if failure is not None:
                raise AssertionError(f"{who}: {failure!r}") from failure
        assert not self.is_alive(), f"{self.kind.__name__} is at {self.follower.seq} after {DEADLINE} s"


@pytest.fixture(scope="module")
def runs():
    """The messages that every client saw, by case."""
    flood = ("--max-commands-per-second", "0")
    with backline.Server(*flood) as server, backline.Server("--no-compression", *flood) as plain:
        rooms = {False: Room(server), True: Room(plain)}
        made = {}
        for kind, deflate in CASES:
            room = rooms[kind is Chromium and not deflate]
            made[kind, deflate] = Run(room, kind, deflate)
            room.clients.append(made[kind, deflate])
        began = time.monotonic()
        threads = [*made.values(), *rooms.values()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, began + DEADLINE - time.monotonic()))
        for room in rooms.values():
            room.events = {event["seq"]: event for event in room.owner.events(room.room)}
            room.snapshot = room.owner.room(room.room)["room"]
        yield made


@pytest.fixture(params=CASES, ids=case_name, scope="module")
def run(runs, request):
    made = runs[request.param]
    made.check()
    return made


def test_every_event_comes_once_and_in_order_across_a_lost_connection(run):
    # The follower has refused every gap and every repeated event.
    assert list(run.follower.events) == list(range(run.room.first + 1, run.room.last + 1))
    assert run.follower.snapshots == 1
    assert run.room.first < run.dropped_at < run.resumed_at <= run.room.last


def test_the_folded_state_is_the_servers(run):
    room = run.room
    assert room.snapshot["seq"] == room.last and len(room.answered) == EVENTS
    assert run.follower.position == {"epoch": room.snapshot["epoch"], "seq": room.last}
    assert differences(run.follower.state, room.snapshot["state"]) == []
    seen = run.follower.events
    assert [seq for seq in seen if seen[seq] != room.events[seq]] == [], "an event is not the log's"


def test_what_is_offered_is_negotiated(run):
    agreed = run.deflate
    assert run.compresses == [agreed, agreed], run.extensions
    assert ["permessage-deflate" in text for text in run.extensions] == [agreed, agreed], run.extensions
    assert run.subprotocols == [backline.PROTOCOL] * 2
    if run.kind is Raw:
        assert (run.client.inflated > 0) == agreed, "the server compressed nothing"


def test_a_long_command_is_understood(run):
    assert run.added["type"] == "ack" and len(run.added["result"]["tracks"]) == 100, run.added
    assert run.pool == run.titles


def test_a_clean_close_is_answered_with_1000(run):
    assert run.close_code == 1000

"""Races: requests after a catch-up, resets after a violation, clients during a stop.

BACKLINE_SEED repeats the random clients' requests, BACKLINE_RACE_SECONDS sets their duration.
"""

import contextlib
import datetime
import json
import os
import random
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest

import backline

SECONDS = float(os.environ.get("BACKLINE_RACE_SECONDS", "6"))
LARGE = [
    {"source": "s", "sourceId": str(n), "title": f"Large {n}", "artworkUrl": "https://example.org/" + "x" * 2000}
    for n in range(500)
]
CLOSING = 5
"""Seconds for which a server that stops waits for clients that do not close."""
#: A few deltas after a snapshot exceed the limit, and no heartbeat helps a client that waits in vain.
SLOW = (
    "--threads", "2", "--max-outgoing-bytes", "1024", "--max-message-bytes", "4000000", "--stall-limit-seconds", "3600",
    "--max-messages-per-second", "0", "--max-commands-per-second", "0", "--ping-interval-seconds", "50",
    "--max-pool-bytes", str(1 << 30),
)


def room_with_pool(dj: backline.Person, kilobytes: int) -> str:
    """Makes a room with an entry on air whose snapshot has about this size; returns its id."""
    room = dj.create_room()["room"]["state"]["id"]
    for added in range(0, kilobytes, 1000):
        dj.command(room, "addTracks", tracks=LARGE[:(kilobytes - added) // 2])
    track = dj.command(room, "addTracks", tracks=backline.tracks("Played"))["result"]["tracks"][0]
    dj.command(room, "enqueue", track=track)
    dj.command(room, "play")
    return room


def metric(server: backline.Address, name: str) -> float:
    """The value of a metric, named with its labels."""
    text = server.request("GET", "/metrics").body.decode()
    return float(next(line.rsplit(" ", 1)[1] for line in text.splitlines() if line.rsplit(" ", 1)[0] == name))


def seconds_of_the_stop(server: backline.Server) -> float:
    """How long the server waited for its clients when it was stopped last, by the seconds of its log.

    On a busy machine, its end itself may show later.
    """
    lines = [line.split() for line in server.said().splitlines()]
    began, ended = (
        next(datetime.datetime.fromisoformat(line[0]) for line in reversed(lines) if line and line[-1] == what)
        for what in ("Stopping", "Stopped"))
    return (ended - began).total_seconds()


class Wrong(AssertionError):
    """The server sent a message that does not follow its previous ones."""


class Listener:
    """One connection, with its position in each room. It refuses a gap, a repeated event and an unexpected delta."""

    def __init__(self, person: backline.Person, receive_buffer: int | None = None):
        self.raw = backline.RawSocket(person.server, person.token, receive_buffer=receive_buffer)
        #: The positions of the rooms that are followed.
        self.seqs: dict[str, int] = {}
        #: The last known position of each room, followed or not.
        self.known: dict[str, dict] = {}
        #: The unanswered requests, by number.
        self.asked: dict[int, dict] = {}
        self.answered: set[int] = set()
        #: The newest messages, for analysing a failure.
        self.heard: list[tuple] = []
        self._number = 0

    def ask(self, *requests: dict) -> list[int]:
        """Sends requests at once; returns their numbers."""
        first = self._number + 1
        for request in requests:
            self._number += 1
            self.asked[self._number] = request
            self.raw.send({"id": self._number, **request})
        return list(range(first, self._number + 1))

    def take(self) -> None:
        """Reads one frame."""
        try:
            opcode, payload = self.raw.receive_frame()
        except TimeoutError:
            raise Wrong(f"nothing comes; heard {self.heard}; not answered {self.asked}") from None
        if opcode == 9:
            self.raw.send_frame(10, payload)
        elif opcode == 8:
            raise Wrong(f"closed with {payload!r}, after {self.heard}")
        elif opcode == 1:
            message = json.loads(payload)
            fields = ("type", "re", "room", "from", "seq", "collapsed", "code")
            self.heard = [*self.heard[-9:], {name: message[name] for name in fields if name in message}]
            self._follow(message)

    def _follow(self, message: dict) -> None:
        room, request = message.get("room"), self.asked.pop(message.get("re"), None)
        if request is not None:
            self.answered.add(message["re"])
        match message["type"]:
            case "snapshot":
                collapsed, seq = message.get("collapsed"), message["seq"]
                if collapsed is not None or request is None:
                    expected = {"from": self.seqs.get(room, -1) + 1, "seq": seq}
                    self._must(collapsed == expected and room in self.seqs, f"a collapse of {expected}")
                self._must(seq >= self.seqs.get(room, 0), f"a snapshot no older than {self.seqs.get(room)}")
                self.seqs[room] = seq
                self.known[room] = {"epoch": message["epoch"], "seq": seq}
            case "resumed":
                self._must(request is not None, "no answer without a question")
                self.seqs[room] = request["position"]["seq"]
            case "delta":
                self._must(message["from"] == self.seqs.get(room, -1) + 1, f"a delta behind {self.seqs.get(room)}")
                self.seqs[room] = self.known[room]["seq"] = message["seq"]
            case "ok":
                self._must(request is not None and request["type"] == "unsubscribe", "no answer without a question")
                self.seqs.pop(request["room"], None)
            case "error" | "ended":
                self._must(False, "no refusal")

    def _must(self, holds: bool, what: str) -> None:
        if not holds:
            raise Wrong(f"expected {what}; heard {self.heard}; not answered {self.asked}")

    def until(self, condition: Callable[[], bool]) -> None:
        """Reads until a condition is true; fails if it does not become true in time, whatever else arrives."""
        deadline = time.monotonic() + backline.PATIENCE
        while not condition():
            self._must(time.monotonic() < deadline, "it in time")
            self.take()

    def settle(self) -> None:
        """Reads everything that was sent before the answer to a new request."""
        (number,) = self.ask({"type": "time", "t1": 1})
        self.until(lambda: number in self.answered)

    def close(self) -> None:
        self.raw.__exit__()


class Writer(threading.Thread):
    """Makes events in several rooms in turn, without a pause, until told to end."""

    def __init__(self, dj: backline.Person, rooms: list[str]):
        super().__init__(daemon=True)
        self.dj, self.rooms = dj, rooms
        self.count = 0
        #: The rooms' last positions.
        self.last: dict[str, int] = {}
        self._is_over = threading.Event()

    def run(self) -> None:
        with backline.RawSocket(self.dj.server, self.dj.token) as raw:
            while not self._is_over.is_set():
                self.count += 1
                room = self.rooms[self.count % len(self.rooms)]
                command = {"type": "seek", "positionMs": self.count}
                raw.send({"type": "command", "id": self.count, "room": room, "command": command})
                while (answer := raw.receive()).get("re") != self.count:
                    pass
                self.last[room] = answer["seq"]

    def end(self) -> None:
        self._is_over.set()
        self.join(backline.PATIENCE)


# Subscriptions after a snapshot that takes long


@pytest.mark.soak("load: large states")
def test_a_subscription_that_follows_its_end_behind_a_catch_up_stays(servers):
    """The room may be on the connection's event loop or on another: connections are assigned to loops in turn."""
    server = servers(*SLOW).start()
    dj = server.session("Ana")
    room = room_with_pool(dj, 8000)
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(contextlib.closing(Listener(dj))) for _ in range(4)]
        for listener in listeners:
            listener.ask(
                {"type": "subscribe", "room": room}, {"type": "unsubscribe", "room": room},
                {"type": "subscribe", "room": room},
            )
        backline.eventually(lambda: metric(server, "backline_subscriptions") == len(listeners), "subscriptions")
        # Nobody has read the first snapshot, so these are left out.
        for position in range(12):
            dj.command(room, "seek", positionMs=position)
        for listener in listeners:
            listener.until(lambda: not listener.asked)
        for _ in range(2):
            seq = dj.command(room, "seek", positionMs=1000)["seq"]
            for listener in listeners:
                listener.until(lambda: listener.seqs[room] == seq)


@pytest.mark.soak("load: large states")
def test_what_is_asked_behind_a_large_answer_is_done_while_deltas_come(servers):
    server = servers(*SLOW).start()
    dj = server.session("Ana")
    rooms = [room_with_pool(dj, kilobytes) for kilobytes in (300, 300, 300, 0)]
    requests = [
        {"type": type, "room": room}
        for room, type in zip(2 * rooms, ("subscribe", "subscribe", "unsubscribe", "subscribe") * 2)
    ]
    writer = Writer(dj, rooms)
    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(contextlib.closing(Listener(dj))) for _ in range(6)]
        writer.start()
        stack.callback(writer.end)
        for _ in range(10):
            for listener in listeners:
                listener.ask(*requests)
            for listener in listeners:
                listener.until(lambda: not listener.asked)


class Fickle(threading.Thread):
    """A slow reader that subscribes, unsubscribes and resumes at random, with several requests at once."""

    def __init__(
        self, person: backline.Person, receive_buffer: int | None, rooms: list[str], seed: str, end: float,
        rest: threading.Event,
    ):
        super().__init__(daemon=True)
        self.listener = Listener(person, receive_buffer)
        self.rooms, self.random, self.end, self.rest = rooms, random.Random(seed), end, rest
        self.is_asking = True
        #: The rooms' last positions, once `rest` is set.
        self.last: dict[str, int] = {}
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            self._ask_at_random()
            self.listener.until(lambda: not self.listener.asked)
            self.is_asking = False
            # It does not read meanwhile, and so falls behind again.
            assert self.rest.wait(SECONDS + 3 * backline.PATIENCE), "the writer did not come to its end"
            self.listener.until(lambda: all(self.last[room] == seq for room, seq in self.listener.seqs.items()))
            self.listener.settle()
            assert all(self.last[room] == seq for room, seq in self.listener.seqs.items()), "a delta that nobody made"
        except BaseException as failure:  # Shown by the main thread.
            self.failure = failure
        finally:
            self.is_asking = False

    def _ask_at_random(self) -> None:
        while time.monotonic() < self.end:
            if len(self.listener.asked) < 4:
                self.listener.ask(*(self._request() for _ in range(self.random.choice((1, 2, 3, 4)))))
                if self.random.random() < 0.15:
                    self.rest.wait(2 * self.random.random())  # It reads nothing for a while.
            for _ in range(self.random.choice((1, 3, 10))):
                if self.listener.asked or self.listener.seqs:
                    self.listener.take()

    def _request(self) -> dict:
        room, chance, back = self.random.choice(self.rooms), self.random.random(), self.random.randrange(30)
        if chance < 0.3:
            return {"type": "unsubscribe", "room": room}
        if chance < 0.5 and room in self.listener.known:
            known = self.listener.known[room]
            return {"type": "subscribe", "room": room, "position": {**known, "seq": max(1, known["seq"] - back)}}
        return {"type": "subscribe", "room": room}


@pytest.mark.soak("load: slow clients for seconds")
def test_whatever_slow_clients_ask_for_they_see_every_event_once(servers, seed, say):
    """After the `ok` of an unsubscription there is no delta; after a position, only the events after it, up to the
    last.
    """
    say(f"BACKLINE_SEED={seed} BACKLINE_RACE_SECONDS={SECONDS:g}")
    server = servers(*SLOW).start()
    dj = server.session("Ana")
    rooms = [room_with_pool(dj, kilobytes) for kilobytes in (300, 300, 300, 0)]
    rest, last = threading.Event(), {}
    end = time.monotonic() + SECONDS
    # With the system's buffers a snapshot is sent in few pieces, with small ones in many.
    clients = [
        Fickle(dj, (8 << 10, None)[number % 2], rooms, f"{seed}-{number}", end, rest) for number in range(10)
    ]
    writer = Writer(dj, rooms)
    with contextlib.ExitStack() as stack:
        for thread in (writer, *clients):
            thread.start()
        for client in clients:
            stack.callback(client.listener.close)
        stack.callback(writer.end)
        backline.eventually(
            lambda: not any(client.is_asking for client in clients), "everything is answered",
            timeout=SECONDS + 2 * backline.PATIENCE)
        writer.end()
        for client in clients:
            client.last = writer.last
        rest.set()
        for client in clients:
            client.join(2 * backline.PATIENCE)
            assert not client.is_alive(), f"a client hangs after {client.listener.heard}"
    say(f"{writer.count} events, {sum(len(client.listener.answered) for client in clients)} answers")
    failures = [repr(client.failure) for client in clients if client.failure is not None]
    assert not failures, "\n".join(failures)


# Connections that end in the middle of an exchange


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_reset_behind_a_violation_leaves_nothing_behind(servers, scheme, seed):
    randomness = random.Random(f"{seed}-{scheme}")
    server = servers("--threads", "1", *(["--plain"] if scheme == "http" else [])).start()
    assert server.scheme == scheme
    dj = server.session("Ana")
    for _ in range(60):
        with backline.RawSocket(server, dj.token) as raw:
            assert raw.status == 101
            raw.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # The server is writing answers when the violation, an unmasked frame, and the reset arrive.
            raw.stream.sendall(b"\x81\x81\0\0\0\0x" * 400 + b"\x81\x01x")
            at = time.perf_counter() + randomness.uniform(0, 0.004)
            while time.perf_counter() < at:
                pass
    backline.eventually(
        lambda: metric(server, 'backline_connections{protocol="websocket"}') == 0, "no socket is open")
    assert server.stop() == 0
    assert seconds_of_the_stop(server) < CLOSING


@pytest.mark.soak("stands still for longer than the silence limit")
def test_a_server_that_stood_still_closes_nobody_who_is_well(servers):
    """A suspended process, or machine, causes its own silence; a client that stays silent afterwards is closed."""
    server = servers("--ping-interval-seconds", "0.5", "--silence-limit-seconds", "8").start()
    dj = server.session("Ana")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(dj.socket()) for _ in range(10)]
        silent = stack.enter_context(backline.RawSocket(server, dj.token))
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(10)  # Longer than the silence limit.
        server.process.send_signal(signal.SIGCONT)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            assert all(client.is_alive() for client in clients)
        assert silent.close_code() == 4408
        assert all(client.is_alive() for client in clients)


# A planned stop


@contextlib.contextmanager
def locked_rooms(cluster, database: str):
    """Blocks all writes to rooms of a database; returns functions that end this, and that count the waiting writers."""
    def ask(what: str, granted: bool, *modes: str) -> str:
        # Reading, which the server also does by itself, takes a different lock.
        return cluster.sql(
            f"SELECT {what} FROM pg_locks WHERE relation = 'heads'::regclass AND granted = {granted} "
            f"AND mode IN ({', '.join(map(repr, modes))})", database)

    def hold() -> None:
        with contextlib.suppress(RuntimeError):  # It is ended from outside.
            cluster.sql("BEGIN; LOCK TABLE heads IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60)", database)

    def release() -> None:
        ask("pg_cancel_backend(pid)", True, "AccessExclusiveLock")

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    try:
        backline.eventually(lambda: ask("count(*)", True, "AccessExclusiveLock") == "1", "the table is locked")
        yield release, lambda: int(ask("count(*)", False, "RowShareLock", "RowExclusiveLock"))
    finally:
        release()
        holder.join(backline.PATIENCE)


@pytest.mark.soak("a statement that takes seconds")
def test_a_command_that_takes_long_is_answered_before_its_socket_is_sent_away(servers, cluster, tmp_path):
    def attempt():
        url = cluster.database()
        server = servers(
            "--drain-window-seconds", "0", "--ping-interval-seconds", "0.5",
            store=["--store", "postgres", "--database-url", url, "--data", str(tmp_path)],
        ).start()
        dj = server.session("Ana")
        room = dj.create_room()["room"]["state"]["id"]
        with contextlib.ExitStack() as stack:
            client = stack.enter_context(dj.socket())
            # The room is in memory then: of the command, only its write waits.
            client.subscribe(room)
            release, waiting = stack.enter_context(locked_rooms(cluster, url.rsplit("/", 1)[1]))
            # A statement that takes longer is cancelled.
            with backline.within(5):
                number = client.next_id()
                command = {"type": "rename", "name": "Late"}
                client.send({"type": "command", "id": number, "room": room, "command": command})
                backline.eventually(waiting, "the command waits for the database")
                server.process.send_signal(signal.SIGTERM)
                assert client.wait_for("goaway")["reconnectInMs"] < 100
                # The socket's turn has come, and it continues as any other: the next heartbeat includes it.
                client.pushed.clear()
                client.wait_for("beat")
                release()
            assert client.answer_to(number)["type"] == "ack"
            assert client.closed() == 1012
        assert server.process.wait(backline.PATIENCE) == 0

    backline.patiently(attempt)


@pytest.mark.soak("load: two hundred connections at once")
def test_who_connects_as_the_stop_begins_does_not_hold_it_up(servers):
    """Connections that wait to be accepted when the signal comes, and then send nothing, are not waited for."""
    server = servers("--drain-window-seconds", "0")
    for _ in range(5):
        server.start()
        with contextlib.ExitStack() as stack:
            # While it is stopped, connections and the signal queue up; it finds all of them at once.
            server.process.send_signal(signal.SIGSTOP)
            for _ in range(200):
                connection = socket.create_connection((server.host, server.port), timeout=backline.PATIENCE)
                stack.enter_context(contextlib.closing(connection))
            server.process.send_signal(signal.SIGTERM)
            server.process.send_signal(signal.SIGCONT)
            assert server.process.wait(backline.PATIENCE) == 0
            assert seconds_of_the_stop(server) < CLOSING

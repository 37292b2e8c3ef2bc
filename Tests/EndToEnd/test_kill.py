"""The server is killed while three clients send keyed commands; every acknowledged command is in the log, once.

BACKLINE_ROUNDS sets the number of rounds on each store, BACKLINE_SEED the first round's seed.
"""

import collections
import os
import random
import threading

import pytest
import websockets.exceptions

import backline
from checks import check_followers, check_log, check_once

ROUNDS = int(os.environ.get("BACKLINE_ROUNDS", "4"))
COMMANDS = 200
CLIENTS = 3
TRACKS = 200
"""The songs that a room has before: those that are voted for, and the others, which are enqueued."""


class Client(threading.Thread):
    """One member: sends its commands without waiting, and reads answers and deltas on a thread of its own."""

    def __init__(self, person, room, plan, follower, counter):
        super().__init__(daemon=True)
        self.person, self.room, self.plan, self.follower = person, room, plan, follower
        #: Called before a command is sent and after one is acknowledged.
        self.counter = counter
        self.answers = {}
        self.failure = None
        self.socket = None

    def connect(self):
        """Opens a connection and subscribes, with a position if there is one. Returns the answer."""
        self.socket = self.person.socket()
        if self.follower.epoch is None:
            self.socket.rooms[self.room] = self.follower
            return self.socket.subscribe(self.room)
        return self.socket.resume(self.follower)

    def send(self, numbers):
        """Sends the commands at these places in the plan; `id` is the place, above the ids of the harness."""
        for number in numbers:
            self.counter("sent")
            self.socket.send({
                "type": "command", "id": 1000 + number, "room": self.room,
                "key": self.plan[number]["key"], "command": self.plan[number]["command"],
            })

    def take(self, message):
        """Records an answer to a command."""
        if message.get("re", 0) >= 1000:
            number = message["re"] - 1000
            assert message["type"] == "ack", f"{self.plan[number]}: {message}"
            answer = {name: message.get(name) for name in ("seq", "result")}
            # A key always has the same outcome.
            assert self.answers.setdefault(number, answer) == answer, self.plan[number]
            self.counter("acknowledged")

    def run(self):
        """Reads until the connection breaks."""
        try:
            while True:
                self.take(self.socket.receive(timeout=60))
        except (websockets.exceptions.ConnectionClosed, OSError):
            pass
        except BaseException as failure:  # Shown by the main thread.
            self.failure = failure


def plans(randomness):
    """The commands of each client: every command has a mark that distinguishes its event from all others."""
    made = []
    for client in range(CLIENTS):
        plan = []
        for number in range(COMMANDS // CLIENTS + (client < COMMANDS % CLIENTS)):
            mark = f"{client}-{number}-{randomness.randrange(1 << 40):x}"
            kinds = ["rename", "vote"] if client == 2 else ["rename", "addTracks", "enqueue", "vote"]
            kind = randomness.choice(kinds)
            command = {"type": kind}
            if kind == "rename":
                command["name"] = mark
            elif kind == "addTracks":
                command["tracks"] = backline.tracks(mark)
            elif kind == "enqueue":
                command["track"] = randomness.randint(TRACKS // 2 + 1, TRACKS)
            else:
                # Each member votes for each track at most once; enqueued tracks are others.
                command["track"] = number + 1
            plan.append({"key": backline.new_key(), "command": command})
        made.append(plan)
    return made


def check_acknowledged(events, member, command, answer):
    """The command's event is in the log once, and the acknowledgement names its place."""
    kind = command["type"]
    if kind == "rename":
        event = check_once(
            events, command, lambda e: e["type"] == "memberRenamed" and e["name"] == command["name"])
    elif kind == "addTracks":
        title = command["tracks"][0]["title"]
        event = check_once(
            events, command, lambda e: e["type"] == "tracksAdded" and any(t["title"] == title for t in e["tracks"]))
        assert answer["result"] == {"tracks": [track["track"] for track in event["tracks"]]}
    elif kind == "enqueue":
        entry = answer["result"]["entry"]
        event = check_once(events, command, lambda e: e["type"] == "entryEnqueued" and e["entry"] == entry)
        assert event["track"] == command["track"]
    else:
        event = check_once(
            events, command,
            lambda e: e["type"] == "voteCast" and e["track"] == command["track"] and e["by"] == member)
    assert answer["seq"] == event["seq"], (command, answer, event)


def one_round(server, seed):
    randomness = random.Random(seed)
    people = [server.session(name) for name in ("Ana", "Ben", "Caro")]
    room = people[0].create_room(f"Round {seed}")["room"]["state"]["id"]
    for person in people[1:]:
        person.command(room, "join")
    people[0].command(room, "setRole", member=2, role="dj")
    titles = [f"Track {number:03}" for number in range(1, TRACKS + 1)]
    people[0].command(room, "addTracks", tracks=backline.tracks(*titles))

    # The client that is about to send the command with this number, or sees its acknowledgement, kills the server.
    # Seeds take turns, so that a run has both.
    what, limit = ["sent", "acknowledged"][seed % 2], randomness.randrange(1, COMMANDS + 1)
    lock, killed, seen = threading.Lock(), threading.Event(), collections.Counter()

    def count(kind):
        with lock:
            seen[kind] += 1
            if kind == what and seen[kind] == limit and not killed.is_set():
                server.process.kill()
                killed.set()

    clients = [
        Client(person, room, plan, backline.Follower(room), count)
        for person, plan in zip(people, plans(randomness))
    ]
    for client in clients:
        assert client.connect()["type"] == "snapshot"
        client.start()
    senders = [threading.Thread(target=_send_all, args=(client,), daemon=True) for client in clients]
    for sender in senders:
        sender.start()
    assert killed.wait(60), f"{seen}, to be killed at {limit} {what}"
    server.process.wait()
    for thread in (*senders, *clients):
        thread.join(60)
        assert not thread.is_alive()
    for client in clients:
        assert client.failure is None, client.failure
        client.socket.close()
    answered = [dict(client.answers) for client in clients]

    server.start()
    waiting = []
    for client in clients:
        before = client.follower.seq
        resumed = client.connect()
        assert resumed["type"] == "resumed" and resumed["seq"] >= before, resumed
        # Unanswered commands are sent again, and some answered ones, in any order.
        again = [number for number in range(len(client.plan)) if number not in client.answers]
        again += randomness.sample(sorted(client.answers), min(10, len(client.answers)))
        randomness.shuffle(again)
        client.send(again)
        waiting.append(set(again))
    for client, missing in zip(clients, waiting):
        while missing:
            message = client.socket.receive()
            client.take(message)
            missing.discard(message.get("re", 0) - 1000)
    for client, earlier in zip(clients, answered):
        assert all(client.answers[number] == answer for number, answer in earlier.items())

    events = check_log(people[0], room)
    for client in clients:
        client.socket.catch_up(room, events[-1]["seq"])
    check_followers(people[0], room, [client.follower for client in clients])
    for member, client in enumerate(clients, 1):
        for number, line in enumerate(client.plan):
            check_acknowledged(events, member, line["command"], client.answers[number])
        client.socket.close()
    return sum(map(len, answered)), len(events)


def _send_all(client):
    try:
        client.send(range(len(client.plan)))
    except (websockets.exceptions.ConnectionClosed, OSError):
        pass  # The server was killed during the call.


@pytest.mark.soak("kills")
def test_what_was_acknowledged_survives_a_kill_and_nothing_is_done_twice(server, seed, say):
    for number in range(ROUNDS):
        say(f"round {number + 1} of {ROUNDS}: BACKLINE_SEED={seed + number} BACKLINE_ROUNDS=1", end=" ")
        answered, events = one_round(server, seed + number)
        say(f"killed after {answered} acknowledgements, {COMMANDS - answered} sent again, {events} events")
    assert server.stop() == 0

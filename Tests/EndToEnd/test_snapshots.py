"""Large rooms: the limit of a pool, and snapshots that are encoded once and shared by all clients that ask for them."""

import asyncio
import contextlib
import json
import tempfile

import pytest
import websockets.asyncio.client

import backline
from fold import Follower

BUDGET = 8 << 20
#: Off: the rate of a test's requests is not tested here.
UNLIMITED = ("--max-commands-per-second", "0", "--max-messages-per-second", "0", "--max-requests-per-session", "0")
DEFLATE = "Sec-WebSocket-Extensions: permessage-deflate"


def track(number, length=2000):
    return {
        "source": "s", "sourceId": str(number), "title": f"Large {number}",
        "artworkUrl": "https://example.org/" + (f"{number * 7919:x}" * length)[:length],
    }


def charge(tracks, first, member=1):
    """The charge of tracks, as Protocol.md defines it."""
    return sum(
        40 + len(json.dumps(
            {"track": first + place, **info, "addedBy": member, "votes": 0}, separators=(",", ":"), ensure_ascii=False,
        ).encode())
        for place, info in enumerate(tracks)
    )


def fill(person, room, budget=BUDGET):
    """Adds tracks until no more are accepted; returns their number."""
    count = 0
    while True:
        added = [track(count + n) for n in range(90)]
        answer = person.post_command(room, "addTracks", tracks=added)
        if answer.status != 200:
            answer.expect_problem(422, "limit_reached")
            return count
        count += len(added)


def resident(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def test_a_pool_holds_its_budget_and_not_one_track_more(servers):
    tracks = [track(n, 300) for n in range(10)]
    budget = charge(tracks[:9], 1)
    server = servers("--max-pool-bytes", str(budget)).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=tracks[:7])
    dj.post_command(room, "addTracks", tracks=tracks[7:]).expect_problem(422, "limit_reached")
    assert len(dj.room(room)["room"]["state"]["pool"]) == 7, "nothing of it is added"
    dj.command(room, "addTracks", tracks=tracks[7:9])
    dj.post_command(room, "addTracks", tracks=backline.tracks("x")).expect_problem(422, "limit_reached")
    # The room still works.
    dj.command(room, "vote", track=1)
    dj.command(room, "removeTracks", tracks=[1])
    dj.command(room, "addTracks", tracks=backline.tracks("x"))


def test_a_pool_larger_than_the_setting_goes_on_and_cannot_grow(servers, tmp_path):
    store = ["--store", "sqlite", "--data", str(tmp_path / "data")]
    server = servers(store=store).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=[track(n) for n in range(20)])
    before = dj.room(room)["room"]
    server.stop()
    smaller = servers("--max-pool-bytes", "10000", store=store).start()
    dj = backline.Person(smaller, dj.session, dj.token, dj.name)
    after = dj.room(room)["room"]
    assert (after["seq"], after["state"]) == (before["seq"], before["state"])
    dj.post_command(room, "addTracks", tracks=backline.tracks("x")).expect_problem(422, "limit_reached")
    dj.command(room, "enqueue", track=1)
    dj.command(room, "play")
    dj.command(room, "vote", track=2)
    dj.command(room, "removeTracks", tracks=list(range(2, 21)))
    dj.command(room, "addTracks", tracks=backline.tracks("x"))


@pytest.fixture(scope="module")
def large():
    """A server, and a room on it with the largest possible pool."""
    # The embedded store is on a disk.
    with tempfile.TemporaryDirectory() as data, backline.Server(
        *UNLIMITED, *backline.NO_GRACE, *backline.PATIENT, store=("--store", "sqlite", "--data", data)
    ) as server:
        dj = server.session("Ana")
        room = dj.create_room()["room"]["state"]["id"]
        assert fill(dj, room) * 2200 > BUDGET * 0.9
        yield server, dj, room


@pytest.mark.parametrize("compression", ["deflate", None])
def test_a_large_snapshot_is_what_http_gives(large, compression):
    server, dj, room = large

    async def look():
        async with websockets.asyncio.client.connect(
            f"wss://{server.host}:{server.port}/v1/rooms/{room}/socket", ssl=server.context(), max_size=None,
            compression=compression, proxy=None, open_timeout=backline.PATIENCE,
            additional_headers={"Authorization": f"Bearer {dj.token}"},
        ) as client:
            assert json.loads(await client.recv())["type"] == "welcome"
            first = json.loads(await client.recv())
            await client.send(json.dumps({"type": "subscribe", "id": 1, "room": room}))
            messages = [json.loads(await client.recv())]
            while messages[-1].get("re") != 1:
                messages.append(json.loads(await client.recv()))
            shown = (await asyncio.to_thread(dj.room, room))["room"]
            assert first["state"] == messages[-1]["state"] == shown["state"]
            assert messages[-1]["seq"] == shown["seq"] and messages[-1]["you"]["role"] == "owner"
            await client.send(json.dumps({"type": "time", "id": 2, "t1": 0}))
            while json.loads(await client.recv()).get("re") != 2:
                pass

    asyncio.run(look())


@pytest.mark.soak("memory is measured")
@pytest.mark.parametrize("headers", [(), (DEFLATE,)], ids=["plain", "compressed"])
def test_clients_that_take_nothing_cost_little_beyond_what_all_share(large, headers, say):
    """Sockets of several sessions ask for the snapshot many times, read nothing, and deltas continue."""
    server, dj, room = large
    people = [server.session(f"Eve {n}") for n in range(10)]
    count = 150

    def hold(stack, number):
        raw = stack.enter_context(
            backline.RawSocket(server, people[number % 10].token, headers=headers, receive_buffer=4096))
        assert raw.status == 101
        for asked in range(50):
            raw.send({"type": "subscribe", "id": asked, "room": room})

    def vote(client):
        """Deltas, each with a frame of its own, and more than may wait for one client."""
        for turn in range(501):
            client.send({
                "type": "command", "id": client.next_id(), "room": room,
                "command": {"type": "vote" if turn % 2 == 0 else "unvote", "track": 1 + turn // 2},
            })
        client.catch_up(room, client.command(room, "unvote", track=251)["seq"])

    with contextlib.ExitStack() as stack, dj.socket() as client:
        client.subscribe(room)
        # Data that is made once is made here, including the room's own snapshots in the store.
        for number in range(10):
            hold(stack, number)
        backline.eventually(lambda: gauge(server, "subscriptions") >= 11, "those who are there first")
        vote(client)
        vote(client)
        hold(stack, 0)
        backline.eventually(lambda: gauge(server, "subscriptions") >= 12, "the state of this position")
        before = resident(server)
        for number in range(count):
            hold(stack, number)
        backline.eventually(lambda: gauge(server, "subscriptions") >= 12 + count, "all subscriptions")
        asked = resident(server) - before
        vote(client)
        grown = resident(server) - before
        waiting = gauge(server, "queued_bytes") / (12 + count)
        say(f"each takes {asked / count:,.0f} bytes having asked, {grown / count:,.0f} with deltas; "
            f"{waiting:,.0f} wait")
        assert 0 < waiting <= 64 << 10 and client.is_alive()
        # Shared data may have been made meanwhile: the state, and the room's snapshot for the store.
        assert grown <= 3 * BUDGET + count * (64 << 10)
    backline.eventually(lambda: gauge(server, "subscriptions") == 0, "the end of all of them")


def gauge(server, name):
    text = server.request("GET", "/metrics").body.decode()
    return float(next(line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith(f"backline_{name} ")))


@pytest.mark.soak("load: a large room, and 600 commands")
def test_a_slow_reader_of_a_large_snapshot_gets_it_whole_and_then_all_that_it_lacks(large):
    server, dj, room = large
    ben = server.session("Ben")
    with backline.RawSocket(server, ben.token, receive_buffer=64 << 10) as raw, dj.socket() as client:
        follower = Follower(room)
        raw.send({"type": "subscribe", "id": 1, "room": room})
        assert raw.receive()["type"] == "welcome"
        raw.reader.peek(1)
        # While it reads nothing: more than may wait for it.
        last = 0
        for turn in range(600):
            last = client.command(room, "vote" if turn % 2 == 0 else "unvote", track=1 + turn // 2)["seq"]
        snapshots = []
        while follower.state is None or follower.seq < last:
            message = raw.receive()
            if message["type"] == "snapshot":
                snapshots.append(message.get("collapsed"))
            follower.take(message)
        assert snapshots[0] is None and len(snapshots) == 2 and snapshots[1] is not None
        assert follower.state == dj.room(room)["room"]["state"]


def test_a_client_that_was_away_for_much_resumes_page_by_page(servers):
    server = servers(*UNLIMITED).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as client:
        client.subscribe(room)
        follower = client.rooms[room]
        client.drop()
    # In memory, and beyond it: the room keeps the newest megabyte.
    for batch in range(12):
        dj.command(room, "addTracks", tracks=[track(batch * 100 + n) for n in range(90)])
    with dj.socket() as client, dj.socket() as other:
        client.resume(follower)
        # Events during this time follow the missing ones.
        seqs = [other.command(room, "vote", track=n + 1)["seq"] for n in range(200)]
        client.catch_up(room, seqs[-1])
        assert follower.state == dj.room(room)["room"]["state"]

"""Rate limits: new sessions, requests of an address and of a session, commands in a room, and writes to the event
log.
"""

import asyncio
import contextlib
import json
import statistics
import threading
import time

import websockets.asyncio.client

import pytest

import backline
from checks import check_log


def refusal(answer):
    """The problem of a request that came too early: it gives the time to wait twice."""
    problem = answer.expect_problem(429, "rate_limited")
    assert problem["retryAfterMs"] > 0, problem
    assert int(answer.headers["Retry-After"]) == -(-problem["retryAfterMs"] // 1000)
    return problem


def until_refused(ask, most):
    """Sends requests until one is refused; returns the number of accepted ones, and the refusal."""
    for count in range(most):
        answer = ask()
        if answer.status == 429:
            return count, refusal(answer)
        assert answer.status < 400, answer
    raise AssertionError(f"nothing was refused in {most} requests")


def make_session(server, **headers):
    return server.request("POST", "/v1/sessions", {"name": "Ana"}, headers=headers)


def test_new_sessions_of_an_address_are_limited(servers):
    server = servers("--max-sessions-per-minute", "2").start()
    made, problem = until_refused(lambda: make_session(server), 20)
    assert made >= 10
    assert 1_000 < problem["retryAfterMs"] <= 31_000
    # An existing session is still served.
    server.request("GET", "/healthz").expect(200)
    metrics = server.request("GET", "/metrics").body.decode()
    assert 'backline_rate_limited_total{limit="sessions"} 1\n' in metrics


def test_an_address_that_waits_as_asked_makes_a_session_again(servers):
    server = servers("--max-sessions-per-minute", "20").start()
    _, problem = until_refused(lambda: make_session(server), 400)
    backline.rest(problem)
    assert make_session(server).status == 201


def test_behind_a_proxy_each_client_has_its_own_sessions(servers):
    server = servers("--plain", "--trusted-proxies", "127.0.0.1", "--max-sessions-per-minute", "1").start()
    for address in "203.0.113.1", "203.0.113.2":
        header = {"X-Forwarded-For": address}
        made, _ = until_refused(lambda: make_session(server, **header), 20)
        assert made == 5
    # All addresses of one IPv6 network count as one client.
    addresses = (f"2001:db8::{number}" for number in range(1, 20))
    made, _ = until_refused(lambda: make_session(server, **{"X-Forwarded-For": next(addresses)}), 20)
    assert made == 5


def test_behind_an_unknown_proxy_addresses_are_not_limited(servers):
    server = servers("--plain").start()
    server.request("GET", "/healthz").expect(200)
    help = backline.run("serve", "--help").stdout
    assert "with --plain and without --trusted-proxies 0" in " ".join(help.split())


def test_requests_and_handshakes_of_an_address_are_limited_together(servers):
    server = servers("--max-requests-per-address", "1").start()
    person = server.session("Ana")
    served, _ = until_refused(lambda: server.request("GET", "/healthz"), 400)
    assert served >= 4

    def handshake():
        with backline.RawSocket(server, person.token) as client:
            return backline.Answer(
                200 if client.status == 101 else client.status, client.headers,
                b"" if client.status == 101 else client.reader.read())

    # On a slow machine some allowance has come back meanwhile.
    _, problem = until_refused(handshake, 20)
    backline.rest(problem)
    with person.socket() as client:
        assert client.is_alive()


def test_requests_of_a_session_are_limited(servers):
    server = servers("--max-requests-per-session", "1").start()
    ana, ben = server.session("Ana"), server.session("Ben")
    served, problem = until_refused(lambda: ana.request("GET", "/v1/session"), 400)
    assert served >= 5
    ben.request("GET", "/v1/session").expect(200)
    backline.rest(problem)
    ana.request("GET", "/v1/session").expect(200)


def test_commands_of_a_session_in_a_room_are_limited_on_all_its_connections(servers):
    server = servers("--max-commands-per-second", "1").start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room, other = (ana.create_room()["room"]["state"]["id"] for _ in range(2))
    ben.command(room, "join")
    with ana.socket() as client:
        acknowledged = 0
        while (answer := client.command(room, "rename", name=f"Name {acknowledged}"))["type"] == "ack":
            acknowledged += 1
            assert acknowledged < 1_000
        assert answer["code"] == "rate_limited" and answer["retryAfterMs"] > 0 and "re" in answer, answer
        assert acknowledged >= 5
        # First, the allowance that has come back on a slow machine is used up.
        over_http, problem = until_refused(lambda: ana.post_command(room, "rename", name=str(time.monotonic())), 20)
        # Neither her other room nor anybody else in this one has to wait.
        ana.command(other, "rename", name="Elsewhere")
        ben.command(room, "rename", name="Ben himself")
        backline.rest(problem)
        assert client.command(room, "rename", name="Rested")["type"] == "ack"
    renames = [event["name"] for event in check_log(ana, room) if event["type"] == "memberRenamed"]
    assert renames[:acknowledged] == [f"Name {number}" for number in range(acknowledged)]
    assert renames[acknowledged + over_http:] == ["Ben himself", "Rested"]


# Shares of the event log


def use_up(person, room):
    """Writes until a share of the log is used up; returns the refusal, over HTTP, and the last acknowledged key."""
    for number in range(5):
        person.command(room, "addTracks", tracks=backline.tracks(*(f"Song {number}.{n}" for n in range(100))))
    for number in range(1_000):
        key = backline.new_key()
        answer = person.post_command(room, "rename", key, name=f"Name {number}")
        if answer.status == 429:
            return refusal(answer), last
        last = (key, f"Name {number}", answer.expect(200)["seq"])
    raise AssertionError("nothing was refused")


def test_what_a_session_writes_to_a_room_is_bounded_by_events_and_bytes(servers, storage):
    """A refused command has changed nothing, and is done under the same key when there is room again."""
    server = servers("--max-events-per-room", "60", store=storage).start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room, other = (ana.create_room()["room"]["state"]["id"] for _ in range(2))
    ben.command(room, "join")
    _, (key, name, seq) = use_up(ana, room)
    refusals = 1
    with ana.socket() as client:
        # On a slow machine there is room for one more now and then: a second brings room for one event.
        for number in range(100):
            wanted, tracks = backline.new_key(), backline.tracks(f"Late {number}")
            refused = client.command(room, "addTracks", key=wanted, tracks=tracks)
            if refused["type"] == "error":
                break
        refusals += 1
        assert refused["code"] == "rate_limited" and refused["retryAfterMs"] > 0 and "re" in refused, refused
        before = ana.events(room)
        # 300 at once: 500 tracks are some 230 of them, by their bytes.
        assert 20 < sum(event["type"] == "memberRenamed" for event in before) < 200
        # A repeated command is answered, one that changes nothing is acknowledged, and a wrong one is refused for its
        # fault.
        assert client.command(room, "rename", key=key, name=name)["seq"] == seq
        assert client.command(room, "pause")["type"] == "ack"
        assert client.command(room, "vote", track=9_999)["code"] == "not_found"
        # Neither her other room nor anybody else in this one has to wait.
        assert client.command(other, "rename", name="Elsewhere")["type"] == "ack"
        ben.command(room, "rename", name="Ben himself")
        assert ana.events(room)[len(before):][0]["type"] == "memberRenamed", "Ben's, and nothing before it"
        while (done := client.command(room, "addTracks", key=wanted, tracks=tracks))["type"] == "error":
            refusals += 1
            backline.rest(done)
    events = check_log(ana, room)
    titles = [event["tracks"][0]["title"] for event in events if event["type"] == "tracksAdded"]
    assert titles[5:] == [f"Late {n}" for n in range(number + 1)]
    assert events[-1]["seq"] == done["seq"]
    metrics = server.request("GET", "/metrics").body.decode()
    assert f'backline_rate_limited_total{{limit="log_room"}} {refusals}\n' in metrics


def test_what_a_session_writes_to_all_rooms_is_bounded_and_new_rooms_are_among_it(servers):
    server = servers("--max-events-per-session", "30").start()
    ana, ben = server.session("Ana"), server.session("Ben")
    rooms = [ana.create_room()["room"]["state"]["id"] for _ in range(3)]
    made, _ = until_refused(lambda: ana.request("POST", "/v1/rooms", {"name": "Another"}), 20)
    assert 4 <= made <= 6
    refusal(ana.post_command(rooms[0], "rename", name="Anywhere"))
    assert ana.request("GET", f"/v1/rooms/{rooms[0]}").expect(200)["room"]["seq"] == 2
    ben.create_room()


def test_what_an_address_writes_is_bounded_however_many_sessions_it_makes(servers):
    server = servers("--plain", "--trusted-proxies", "127.0.0.1", "--max-events-per-address", "30").start()

    def attempt(address, number):
        """One more session of an address makes a room."""
        made = server.session(f"Ana {number}")
        return server.request(
            "POST", "/v1/rooms", {"name": "Another"}, token=made.token, headers={"X-Forwarded-For": address})

    numbers = iter(range(100))
    made, _ = until_refused(lambda: attempt("203.0.113.1", next(numbers)), 50)
    assert 7 <= made <= 9
    assert attempt("203.0.113.2", 100).status == 201
    # Sockets count for the address that they come from as well.
    ana = server.session("Ana")
    room = server.request("POST", "/v1/rooms", {"name": "Hers"}, token=ana.token).expect(201)["room"]["state"]["id"]
    for address, expected in ("203.0.113.1", "error"), ("203.0.113.2", "ack"):
        with backline.Socket(server, token=ana.token, headers={"X-Forwarded-For": address}) as client:
            answer = client.command(room, "rename", name=f"From {address}")
            assert answer["type"] == expected and answer.get("code", "rate_limited") == "rate_limited", answer
    metrics = server.request("GET", "/metrics").body.decode()
    assert 'backline_rate_limited_total{limit="log_address"} 2\n' in metrics


@pytest.mark.soak("load: ten thousand songs")
def test_an_owner_brings_ten_thousand_songs_at_once(servers):
    """20 commands of 500 tracks, each as long as a request may be, with the settings as they are."""
    server = servers().start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    for number in range(20):
        tracks = [
            {"source": "s", "sourceId": f"{number}-{n}", "title": f"Song {number} {n}", "artist": "a" * 200,
             "artworkUrl": "https://example.org/" + "x" * 150} for n in range(500)]
        ana.command(room, "addTracks", tracks=tracks)
    # And enough is left for a deck of 500, removed and added again.
    for queue in [{"track": n} for n in range(1, 501)], [], [{"track": n} for n in range(501, 1_001)]:
        ana.command(room, "syncDeck", queue=queue, playback={"status": "stopped"})


@pytest.mark.soak("load: fifty clients, as fast as they can")
def test_fifty_voters_behind_one_address_are_not_refused(servers):
    """Each votes for twenty songs as fast as it can, with the settings as they are."""
    server = servers("--plain", "--trusted-proxies", "10.0.0.1").start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=backline.tracks(*(f"Song {n}" for n in range(20))))
    with contextlib.ExitStack() as stack:
        voters = []
        for number in range(50):
            person = server.session(f"Voter {number}")
            person.command(room, "join")
            voters.append(stack.enter_context(person.socket()))
        for track in range(1, 21):
            asked = []
            for voter in voters:
                asked.append((voter, voter.next_id()))
                command = {"type": "vote", "track": track}
                voter.send({"type": "command", "id": asked[-1][1], "room": room, "command": command})
            answers = [voter.answer_to(number) for voter, number in asked]
            assert {answer["type"] for answer in answers} == {"ack"}, answers


def test_a_command_that_names_much_counts_more(servers):
    """Also a command that changes nothing: deciding it costs the same."""
    server = servers("--max-commands-per-second", "2").start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=backline.tracks(*(f"Song {n}" for n in range(100))))
    deck = {"queue": [{"track": n} for n in range(1, 101)], "playback": {"status": "stopped"}}
    with ana.socket() as client:
        # Ten at once, three of which are used.
        answers = [client.command(room, "syncDeck", **deck) for _ in range(20)]
    assert [answer["type"] for answer in answers[:2]] == ["ack", "ack"], answers
    refused = next(number for number, answer in enumerate(answers) if answer["type"] == "error")
    assert refused < 10 and answers[refused]["code"] == "rate_limited", answers


async def _flood(server, token, room, per_second, answers, is_over):
    """Sends commands at a rate, whatever the answers, until it is over; returns how many, once all are answered."""
    async with websockets.asyncio.client.connect(
        f"wss://{server.host}:{server.port}/v1/socket", ssl=server.context(),
        additional_headers={"Authorization": f"Bearer {token}"}, subprotocols=[backline.PROTOCOL], compression=None,
        max_queue=None, ping_interval=None,
    ) as socket:
        async def read():
            async for text in socket:
                message = json.loads(text)
                if "re" in message:
                    answers.append(message)
        reading = asyncio.create_task(read())
        count, began = 0, time.monotonic()
        while not is_over.is_set():
            command = {"type": "rename", "name": f"Name {count}"}
            await socket.send(json.dumps({"type": "command", "id": count, "room": room, "command": command}))
            count += 1
            if (early := began + count / per_second - time.monotonic()) > 0:
                await asyncio.sleep(early)
        while len(answers) < count and not reading.done():
            await asyncio.sleep(0.01)
        reading.cancel()
    return count


@pytest.mark.soak("times of answers are compared")
@pytest.mark.alone
def test_a_flood_is_slowed_and_nobody_else_in_the_room_waits_for_it(servers, cluster, tmp_path, say):
    """1,000 commands a second of one member, with the settings as they are; another's are answered as without them.

    How long that is on this machine at this time, a server shows that has no flood: it is asked in turn with the other.
    """
    def served(name):
        store = ["--store", "postgres", "--database-url", cluster.database(), "--data", str(tmp_path / name)]
        server = servers(store=store).start()
        ana, ben = server.session("Ana"), server.session("Ben")
        room = ana.create_room()["room"]["state"]["id"]
        ben.command(room, "join")
        return server, ana, ben, room

    def latency(client, room, number):
        began = time.monotonic()
        assert client.command(room, "rename", name=f"Ben {number}")["type"] == "ack"
        return (time.monotonic() - began) * 1000

    server, ana, ben, room = served("flooded")
    _, _, other, elsewhere = served("quiet")
    quiet, flooded, answers, is_over = [], [], [], threading.Event()
    with ben.socket() as client, other.socket() as control:
        began = time.monotonic()
        flood = asyncio.run_coroutine_threadsafe(
            _flood(server, ana.token, room, 1_000, answers, is_over), backline._loop())
        try:
            backline.eventually(lambda: any(answer["type"] == "error" for answer in answers), "the end of the burst")
            for number in range(100):
                quiet.append(latency(control, elsewhere, number))
                flooded.append(latency(client, room, number))
                time.sleep(0.02)
        finally:
            is_over.set()
        count = flood.result(120)
        took = time.monotonic() - began
    codes = [answer.get("code", answer["type"]) for answer in answers]
    say(
        f"acknowledged {codes.count('ack')}, refused {codes.count('rate_limited')}; median of another's answers: "
        f"{statistics.median(quiet):.1f} ms without a flood, {statistics.median(flooded):.1f} ms with it"
    )
    assert set(codes) == {"ack", "rate_limited"} and len(codes) == count
    # 1,000 at once, and 200 in each second of the flood.
    assert codes.count("ack") <= 1_001 + 200 * took, took
    assert all(answer["retryAfterMs"] > 0 for answer in answers if answer["type"] == "error")
    assert statistics.median(flooded) < 5 * statistics.median(quiet) + 20
    check_log(ana, room)

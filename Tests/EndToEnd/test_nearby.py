"""Rooms near a point: HTTP searches, and subscriptions that show rooms that open, close, move and change song."""

import contextlib
import json
import math
import os
import random
import re
import struct
import time
import urllib.parse

import pytest

import backline
import postgres
from backline import eventually
from identities import Provider
from test_limits import resident, tls

RADIUS = 6_371_008.8
HERE = {"lat": 52.52, "lon": 13.405}
ELSEWHERE = {"lat": -33.87, "lon": 151.21}
PLAIN = ("--location-precision-meters", "0", "--max-searches-per-minute", "0")
WAIT = 0.25
"""Seconds after which a server answers with the last known rooms if reading its log takes longer."""


def distance(one, two):
    """By the Haversine formula."""
    south, north = math.radians(one["lat"]), math.radians(two["lat"])
    east = math.radians(two["lon"] - one["lon"])
    a = math.sin((north - south) / 2) ** 2 + math.cos(south) * math.cos(north) * math.sin(east / 2) ** 2
    return 2 * RADIUS * math.asin(min(1, math.sqrt(a)))


def ask(person, place=HERE, **more):
    """A search; its answer may be older than the log."""
    query = "&".join(f"{name}={value}" for name, value in {**place, **more}.items())
    return person.request("GET", f"/v1/rooms/nearby?{query}")


def search(person, place=HERE, **more):
    """The result of a search that was answered soon enough to include the log's answer."""
    def found():
        answer = ask(person, place, **more)
        rooms = answer.expect(200)["rooms"]
        return [rooms] if answer.took < WAIT else None

    return eventually(found, "a search that is answered at once")[0]


def make(person, name="A room", place=HERE, **more):
    return person.create_room(name, location=place, **more)["room"]["state"]["id"]


def names(rooms):
    return [room["name"] for room in rooms]


class Watch:
    """A socket's subscription, and the list that its messages produce."""

    def __init__(self, client, place=HERE, **more):
        self.client = client
        answer = client.ask("nearby", **place, **more)
        assert answer["type"] == "nearby", answer
        self.sub = answer["re"]
        self.rooms = {room["id"]: room for room in answer["rooms"]}
        self.deltas = []

    def take(self):
        """Applies the messages so far; no room enters twice, or leaves or changes without being there."""
        for message in [message for message in self.client.pushed if message.get("sub") == self.sub]:
            self.client.pushed.remove(message)
            assert message["type"] == "nearbyDelta", message
            self.deltas.append(message)
            for room in message["left"]:
                del self.rooms[room]
            for room in message["changed"]:
                assert room["id"] in self.rooms
                self.rooms[room["id"]] = room
            for room in message["entered"]:
                assert room["id"] not in self.rooms
                self.rooms[room["id"]] = room

    def until(self, condition, what):
        def holds():
            self.take()
            return condition(self.listed)
        self.client.until(holds, what)

    @property
    def listed(self):
        return sorted(self.rooms.values(), key=lambda room: (room["distanceMeters"], room["id"]))


@pytest.fixture
def server(servers, storage):
    """Alone on its store: a search sees all of its rooms."""
    return servers(*PLAIN, store=storage, keeps_connections=True).start()


def test_a_search_gives_the_rooms_within_the_radius_nearest_first(server):
    ana = server.session("Ana")
    places = {
        "here": HERE, "near": {"lat": 52.53, "lon": 13.405}, "far": {"lat": 52.6, "lon": 13.405},
        "antipode": {"lat": -52.52, "lon": -166.595},
    }
    ids = {name: make(ana, name, place) for name, place in places.items()}
    make(ana, "hidden", visibility="unlisted")
    ana.create_room("nowhere")
    closed = make(ana, "closed")
    ana.command(closed, "closeRoom")
    assert names(search(ana)) == ["here", "near"]
    assert names(search(ana, radiusMeters=10_000)) == ["here", "near", "far"]
    found = search(ana, radiusMeters=20_037_508)
    assert names(found) == ["here", "near", "far", "antipode"]
    assert names(search(ana, radiusMeters=20_037_508, limit=2)) == ["here", "near"]
    for room in found:
        assert room["id"] == ids[room["name"]] and room["location"] == places[room["name"]], room
        assert abs(room["distanceMeters"] - distance(HERE, room["location"])) < 0.001
        assert room["listeners"] == 0 and room["djName"] == "Ana"


def test_a_search_sees_what_was_acknowledged_before_it(server):
    ana = server.session("Ana")
    for turn in range(20):
        room = make(ana, f"Room {turn}", {"lat": 10 + turn, "lon": 179.9999})
        place = {"lat": 10 + turn, "lon": -179.9999}
        assert [found["id"] for found in search(ana, place)] == [room]
        ana.command(room, "updateRoom", location={"lat": -10 - turn, "lon": 0})
        assert search(ana, place) == []
        assert [found["id"] for found in search(ana, {"lat": -10 - turn, "lon": 0})] == [room]
        ana.command(room, "updateRoom", clearLocation=True)
        assert search(ana, {"lat": -10 - turn, "lon": 0}) == []


GOOD = {"lat": "1", "lon": "1", "radiusMeters": "5000", "limit": "50"}

NUMBERS = ["1e1", "1E+1", "100e-1", "10.0", "10", "10." + "0" * 9_000]
"""Spellings of 10 in JSON."""

NO_NUMBERS = [
    "nan", "NaN", "inf", "-inf", "Infinity", "x", "true", "", " ", " 5", "5 ", "\t5", "+5", ".5", "5.", "-.5", "007", "00",
    "-", "--5", "1e", "e1", "1e+", "0x10", "0x1p3", "1_000", "1,5", "5f", "5;", "\u0661", "\uff15", "5\0", "\0", "%35",
    "[5]", "{}", '"5"', "9" * 9_000 + "x",
]
"""Texts that are not numbers in a request; in a message, which allows white space, those without it are not either."""

OUT_OF_RANGE = {
    "lat": ["90.1", "-91", "1e300", "-1e300"],
    "lon": ["180.1", "-181", "1e300"],
    "radiusMeters": ["0", "-0", "-1", "20037509", "0.5", "1e-999", "1e300"],
    "limit": ["0", "201", "-1", "1.5", "1e300", "18446744073709551617"],
}


def nearby(person, fields, more=()):
    """A request with these texts, percent-encoded and otherwise unchanged; `more` is appended to them."""
    query = [f"{name}={urllib.parse.quote(text, safe='')}" for name, text in fields.items()]
    return person.request("GET", "/v1/rooms/nearby?" + "&".join([*query, *more]))


def say_nearby(client, fields):
    """A message with these texts as its values; returns its answer, whether or not that names the message."""
    number = client.next_id()
    members = "".join(f',"{name}":{text}' for name, text in fields.items())
    client.send(f'{{"type":"nearby","id":{number}{members}}}')
    def answers():
        return [message for message in client.pushed if message["type"] == "error" or message.get("re") == number]
    client.until(answers, f"an answer to {fields}"[:300])
    answer = answers()[0]
    client.pushed.remove(answer)
    assert answer.get("re") in (None, number)
    return answer


@pytest.mark.parametrize("name", GOOD)
def test_numbers_are_jsons_in_requests_and_messages(open_server, name):
    ana = open_server.session("Ana")
    with ana.socket() as client:
        client.wait_for("welcome")

        def refused(text):
            problem = nearby(ana, {**GOOD, name: text}).expect_problem(400, "bad_request")
            assert problem["detail"].startswith(f"{name} must be "), (text, problem)

        for text in NUMBERS:
            assert nearby(ana, {**GOOD, name: text}).expect(200) == {"rooms": []}, text
            answer = say_nearby(client, {**GOOD, name: text})
            assert answer["type"] == "nearby", (text, answer)
            client.ask("nearbyStop", sub=answer["re"])
        for text in NO_NUMBERS:
            refused(text)
            if text.strip() == text:
                assert say_nearby(client, {**GOOD, name: text})["code"] == "bad_request", text
        for text in OUT_OF_RANGE[name]:
            refused(text)
        for text in [*OUT_OF_RANGE[name], '"5"', '"nan"', "true", "[]", "[5]", "{}", '{"lat":5}', "[" * 30 + "]" * 30]:
            answer = say_nearby(client, {**GOOD, name: text})
            assert answer["code"] == "bad_request" and "re" in answer, (text, answer)
            assert answer["message"].startswith(f"{name} must be "), (text, answer)
        # Larger than any number: the server cannot read a message with it as JSON.
        for text in ("1e999", "-1e999"):
            refused(text)
            answer = say_nearby(client, {**GOOD, name: text})
            assert answer["code"] == "bad_request" and "number out of range" in answer["message"], answer

        without = {field: text for field, text in GOOD.items() if field != name}
        answers = [say_nearby(client, without), say_nearby(client, {**without, name: "null"})]
        if name in ("lat", "lon"):
            problem = nearby(ana, without).expect_problem(400, "bad_request")
            assert problem["detail"].startswith(f"{name} must be "), problem
            assert all(answer["message"].startswith(f"{name} must be ") for answer in answers), answers
        else:
            nearby(ana, without).expect(200)
            assert all(answer["type"] == "nearby" for answer in answers), answers
        assert client.is_alive()


@pytest.mark.parametrize("name", GOOD)
def test_a_request_gives_each_parameter_once(open_server, name):
    ana = open_server.session("Ana")
    for more in (f"{name}={GOOD[name]}", f"{name}=2", f"{name}=", name):
        problem = nearby(ana, GOOD, [more]).expect_problem(400, "bad_request")
        assert problem["detail"] == f"{name} must be given once", problem
    # Invalid encodings, and no value at all.
    without = {field: text for field, text in GOOD.items() if field != name}
    for junk in ("%", "%5", "%zz", "5%", "%C3", "%FF", "%00", "%u0035"):
        problem = nearby(ana, without, [f"{name}={junk}"]).expect_problem(400, "bad_request")
        assert problem["detail"].startswith(f"{name} must be "), (junk, problem)
    nearby(ana, without, [name]).expect_problem(400, "bad_request")
    # An encoded digit is that digit; other parameters are ignored as on other paths.
    nearby(ana, without, [f"{name}=%31"]).expect(200)
    others = ["", "other=1", "other=2", "other=%zz", "=", "=1", f"{name.upper()}=x", "%00", "at=x", "cursor=x"]
    nearby(ana, GOOD, others).expect(200)
    ana.request("GET", "/v1/rooms?other=1&other=2&other=%zz&lat=x").expect(200)


def test_a_subscription_needs_an_id(open_server):
    with open_server.session("Ana").socket() as client:
        for members in ("", ',"id":null', ',"id":1.5', ',"id":"1"', ',"id":[1]'):
            client.send(f'{{"type":"nearby"{members},"lat":1,"lon":1}}')
            answer = client.wait_for("error")
            assert answer["code"] == "bad_request" and "id must be " in answer["message"], answer
        assert client.is_alive()


@pytest.fixture(scope="module")
def open_server():
    """For tests that leave it running, and look at places of their own."""
    with backline.Server(*PLAIN, keeps_connections=True) as server:
        yield server


def test_a_socket_is_shown_what_changes_near_a_point(server):
    ana, ben = server.session("Ana"), server.session("Ben")
    first = make(ana, "first")
    with ben.socket() as client:
        watch = Watch(client)
        watch.until(lambda rooms: names(rooms) == ["first"], "the room that there is")
        second = make(ana, "second", {"lat": 52.53, "lon": 13.405})
        watch.until(lambda rooms: names(rooms) == ["first", "second"], "the room that opened")

        ana.command(second, "addTracks", tracks=backline.tracks("Blue Monday"))
        ana.command(second, "enqueue", track=1)
        ana.command(second, "play")
        watch.until(lambda rooms: rooms[1].get("nowPlaying") == {"title": "Blue Monday"}, "the song")
        ana.command(first, "updateRoom", name="renamed")
        watch.until(lambda rooms: names(rooms) == ["renamed", "second"], "the new name")
        ana.command(first, "updateRoom", location={"lat": 52.54, "lon": 13.405})
        watch.until(lambda rooms: names(rooms) == ["second", "renamed"], "the room that moved")
        assert abs(watch.listed[1]["distanceMeters"] - distance(HERE, {"lat": 52.54, "lon": 13.405})) < 0.001
        ana.command(first, "updateRoom", location={"lat": 0, "lon": 0})
        watch.until(lambda rooms: names(rooms) == ["second"], "the room that moved away")
        ana.command(second, "updateRoom", visibility="unlisted")
        watch.until(lambda rooms: rooms == [], "the room that is hidden")
        ana.command(second, "updateRoom", visibility="public")
        watch.until(lambda rooms: names(rooms) == ["second"], "the room that is shown again")
        ana.command(second, "closeRoom")
        watch.until(lambda rooms: rooms == [], "the room that closed")

        assert client.ask("nearbyStop", sub=watch.sub)["type"] == "ok"
        make(ana, "unseen")
        other = Watch(client)
        other.until(lambda rooms: names(rooms) == ["unseen"], "the room that opened meanwhile")
        ana.command(make(ana, "third"), "closeRoom")
        make(ana, "fourth")
        other.until(lambda rooms: "fourth" in names(rooms), "the room that opened")
        assert not [message for message in client.pushed if message.get("sub") == watch.sub]


def test_a_full_list_keeps_the_nearest(open_server):
    ana = open_server.session("Ana")
    places = [{"lat": ELSEWHERE["lat"] + 0.001 * step, "lon": ELSEWHERE["lon"]} for step in range(6)]
    rooms = [make(ana, str(step), place) for step, place in enumerate(places)]
    with ana.socket() as client:
        watch = Watch(client, ELSEWHERE, limit=3)
        watch.until(lambda rooms: names(rooms) == ["0", "1", "2"], "the nearest")
        ana.command(rooms[1], "closeRoom")
        watch.until(lambda rooms: names(rooms) == ["0", "2", "3"], "the next one in its place")
        ana.command(rooms[5], "updateRoom", location=places[0])
        watch.until(lambda rooms: sorted(names(rooms)) == ["0", "2", "5"], "the one that came nearer")


def test_no_more_than_two_frames_come_a_second(open_server):
    ana = open_server.session("Ana")
    room = make(ana)
    with ana.socket() as client:
        watch = Watch(client)
        start = time.monotonic()
        turn = 0
        while time.monotonic() < start + 3 or len(watch.deltas) < 3:
            assert time.monotonic() < start + backline.PATIENCE, "so many changes, and so few frames"
            turn += 1
            ana.command(room, "updateRoom", name=f"name {turn}")
            client.ask("time", t1=0)
            watch.take()
        watch.until(lambda rooms: names(rooms) == [f"name {turn}"], "the last name")
        assert len(watch.deltas) <= 2 * (time.monotonic() - start) + 1


@pytest.mark.parametrize("path", [
    "rooms/nearby?lat=0&lon=0", "statistics/tracks", "statistics/artists?lat=0&lon=0", "rooms/{room}/statistics/plays",
    "rooms/{room}/statistics/tracks", "rooms/{room}/statistics/artists", "nearby on a socket"])
def test_searches_of_all_sessions_of_an_address_are_limited_together(servers, path):
    """As many sessions search as it takes; each has an allowance of its own left."""
    server = servers("--max-searches-per-minute", "1").start()
    room = server.session("Ana").create_room()["room"]["state"]["id"]

    def search(person):
        if "socket" not in path:
            answer = person.request("GET", "/v1/" + path.format(room=room))
            return answer.expect_problem(429, "rate_limited") if answer.status != 200 else None
        with person.socket() as client:
            answer = client.ask("nearby", lat=0, lon=0)
            return answer if answer["type"] == "error" else None

    # Ten times a session's five at once, and what comes back meanwhile: ten a minute.
    answers = (search(server.session(f"Person {number}")) for number in range(300))
    refused = next(answer for answer in answers if answer)
    assert refused["retryAfterMs"] > 0 and "from this address" in (refused.get("detail") or refused["message"]), refused


def test_limits(servers):
    options = ["--max-nearby-per-connection", "2", "--max-searches-per-minute", "4"]
    server = servers(*options).start()
    ana, ben = server.session("Ana"), server.session("Ben")
    with ana.socket() as client:
        first, second = Watch(client), Watch(client)
        answer = client.ask("nearby", **HERE)
        assert answer["code"] == "limit_reached", answer
        client.send({"type": "nearby", "id": first.sub, "lat": 0, "lon": 0})
        assert client.answer_to(first.sub) == {"type": "nearby", "re": first.sub, "rooms": []}
        assert client.ask("nearbyStop", sub=second.sub)["type"] == "ok"
        assert client.ask("nearbyStop", sub=12_345)["type"] == "ok"
        Watch(client)
        refused = None
        for _ in range(30):
            answer = ana.request("GET", "/v1/rooms/nearby?lat=0&lon=0")
            if answer.status != 200:
                refused = answer.expect_problem(429, "rate_limited")
                break
        assert refused and refused["retryAfterMs"] > 0
        # First, the allowance that has come back on a slow machine is used up.
        for _ in range(30):
            client.send({"type": "nearby", "id": first.sub, "lat": 0, "lon": 0})
            answer = client.answer_to(first.sub)
            if answer["type"] == "error":
                break
        assert answer["code"] == "rate_limited" and answer["retryAfterMs"] > 0, answer
        metrics = server.request("GET", "/metrics").body.decode().splitlines()
        assert 'backline_rate_limited_total{limit="searches"} 2' in metrics
        assert "backline_messages_rate_limited_total 1" in metrics
    # Others are not affected.
    search(ben)


def test_what_is_in_one_cell_has_the_same_answers(server_of_cells):
    ana = server_of_cells.session("Ana")
    truths = [(52.5200123, 13.4050456), (0.0004, -0.0003), (65.7, 179.9999), (-16.8, -179.9999), (89.9996, 77.0), (-90, 0)]
    for lat, lon in truths:
        one = make(ana, place={"lat": lat, "lon": lon})
        shown = ana.room(one)["room"]["state"]["location"]
        assert 0.01 < distance(shown, {"lat": lat, "lon": lon}) < 100
        # On the other side of the cell's middle, equally far: from a pole's cell to the opposite meridian, else by half
        # turns.
        other = {"lat": 2 * shown["lat"] - lat, "lon": (2 * shown["lon"] - lon + 180) % 360 - 180}
        if abs(lat) > 89.99:
            other = {"lat": lat, "lon": shown["lon"]}
        two = make(ana, place=other)
        assert ana.room(two)["room"]["state"]["location"] == shown
        for asked in (shown, {"lat": lat, "lon": lon}, other, {"lat": -33.3, "lon": 44.4}):
            for radius in (1, 20, 60, 20_037_508):
                found = [room for room in search(ana, asked, radiusMeters=radius) if room["id"] in (one, two)]
                assert len(found) == (2 if distance(asked, shown) <= radius else 0)
                for room in found:
                    assert room["location"] == shown
                    assert abs(room["distanceMeters"] - distance(asked, shown)) < 0.001


@pytest.fixture(scope="module")
def server_of_cells():
    with backline.Server("--max-searches-per-minute", "0") as server:
        yield server


def traces(number):
    """The forms in which a number might be stored: its last digits as text and hexadecimal, and a double in either
    order.
    """
    digits = f"{number!r}".split(".")[1][-8:].encode()
    return [digits, digits.hex().encode(), struct.pack(">d", number), struct.pack("<d", number)]


def is_in(number, text):
    return any(trace in text for trace in traces(number))


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
def test_where_somebody_asks_is_kept_nowhere(servers, tmp_path, kind):
    """A room's true location is stored nowhere either: not in the server's output, its metrics, or the database."""
    provider = Provider(tmp_path)
    truth, asked = {"lat": 52.52001237, "lon": 13.40504569}, {"lat": 52.51812345, "lon": 13.40212347}
    with contextlib.ExitStack() as stack:
        store = ["--store", kind, "--data", str(tmp_path / "data")]
        if kind == "postgres":
            cluster = stack.enter_context(contextlib.closing(postgres.Cluster()))
            for setting in ("log_statement = 'all'", "log_min_duration_statement = 0"):
                cluster.sql(f"ALTER SYSTEM SET {setting}", "postgres")
            cluster.sql("SELECT pg_reload_conf()", "postgres")
            url = cluster.database()
            store += ["--database-url", url]
        server = servers(
            "--log-level", "trace", "--max-searches-per-minute", "2", *provider.options("secret"), store=store).start()
        ana, ben = server.session("Ana"), server.session("Ben")
        room = make(ana, place=truth)
        shown = ana.room(room)["room"]["state"]["location"]
        query = f"lat={asked['lat']}&lon={asked['lon']}"
        path = f"/v1/rooms/nearby?{query}"

        found = search(ana, asked)
        assert abs(found[0]["distanceMeters"] - distance(asked, shown)) < 0.001
        with ana.socket() as client, ana.socket() as lost:
            watch = Watch(client, asked)
            assert names(watch.listed) == names(Watch(lost, asked).listed) == ["A room"]
            lost.drop()
            ana.command(room, "updateRoom", name="Kitchen")
            watch.until(lambda rooms: names(rooms) == ["Kitchen"], "the new name")
            assert client.ask("nearby", **asked, limit=0)["code"] == "bad_request"
            client.send(json.dumps({"type": "nearby", "id": 9, **asked})[:-1])
            assert client.wait_for("error")["code"] == "bad_request"
        # Requests that are refused, each at another point.
        ana.request("GET", f"{path}&limit=0").expect_problem(400, "bad_request")
        ana.request("POST", path).expect_problem(405, "method_not_allowed")
        ana.request("GET", path.replace("nearby", "nearest")).expect_problem(404, "not_found")
        ana.request("GET", path, headers={"Accept": "text/html"}).expect_problem(406, "not_acceptable")
        server.request("GET", path, token=provider.hs256(aud="others")).expect_problem(401, "unauthorized")
        assert any(ana.request("GET", path).status == 429 for _ in range(20))
        # Requests that break off, and bytes that are not a request.
        for tail in ("HTTP/1.1\r\nHost: x\r\n", "HTTP/1.1\r\n\0: \0\r\n\r\n", "HTTP/9\r\n\r\n", "\r\n\r\n"):
            with tls(server) as stream, contextlib.suppress(OSError):
                stream.sendall(f"GET {path} {tail}".encode())
                if not tail.endswith("Host: x\r\n"):
                    stream.recv(4096)
        if kind == "postgres":
            search(ben, asked)
            cluster.stop()
            assert names(ask(ben, asked).expect(200)["rooms"]) == ["Kitchen"]
            eventually(lambda: b"The rooms nearby cannot be read" in said(server), "that the log is out of reach")
            cluster.start()
            eventually(lambda: b"The rooms nearby are read again" in said(server), "that it is back")
        metrics = server.request("GET", "/metrics").body
        assert server.stop() == 0

        # The searched texts contain traces of these very requests.
        assert b"A JSON Web Token was refused" in said(server)
        assert said(server).count(b" debug backline:") >= 5, "what is said at this level"
        assert re.search(rb'backline_rate_limited_total\{limit="searches"\} [1-9]', metrics)
        places = {"the server's log": said(server), "its metrics": metrics}
        if kind == "postgres":
            with open(os.path.join(cluster.folder, "log"), "rb") as file:
                places["the database's log"] = file.read()
            name = url.rsplit("/", 1)[1]
            tables = cluster.sql(
                "SELECT c.oid::regclass FROM pg_class c WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace", name)
            places["its rows"] = "".join(
                cluster.sql(f"SELECT t::text FROM {table} t", name) for table in tables.split()).encode()
        else:
            places["its file"] = b"".join(file.read_bytes() for file in (tmp_path / "data").iterdir() if file.is_file())
        for what, text in places.items():
            for number in (*asked.values(), *truth.values()):
                assert not is_in(number, text), f"{number} is in {what}"
            if what not in ("the server's log", "its metrics"):
                assert all(is_in(number, text) for number in shown.values()), f"{what} is not where to look"


def said(server):
    """The program's whole output, from both streams."""
    with open(server.errors.name, "rb") as file:
        return file.read() + "\n".join(server.printed).encode()


def test_what_one_server_writes_is_near_on_the_other(nodes):
    ana, ben = nodes[0].session("Ana"), nodes[1].session("Ben")
    with ben.socket() as client:
        watch = Watch(client)
        room = make(ana, "Kitchen")
        assert names(search(ben)) == ["Kitchen"]
        watch.until(lambda rooms: names(rooms) == ["Kitchen"], "the room that opened elsewhere")
        ana.command(room, "updateRoom", location={"lat": 52.53, "lon": 13.405})
        watch.until(lambda rooms: rooms[0]["distanceMeters"] > 1_000, "the room that moved elsewhere")
        with ana.socket() as follower:
            follower.subscribe(room)
            eventually(lambda: search(ben)[0]["listeners"] == 1, "the listener elsewhere")
        ana.command(room, "closeRoom")
        watch.until(lambda rooms: rooms == [], "the room that closed elsewhere")


def test_a_server_that_was_killed_has_the_rooms_again(server):
    ana = server.session("Ana")
    rooms = [make(ana, str(step), {"lat": 52.52, "lon": 13.405 + step / 10_000}) for step in range(30)]
    ana.command(rooms[0], "closeRoom")
    server.kill()
    server.start()
    assert names(search(ana)) == [str(step) for step in range(1, 30)]
    with ana.socket() as client:
        watch = Watch(client)
        ana.command(rooms[1], "closeRoom")
        watch.until(lambda rooms: names(rooms)[:1] == ["2"], "the room that closed")


def test_what_was_shown_ends_as_a_fresh_search(servers, cluster, tmp_path, seed):
    """Rooms open, move, close and change their names on two servers; every list ends equal to a new search."""
    store = ["--store", "postgres", "--database-url", cluster.database()]
    nodes = [servers(*PLAIN, store=[*store, "--data", str(tmp_path / name)]).start() for name in ("one", "two")]
    dice = random.Random(seed)
    people = [nodes[turn % 2].session(f"Person {turn}") for turn in range(4)]

    def place():
        # Around a pole and the antimeridian, where boxes are unusual.
        return {"lat": 90 - dice.random() * 0.05, "lon": dice.uniform(-180, 180)} if dice.random() < 0.5 else {
            "lat": dice.uniform(-0.02, 0.02), "lon": (180 + dice.uniform(-0.02, 0.02) + 180) % 360 - 180}

    with contextlib.ExitStack() as stack:
        watches = []
        for number in range(8):
            asker = people[number % 4]
            client = stack.enter_context(asker.socket())
            centre, more = place(), {"radiusMeters": dice.choice([500, 3_000, 20_000]), "limit": dice.choice([1, 5, 200])}
            watches.append((asker, centre, more, Watch(client, centre, **more)))
        rooms = []
        for turn in range(150):
            owner = dice.choice(people)
            mine = [room for who, room in rooms if who is owner]
            choice = dice.random()
            if not mine or choice < 0.4:
                rooms.append((owner, make(owner, f"Room {turn}", place())))
            elif choice < 0.7:
                owner.command(dice.choice(mine), "updateRoom", location=place())
            elif choice < 0.85:
                owner.command(dice.choice(mine), "updateRoom", name=f"Renamed {turn}")
            else:
                room = dice.choice(mine)
                rooms.remove((owner, room))
                owner.command(room, "closeRoom")
        for asker, centre, more, watch in watches:
            fresh = search(asker, centre, **more)
            watch.until(lambda rooms: rooms == fresh, f"the rooms of a fresh search with {more}")


# Clients that stop reading


LARGE_TEXT = "\U0001d11e" * 300
"""The longest allowed title."""


class Reader:
    """A client that reads only when told to, with the parts that ``Watch`` uses."""

    def __init__(self, raw):
        self.raw, self.pushed, self.number = raw, [], 0

    def ask(self, type, **fields):
        self.number += 1
        number = self.number
        self.raw.send({"type": type, "id": number, **fields})
        self.until(lambda: any(message.get("re") == number for message in self.pushed), f"an answer to {type}")
        answer = next(message for message in self.pushed if message.get("re") == number)
        self.pushed.remove(answer)
        return answer

    def until(self, condition, what):
        deadline = time.monotonic() + backline.PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"still not: {what}"
            self.pushed.append(self.raw.receive())

    def close_code(self):
        """The server's close code; None if the connection ended before it arrived."""
        try:
            return self.raw.close_code()
        except (OSError, ValueError, struct.error):
            return None


class Street:
    """Rooms at one location whose summaries are large, and a person who renames all of them."""

    COUNT = 40

    def __init__(self, server):
        self.owner = server.session("Ana")
        self.rooms, self.turn = [], 0
        track = {**backline.tracks("Song")[0], "title": LARGE_TEXT, "artist": LARGE_TEXT}
        for number in range(self.COUNT):
            room = make(self.owner, f"Room {number}")
            self.owner.command(room, "addTracks", tracks=[track])
            entry = self.owner.command(room, "enqueue", track=1)["result"]["entry"]
            self.owner.command(room, "play", entry=entry)
            self.rooms.append(room)

    def rename_all(self, client):
        """Renames every room; returns the condition of a list that shows the new names."""
        self.turn += 1
        name = f"Name {self.turn}"
        for room in self.rooms:
            client.send({
                "type": "command", "id": client.next_id(), "room": room,
                "command": {"type": "updateRoom", "name": name}})
        return lambda rooms: names(rooms) == [name] * self.COUNT


def gauge(server, name):
    exposition = server.request("GET", "/metrics").body.decode()
    return float(re.search(rf"^backline_{re.escape(name)} (\S+)$", exposition, re.MULTILINE)[1])


def queued(server):
    """The bytes that wait for clients."""
    return gauge(server, "queued_bytes")


@pytest.mark.soak("load, and memory is measured")
def test_clients_that_stop_reading_are_closed_and_nobody_else_is_concerned(servers, say):
    """They are closed when they have not read for that long."""
    seconds, limit = 10, 128 << 10
    server = servers(
        "--max-searches-per-minute", "0", "--max-commands-per-second", "0", "--max-outgoing-bytes", str(limit),
        "--stall-limit-seconds", str(seconds), keeps_connections=True).start()
    street, ben, cyd = Street(server), server.session("Ben"), server.session("Cyd")
    with contextlib.ExitStack() as stack:
        client, same, other = (stack.enter_context(person.socket()) for person in (street.owner, ben, cyd))
        readers = [
            Reader(stack.enter_context(backline.RawSocket(server, ben.token, receive_buffer=64 << 10))) for _ in range(4)
        ]
        assert len(search(ben)) == street.COUNT
        shown = [Watch(reader) for reader in readers for _ in range(16)]
        size = len(json.dumps(shown[0].listed, ensure_ascii=False).encode())
        assert 100_000 < size < limit and all(len(watch.listed) == street.COUNT for watch in shown)
        # The same session on another connection, and another person, follow a room and the rooms nearby.
        watches = [Watch(same), Watch(other)]
        for follower in (same, other):
            follower.subscribe(street.rooms[0])
        before, most, began, rounds = resident(server), 0, time.monotonic(), 10
        for _ in range(rounds):
            condition = street.rename_all(client)
            for watch in watches:
                watch.until(condition, "the names")
            most = max(most, queued(server))
        # For each connection at most its limit waits; the last delta may pass it.
        assert most <= len(readers) * (limit + size)
        # The number that would wait without these limits: more than the memory that the server used.
        unbounded = len(shown) * rounds * size
        grown = resident(server) - before
        say(f"{most:,.0f} bytes waited of {unbounded:,}; {grown:,} bytes of memory")
        assert grown < unbounded / 2
        eventually(lambda: queued(server) == 0, "the end of what waited")
        assert most > 0 and time.monotonic() - began > seconds - 1, "they were not given their time"
        eventually(lambda: gauge(server, 'websocket_closes_total{code="1013"}') == len(readers), "their closes")
        # A client that had not taken this within the time for closing was dropped.
        codes = {reader.close_code() for reader in readers}
        assert codes <= {1013, None}, codes
        assert gauge(server, "nearby_subscriptions") == len(watches)
        condition = street.rename_all(client)
        fresh = None
        for watch in watches:
            watch.until(condition, "the names")
            fresh = fresh or search(ben)
            assert watch.listed == fresh
        last = street.owner.room(street.rooms[0])["room"]["seq"]
        for follower in (same, other):
            follower.catch_up(street.rooms[0], last)


@pytest.mark.soak("load: a reader that goes on within the stall limit")
def test_a_client_that_reads_again_in_time_is_shown_the_end_of_it(servers):
    """It gets one delta for each subscription, with all changes meanwhile."""
    server = servers(
        "--max-searches-per-minute", "0", "--max-commands-per-second", "0", "--max-outgoing-bytes", str(4 << 20),
        *backline.PATIENT, keeps_connections=True).start()
    street, ben = Street(server), server.session("Ben")
    with contextlib.ExitStack() as stack:
        client, other = (stack.enter_context(person.socket()) for person in (street.owner, ben))
        raw = stack.enter_context(backline.RawSocket(server, ben.token, receive_buffer=64 << 10))
        reader = Reader(raw)
        stalled, watch = [Watch(reader) for _ in range(16)], Watch(other)
        for _ in range(10):
            condition = street.rename_all(client)
            watch.until(condition, "the names")
        street.owner.command(street.rooms.pop(), "closeRoom")
        gone = street.rooms.pop()
        street.owner.command(gone, "updateRoom", location={"lat": 0, "lon": 0})
        make(street.owner, "new")
        watch.until(lambda rooms: "new" in names(rooms) and len(rooms) == street.COUNT - 1, "the new room")
        assert queued(server) > 0, "it does not wait for the client"
        fresh = search(ben)
        for late in stalled:
            late.until(lambda rooms: rooms == fresh, "the rooms of a search")
        assert len(watch.deltas) > 10
        # Some that its network buffers took, one that waited, and one with all the rest.
        assert min(len(late.deltas) for late in stalled) <= 3, [len(late.deltas) for late in stalled]
        assert reader.ask("time", t1=1)["type"] == "time"


@pytest.mark.soak("load: 200 rooms in sixteen lists")
def test_a_client_that_reads_is_shown_large_changes_of_many_lists(servers, monkeypatch):
    """Much at once, but no more than it takes: it does not count as a client that does not read."""
    server = servers(
        "--max-searches-per-minute", "0", "--max-commands-per-second", "0", keeps_connections=True).start()
    monkeypatch.setattr(Street, "COUNT", 50)
    streets, ben = [Street(server), Street(server)], server.session("Ben")
    with contextlib.ExitStack() as stack:
        owners = [stack.enter_context(street.owner.socket()) for street in streets]
        client = stack.enter_context(ben.socket())
        watches = [Watch(client, limit=200) for _ in range(16)]
        for street, owner in zip(streets, owners):
            street.rename_all(owner)
        for watch in watches:
            watch.until(lambda rooms: names(rooms) == ["Name 1"] * 100, "the names")
        assert client.ask("time", t1=1)["type"] == "time"


def test_a_change_larger_than_may_wait_is_sent_where_nothing_waits(servers, monkeypatch):
    server = servers("--max-searches-per-minute", "0", "--max-outgoing-bytes", "1024").start()
    monkeypatch.setattr(Street, "COUNT", 3)
    street, ben = Street(server), server.session("Ben")
    with street.owner.socket() as owner, ben.socket() as client:
        watch = Watch(client)
        for _ in range(2):
            watch.until(street.rename_all(owner), "the names")
        assert max(len(json.dumps(delta, ensure_ascii=False).encode()) for delta in watch.deltas) > 1024
        assert client.ask("time", t1=1)["type"] == "time"

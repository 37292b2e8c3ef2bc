"""The description of the HTTP API, compared with the server: every operation, and its answers."""

import copy
import json
import os
import re
import subprocess
import sys

import jsonschema
import pytest
import yaml

import backline

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCHEMATHESIS = [sys.executable, "-m", "schemathesis.cli"]
SECONDS = 600
"""Seconds after which random requests count as hanging."""

HANDSHAKE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
METHODS = {"get", "post", "patch", "put", "delete"}


class Description:
    """The server's own description, and the parts of it that were seen."""

    def __init__(self, server):
        self.server = server
        self.document = server.request("GET", "/openapi.json").expect(200)
        self.operations = {
            (method.upper(), path): operation
            for path, item in self.document["paths"].items() for method, operation in item.items() if method in METHODS
        }
        #: The statuses that each operation was seen to answer.
        self.seen = {operation: set() for operation in self.operations}
        # An answer must have no undescribed members, unless the description allows them.
        self.strict = _closed(copy.deepcopy(self.document))

    def request(self, person, method, path, body=None, headers=None, **names):
        """Sends a request, and expects a described answer. `names` fill in the path."""
        query = path.partition("?")[2]
        template = path.partition("?")[0]
        target = template.format(**names) + (f"?{query}" if query else "")
        token = person.token if person else None
        answer = self.server.request(method, target, body, token, headers)
        self.check(method, template, answer)
        return answer

    def check(self, method, template, answer):
        responses = self.operations[method, template]["responses"]
        where = f"{method} {template} {answer.status}"
        assert str(answer.status) in responses, f"{where} is not described: {answer.body[:500]!r}"
        self.seen[method, template].add(answer.status)
        response = self.resolved(responses[str(answer.status)])
        for name, header in response.get("headers", {}).items():
            header, value = self.resolved(header), answer.headers[name]
            assert value is not None or not header.get("required"), f"{where} lacks {name}"
            if value is not None:
                number = header["schema"].get("type") == "integer"
                self.validate(int(value) if number else value, header["schema"], f"{where} {name}")
        if "content" not in response:
            assert answer.body == b"", f"{where} has a body: {answer.body[:500]!r}"
            return
        content_type = answer.headers.get_content_type()
        assert content_type in response["content"], f"{where} is {content_type}"
        if content_type == "application/octet-stream":
            return
        value = answer.json if content_type.endswith("json") else answer.body.decode()
        self.validate(value, response["content"][content_type]["schema"], where)

    def validate(self, value, schema, where):
        validator = jsonschema.Draft202012Validator(
            {**self.strict, **_closed(copy.deepcopy(schema))}, format_checker=jsonschema.FormatChecker())
        errors = [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]
        assert not errors, f"{where}: {errors}"

    def resolved(self, value):
        while "$ref" in value:
            reference = value["$ref"].removeprefix("#/").split("/")
            value = self.document
            for name in reference:
                value = value[name]
        return value


def _closed(value):
    """The same schemas without permission for unnamed members."""
    if isinstance(value, list):
        for element in value:
            _closed(element)
    elif isinstance(value, dict):
        if value.get("type") == "object" and "properties" in value:
            value.setdefault("additionalProperties", False)
        for member in value.values():
            _closed(member)
    return value


@pytest.fixture
def described(shared):
    return Description(shared)


def test_the_served_description_is_the_documented_one(shared):
    with open(os.path.join(TREE, "Documentation", "openapi.yaml"), encoding="utf-8") as file:
        documented = yaml.safe_load(file)
    served = shared.request("GET", "/openapi.json").expect(200)
    assert served == documented


def test_the_description_is_one(shared):
    """Its schemas are valid, and everything they refer to exists."""
    document = Description(shared).document
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    named = {
        f"#/components/{kind}/{name}" for kind, parts in document["components"].items() for name in parts
        if kind != "securitySchemes"
    }
    referred = set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)))
    assert named == referred


def test_the_golden_files_are_as_described(described):
    folder = os.path.join(TREE, "Tests", "RoomWireTests", "Fixtures")
    for files, schema in (
        ("command-.*", "Command"), ("event-.*", "Event"), ("state(-closed)?", "State"), ("you", "You"),
        ("http-room(-past)?", "RoomView"), ("http-rooms-none", "RoomList"), ("http-events.*", "EventList"),
        ("http-pool.*", "PoolPage"), ("http-command.*", "Acknowledgement"), ("http-problem.*", "Problem"),
        ("http-session", "SessionView"), ("request-command", "CommandBody"), ("request-room.*", "NewRoom"),
        ("request-session", "Naming"),
    ):
        found = [name for name in os.listdir(folder) if re.fullmatch(files + r"\.json", name)]
        assert found, files
        for name in found:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                described.validate(json.load(file), {"$ref": f"#/components/schemas/{schema}"}, name)


def test_every_operation_answers_as_described(shared, described):
    send = described.request
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json"):
        assert send(None, "GET", path).status == 200

    # Sessions
    named = {"name": "Ana"}
    made = send(None, "POST", "/v1/sessions", named).expect(201)
    dj = backline.Person(shared, made["session"]["id"], made["token"], "Ana")
    guest, stranger, banned = shared.session("Ben"), shared.session("Cyd"), shared.session("Dan")
    send(dj, "GET", "/v1/session").expect(200)
    send(dj, "GET", "/v1/session/rooms").expect(200)
    send(dj, "PATCH", "/v1/session", {"name": "Anna"}).expect(200)
    large = json.dumps({"name": "x" * (300 << 10)}).encode()
    for person, method, path in (
        (None, "POST", "/v1/sessions"), (dj, "PATCH", "/v1/session"), (dj, "POST", "/v1/rooms"),
    ):
        send(person, method, path, {"name": 7}).expect_problem(400, "bad_request")
        send(person, method, path, named, {"Content-Type": "text/plain"}).expect_problem(415, "unsupported_media_type")
        send(person, method, path, named, {"Accept": "text/html"}).expect_problem(406, "not_acceptable")
        send(person, method, path, large).expect_problem(413, "too_large")
        send(person, method, path, named, {"Origin": "https://elsewhere.example"}).expect_problem(403, "forbidden")
    send(dj, "DELETE", "/v1/session", headers={"Origin": "null"}).expect_problem(403, "forbidden")

    # Rooms, with everything in them that a room can have
    located = {"lat": 52.52, "lon": 13.4}
    key = {"Idempotency-Key": backline.new_key()}
    room = send(dj, "POST", "/v1/rooms", {"name": "Kitchen", "location": located}, key).expect(201)
    send(dj, "POST", "/v1/rooms", {"name": "Kitchen", "location": located}, key).expect(200)
    room = room["room"]["state"]["id"]
    send(dj, "POST", "/v1/rooms", {"name": "Cellar"}, key).expect_problem(409, "conflict")

    def command(person, type, **fields):
        return send(
            person, "POST", "/v1/rooms/{room}/commands", {"command": {"type": type, **fields}}, room=room)

    for person in (guest, banned):
        command(person, "join").expect(200)
    track = {
        "source": "s", "sourceId": "1", "title": "Blue Monday", "artist": "New Order", "album": "Substance",
        "durationMs": 440_000, "artworkUrl": "https://example.org/1.png"}
    command(dj, "addTracks", tracks=[track, *backline.tracks("One", "Two", "Three")]).expect(200)
    for number in (1, 2, 3):
        command(dj, "enqueue", track=number).expect(200)
    command(dj, "play").expect(200)
    command(dj, "skip").expect(200)
    name = command(dj, "setWaveform", track=4, data=backline.waveform_text(bytes(2_048))).expect(200)
    name = name["result"]["waveform"]
    command(guest, "vote", track=4).expect(200)
    command(dj, "updateRoom", settings={"skipRatio": 0.25}).expect(200)
    moderation = {"queueLocked": True, "slowModeMs": 60_000, "ownerAwayMs": 600_000}
    command(dj, "updateRoom", settings=moderation, reason="busy").expect(200)
    command(dj, "setRole", member=2, role="dj", reason="good taste").expect(200)
    command(dj, "setRole", member=2, role="guest").expect(200)
    command(dj, "kick", member=3, ban=True, durationMs=1, reason="loud").expect(200)
    backline.eventually(lambda: command(banned, "join").status == 200, "the end of the ban")
    command(dj, "kick", member=4, ban=True, durationMs=600_000).expect(200)
    command(dj, "unban", member=4, reason="sorry").expect(200)
    command(banned, "join").expect(200)
    command(dj, "kick", member=5, ban=True, durationMs=600_000).expect(200)
    command(dj, "rename", name="").expect_problem(400, "bad_request")
    path = "/v1/rooms/{room}/waveforms/{waveform}"
    assert send(guest, "GET", path, room=room, waveform=name).status == 200
    unchanged = {"If-None-Match": f'"{name}"'}
    assert send(guest, "GET", path, None, unchanged, room=room, waveform=name).status == 304
    send(guest, "GET", path, room=room, waveform="A" * 22).expect_problem(404, "not_found")
    send(banned, "GET", path, room=room, waveform=name).expect_problem(403, "banned")
    send(None, "GET", path, room=room, waveform=name).expect_problem(401, "unauthorized")
    command(guest, "skip").expect_problem(403, "forbidden")
    command(banned, "join").expect_problem(403, "banned")
    command(dj, "vote", track=99).expect_problem(404, "not_found")
    command(stranger, "vote", track=4).expect_problem(409, "not_member")
    tracks = backline.tracks(*(str(number) for number in range(501)))
    command(dj, "addTracks", tracks=tracks).expect_problem(422, "limit_reached")
    path = "/v1/rooms/{room}/commands"
    send(dj, "POST", path, large, room=room).expect_problem(413, "too_large")
    send(dj, "POST", path, b"{}", {"Content-Type": "text/plain"}, room=room).expect_problem(
        415, "unsupported_media_type")

    # Reading
    for path in ("", "?limit=1", "?q=kitchen", "?limit=1000"):
        send(dj, "GET", f"/v1/rooms{path}").expect(200)
    for path in ("limit=0", "cursor=x", "q=%00"):
        send(dj, "GET", f"/v1/rooms?{path}").expect_problem(400, "bad_request")
    assert send(dj, "GET", "/v1/rooms/nearby?lat=52.5&lon=13.4&radiusMeters=20037508").expect(200)["rooms"]
    send(dj, "GET", "/v1/rooms/nearby?lat=52.5").expect_problem(400, "bad_request")
    for person in (dj, guest, stranger):
        send(person, "GET", "/v1/rooms/{room}", room=room).expect(200)
        send(person, "GET", "/v1/rooms/{room}?at=5", room=room).expect(200)
        send(person, "GET", "/v1/rooms/{room}/events", room=room).expect(200)
        for query in ("", "?limit=1", "?limit=1&sort=votes", "?sort=added&q=on"):
            send(person, "GET", f"/v1/rooms/{{room}}/pool{query}", room=room).expect(200)
        for path in ("", "?step=minute", "?step=day&offsetMinutes=-60", "/plays", "/plays?limit=1", "/tracks", "/artists"):
            send(person, "GET", f"/v1/rooms/{{room}}/statistics{path}", room=room).expect(200)
    for path in ("", "?window=hour&limit=1", "?window=week", "?window=hour&lat=52.5&lon=13.4&radiusMeters=2000"):
        for kind in ("tracks", "artists"):
            answer = send(dj, "GET", f"/v1/statistics/{kind}{path}")
            answer.expect(200)
            if not path:
                known = {"If-None-Match": answer.headers["ETag"]}
                assert send(dj, "GET", f"/v1/statistics/{kind}", None, known).status == 304
    for kind in ("tracks", "artists"):
        send(dj, "GET", f"/v1/statistics/{kind}?window=year").expect_problem(400, "bad_request")
    for path, query in (
        ("", "at=x"), ("/events", "after=-1"), ("/pool", "sort=x"), ("/statistics", "step=x"),
        ("/statistics/plays", "cursor=x"), ("/statistics/tracks", "limit=0"), ("/statistics/artists", "to=0"),
    ):
        path = "/v1/rooms/{room}" + path
        send(banned, "GET", path, room=room).expect_problem(403, "banned")
        send(dj, "GET", f"{path}?{query}", room=room).expect_problem(400, "bad_request")
        send(dj, "GET", path, room=backline.room_id()).expect_problem(404, "not_found")

    # A session that is banned from the room that it made does not get it by the key either.
    key = {"Idempotency-Key": backline.new_key()}
    lost = send(stranger, "POST", "/v1/rooms", named, key).expect(201)["room"]["state"]["id"]
    dj.command(lost, "join")
    stranger.command(lost, "transferOwnership", member=2, reason="yours")
    dj.command(lost, "kick", member=1, ban=True)
    send(stranger, "POST", "/v1/rooms", named, key).expect_problem(403, "banned")

    # Sockets
    for path in ("/v1/socket", "/v1/rooms/{room}/socket"):
        send(dj, "GET", path, room=room).expect_problem(400, "bad_request")
        send(None, "GET", path, headers=HANDSHAKE, room=room).expect_problem(401, "unauthorized")
        foreign = {**HANDSHAKE, "Origin": "https://elsewhere.example"}
        send(dj, "GET", path, headers=foreign, room=room).expect_problem(403, "forbidden")
        old = {**HANDSHAKE, "Sec-WebSocket-Version": "8"}
        send(dj, "GET", path, headers=old, room=room).expect_problem(426, "bad_request")
        with dj.socket(path.format(room=room)) as client:
            client.wait_for("welcome")
            described.seen["GET", path].add(101)
    send(banned, "GET", path, headers=HANDSHAKE, room=room).expect_problem(403, "banned")
    send(dj, "GET", path, headers=HANDSHAKE, room=backline.room_id()).expect_problem(404, "not_found")

    # Without a session, and with an unacceptable answer
    for method, path in described.operations:
        if not described.operations[method, path].get("security", described.document["security"]):
            continue
        body = {} if method in ("POST", "PATCH") else None
        send(None, method, path, body, room=room, waveform=name).expect_problem(401, "unauthorized")
        if "{waveform}" not in path:
            send(dj, method, path, body, {"Accept": "text/html"}, room=room).expect_problem(406, "not_acceptable")

    # Ends
    command(dj, "closeRoom").expect(200)
    command(dj, "pause").expect_problem(410, "room_closed")
    send(dj, "GET", "/v1/rooms/{room}", room=room).expect(200)
    send(dj, "DELETE", "/v1/session").expect(204)

    # Answers that need a flood, a full disk or a bug are not produced here.
    rare = {422, 429, 500, 503}
    for operation, responses in ((name, described.operations[name]["responses"]) for name in described.operations):
        missing = {int(status) for status in responses} - described.seen[operation] - rare
        assert not missing, f"{operation} was not seen to answer {missing}"


def test_a_path_has_no_other_methods_than_the_described(shared, described):
    dj = shared.session("Ana")
    for path, item in described.document["paths"].items():
        answer = dj.request("TRACE", path.format(room=backline.room_id(), waveform="A" * 22))
        answer.expect_problem(405, "method_not_allowed")
        allowed = {method.strip() for method in answer.headers["Allow"].split(",")}
        assert allowed - {"HEAD"} == {method.upper() for method in item if method in METHODS}, path


def test_too_many_nearby_searches_are_refused_as_described(servers):
    server = servers("--max-searches-per-minute", "1").start()
    described, ana = Description(server), server.session("Ana")
    path = "/v1/rooms/nearby"
    backline.eventually(lambda: described.request(ana, "GET", f"{path}?lat=0&lon=0").status == 429, "a refusal")
    assert described.seen["GET", path] == {200, 429}


def test_nearby_searches_are_taken_where_the_description_takes_them(shared, described):
    """Up to the ends of each range and no further, and without optional parameters."""
    ana, path = shared.session("Ana"), "/v1/rooms/nearby"
    parameters = described.operations["GET", path]["parameters"]
    examples = {parameter["name"]: parameter["example"] for parameter in parameters}

    def asked(values):
        query = "&".join(f"{name}={value}" for name, value in values.items())
        return described.request(ana, "GET", f"{path}?{query}")

    asked(examples).expect(200)
    for parameter in parameters:
        name, schema = parameter["name"], parameter["schema"]
        step = 1 if schema["type"] == "integer" else 0.001
        for value in (schema["minimum"], schema["maximum"], schema.get("default", 1)):
            asked({**examples, name: value}).expect(200)
        for value in (schema["minimum"] - step, schema["maximum"] + step):
            assert name in asked({**examples, name: value}).expect_problem(400, "bad_request")["detail"]
        without = asked({other: value for other, value in examples.items() if other != name})
        assert without.status == (400 if parameter.get("required") else 200)


@pytest.mark.soak("load: random requests for as long as the tool makes them")
@pytest.mark.random
def test_random_nearby_searches_get_described_answers(servers, tmp_path):
    """Random ones, in addition to the cases above."""
    server = servers("--max-searches-per-minute", "0").start()
    dj = server.session("Ana")
    for lat in (-90, 0, 52.52):
        dj.create_room(location={"lat": lat, "lon": 13.405})
    sent = random_requests(server, dj, tmp_path, "--include-operation-id", "listNearbyRooms", "--max-examples", "30")
    assert sent >= 30


@pytest.mark.soak("load: random requests for as long as the tool makes them")
@pytest.mark.random
def test_random_requests_get_described_answers(servers, tmp_path):
    server = servers().start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=backline.tracks("One", "Two", "Three"))
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(f'[parameters]\n"path.room" = "{room}"\n')
    # A text of spaces only, or another room's key, is refused although its schema permits it.
    checks = ["--exclude-checks", "positive_data_acceptance,negative_data_rejection"]
    # After the first of those that end the session there would be no other answer than 401.
    sent = random_requests(
        server, dj, tmp_path, "--max-examples", "5", *checks, "--exclude-operation-id", "deleteSession", config=settings)
    assert sent >= 10


def random_requests(server, person, folder, *options, config=None):
    """Runs schemathesis, which must find no fault; returns the number of requests it sent."""
    command = [
        *SCHEMATHESIS, *(["--config-file", str(config)] if config else []), "run", f"{server.origin}/openapi.json",
        "--header", f"Authorization: Bearer {person.token}", "--tls-verify", "false",
        "--seed", os.environ.get("BACKLINE_SEED") or "5", "--request-timeout", "10", "--no-color",
        "--phases", "examples,coverage,fuzzing", "--suppress-health-check", "all", *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=folder)
    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
    sent = re.search(r"(\d+) generated", done.stdout)
    server.request("GET", "/healthz").expect(200)
    assert server.running, server.said()
    return int(sent[1])

"""Invalid input: each kind gets the code that the protocol names, and the server stays up."""

import contextlib
import http.client
import json
import socket

import pytest
import websockets.exceptions

import backline

LARGE = 1 << 63


@pytest.fixture
def dj(shared):
    return shared.session("Ana")


@pytest.fixture
def room(dj):
    """A room with two tracks, one of them waiting in the queue."""
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=backline.tracks("One", "Two"))
    dj.command(room, "enqueue", track=1)
    return room


# Messages on a socket

NOT_MESSAGES = {
    "nothing": "",
    "broken JSON": '{"type":"time"',
    "text": "hello",
    "a number": "7",
    "an array": '[{"type":"time"}]',
    "no type": '{"id":1}',
    "a null type": '{"type":null,"id":1}',
    "a type that is a number": '{"type":7}',
    "two objects": '{"type":"time"}{"type":"time"}',
    "arrays 100,000 deep": "[" * 100_000,
    "closed arrays 100,000 deep": "[" * 100_000 + "]" * 100_000,
    "objects 40,000 deep": '{"a":' * 40_000,
    "a lone surrogate as the type": '{"type":"\\ud800"}',
    "a number too large for any type": '{"type":"time","id":1e999}',
}


def test_what_is_no_message_is_a_bad_request(dj):
    with dj.socket() as client:
        for what, text in NOT_MESSAGES.items():
            client.send(text)
            answer = client.wait_for("error")
            assert answer["code"] == "bad_request" and answer["message"], what
            assert answer.get("re") is None or '"id"' in text, what
            assert client.is_alive(), what


BAD_MESSAGES = {
    "an unknown type": {"type": "dance"},
    "subscribe without a room": {"type": "subscribe"},
    "subscribe to a number": {"type": "subscribe", "room": 7},
    "a position that is a number": {"type": "subscribe", "room": "ROOM", "position": 7},
    "a position without an epoch": {"type": "subscribe", "room": "ROOM", "position": {"seq": 1}},
    "a position without a seq": {"type": "subscribe", "room": "ROOM", "position": {"epoch": "x"}},
    "a position of half an event": {"type": "subscribe", "room": "ROOM", "position": {"epoch": "x", "seq": 1.5}},
    "unsubscribe without a room": {"type": "unsubscribe"},
    "no command": {"type": "command", "room": "ROOM", "key": "KEY"},
    "a command without a type": {"type": "command", "room": "ROOM", "key": "KEY", "command": {}},
    "a command that is a text": {"type": "command", "room": "ROOM", "key": "KEY", "command": "skip"},
    "a command without a room": {"type": "command", "key": "KEY", "command": {"type": "skip"}},
    "a key that is a number": {"type": "command", "room": "ROOM", "key": 7, "command": {"type": "skip"}},
    "after that is a text": {"type": "command", "room": "ROOM", "after": "3", "command": {"type": "skip"}},
    "time without t1": {"type": "time"},
    "t1 that is a text": {"type": "time", "t1": "noon"},
}


def test_a_message_with_wrong_fields_is_a_bad_request(dj, room):
    with dj.socket() as client:
        for what, message in BAD_MESSAGES.items():
            filled = json.loads(json.dumps(message).replace("ROOM", room).replace("KEY", backline.new_key()))
            answer = client.ask(filled.pop("type"), **filled)
            assert (answer["type"], answer["code"]) == ("error", "bad_request"), (what, answer)
            assert client.is_alive(), what


BAD_COMMANDS = {
    "an unknown type": {"type": "dance"},
    "a vote for nothing": {"type": "vote"},
    "a vote for a text": {"type": "vote", "track": "1"},
    "a vote for half a track": {"type": "vote", "track": 1.5},
    "a vote for a track beyond 64 bits": {"type": "vote", "track": LARGE},
    "a vote for a track beyond everything": {"type": "vote", "track": 1e300},
    "a vote for true": {"type": "vote", "track": True},
    "no tracks": {"type": "addTracks"},
    "an empty list of tracks": {"type": "addTracks", "tracks": []},
    "tracks that are one track": {"type": "addTracks", "tracks": {"title": "One"}},
    "a track without a title": {"type": "addTracks", "tracks": [{"source": "s", "sourceId": "1"}]},
    "a track without a source": {"type": "addTracks", "tracks": [{"sourceId": "1", "title": "One"}]},
    "a track with an empty title": {"type": "addTracks", "tracks": [{"source": "s", "sourceId": "1", "title": " "}]},
    "a track with a long title": {
        "type": "addTracks", "tracks": [{"source": "s", "sourceId": "1", "title": "x" * 301}]},
    "a track of negative length": {
        "type": "addTracks", "tracks": [{"source": "s", "sourceId": "1", "title": "One", "durationMs": -1}]},
    "a track of endless length": {
        "type": "addTracks", "tracks": [{"source": "s", "sourceId": "1", "title": "One", "durationMs": LARGE}]},
    "an index beyond the end": {"type": "enqueue", "track": 1, "at": 2},
    "a negative index": {"type": "enqueue", "track": 1, "at": -1},
    "an index that is a text": {"type": "enqueue", "track": 1, "at": "first"},
    "a move without an index": {"type": "move", "entry": 1, "to": "there"},
    "a move beyond the end": {"type": "move", "entry": 1, "to": 2},
    "a seek without a position": {"type": "seek"},
    "a seek before the start": {"type": "seek", "positionMs": -1},
    "a seek beyond 64 bits": {"type": "seek", "positionMs": LARGE},
    "an empty name": {"type": "rename", "name": " \t "},
    "a name of 41 scalars": {"type": "rename", "name": "x" * 41},
    "a name with a control character": {"type": "rename", "name": "A\u0007na"},
    "a room's name of 81 scalars": {"type": "updateRoom", "name": "x" * 81},
    "an unknown visibility": {"type": "updateRoom", "visibility": "secret"},
    "a latitude of 91": {"type": "updateRoom", "location": {"lat": 91, "lon": 0}},
    "a longitude of -181": {"type": "updateRoom", "location": {"lat": 0, "lon": -181}},
    "a location that is an array": {"type": "updateRoom", "location": [52.5, 13.4]},
    "half a location": {"type": "updateRoom", "location": {"lat": 52.5}},
    "a skip ratio of 2": {"type": "updateRoom", "settings": {"skipRatio": 2}},
    "an unknown queue mode": {"type": "updateRoom", "settings": {"queueMode": "chaos"}},
    "a role of owner": {"type": "setRole", "member": 1, "role": "owner"},
    "an unknown role": {"type": "setRole", "member": 1, "role": "king"},
}


def refused_both_ways(person, client, room, command, status, code):
    """The command is refused on a socket, which stays, and over HTTP."""
    answer = client.ask("command", room=room, key=backline.new_key(), command=command)
    assert (answer["type"], answer["code"]) == ("error", code), (command, answer)
    assert client.is_alive(), command
    answer = person.request("POST", f"/v1/rooms/{room}/commands", {"command": command})
    assert answer.status == status, (command, answer)
    answer.expect_problem(status, code)


def test_a_command_with_wrong_fields_is_a_bad_request_on_a_socket_and_over_http(dj, room):
    before = dj.room(room)["room"]["seq"]
    with dj.socket() as client:
        for what, command in BAD_COMMANDS.items():
            refused_both_ways(dj, client, room, command, 400, "bad_request")
            assert dj.room(room)["room"]["seq"] == before, what


def test_a_command_about_what_is_not_there_is_not_found(dj, room):
    for command in (
        {"type": "vote", "track": 99}, {"type": "unvote", "track": 99}, {"type": "enqueue", "track": 99},
        {"type": "dequeue", "entry": 99}, {"type": "move", "entry": 99, "to": 0}, {"type": "play", "entry": 99},
        {"type": "removeTracks", "tracks": [99]}, {"type": "kick", "member": 99},
        {"type": "setRole", "member": 99, "role": "dj"}, {"type": "transferOwnership", "member": 99},
    ):
        answer = dj.request("POST", f"/v1/rooms/{room}/commands", {"command": command})
        assert answer.status == 404, (command, answer)
        answer.expect_problem(404, "not_found")


def test_a_command_before_joining_is_not_a_members(shared, room):
    guest = shared.session("Ben")
    with guest.socket() as client:
        client.subscribe(room)
        for command in (
            {"type": "vote", "track": 1}, {"type": "rename", "name": "Ben"}, {"type": "leave"}, {"type": "skip"},
            {"type": "closeRoom"},
        ):
            refused_both_ways(guest, client, room, command, 409, "not_member")


def test_an_unknown_room_is_not_found(dj):
    unknown = backline.room_id()
    with dj.socket() as client:
        for message in (
            {"type": "subscribe", "room": unknown}, {"type": "subscribe", "room": "000000"},
            {"type": "command", "room": unknown, "key": backline.new_key(), "command": {"type": "join"}},
        ):
            answer = client.ask(**message)
            assert (answer["type"], answer["code"]) == ("error", "not_found"), answer
        assert client.is_alive()
    for path in ("", "/events", "/socket"):
        dj.request("GET", f"/v1/rooms/{unknown}{path}", headers=_upgrade(path)).expect_problem(404, "not_found")
    dj.post_command(unknown, "join").expect_problem(404, "not_found")


# Frames


def test_a_large_message_is_refused_with_1009(dj):
    with dj.socket() as client:
        # The server need not wait for its end.
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            client.send('{"type":"time","t1":1,"padding":"' + "x" * (300 << 10) + '"}')
        assert client.closed() == 1009


def test_a_message_at_the_limit_is_taken(dj):
    with dj.socket() as client:
        head, tail = '{"type":"time","id":9,"t1":1,"padding":"', '"}'
        client.send(head + "x" * ((256 << 10) - len(head) - len(tail)) + tail)
        assert client.answer_to(9)["t1"] == 1


def test_a_large_message_in_small_fragments_is_refused_with_1009(shared, dj):
    with backline.RawSocket(shared, dj.token) as raw:
        with contextlib.suppress(OSError):
            raw.send_frame(1, b'"', final=False)
            for _ in range(300):
                raw.send_frame(0, b"x" * 1024, final=False)
        assert raw.close_code() == 1009


def test_a_binary_frame_is_refused_with_1003(dj):
    with dj.socket() as client:
        client.send(b'{"type":"time","t1":1}')
        assert client.closed() == 1003


BROKEN_FRAMES = {
    "unmasked": (1002, lambda raw: raw.send_frame(1, b'{"type":"time"}', masked=False)),
    "a reserved bit": (1002, lambda raw: raw.send_frame(1, b"{}", reserved=2)),
    "a reserved opcode": (1002, lambda raw: raw.send_frame(3, b"{}")),
    "a continuation of nothing": (1002, lambda raw: raw.send_frame(0, b"{}")),
    "a ping of 126 bytes": (1002, lambda raw: raw.send_frame(9, b"x" * 126)),
    "a ping in fragments": (1002, lambda raw: raw.send_frame(9, b"x", final=False)),
    "a close frame of one byte": (1002, lambda raw: raw.send_frame(8, b"\x03")),
    "invalid UTF-8": (1007, lambda raw: raw.send_frame(1, b'{"type":"\xff"}')),
    "UTF-8 of a surrogate": (1007, lambda raw: raw.send_frame(1, b'"\xed\xa0\x80"')),
    "UTF-8 that ends early": (1007, lambda raw: raw.send_frame(1, b'"\xe2\x82')),
}


def test_a_broken_frame_is_refused_with_its_code(shared, dj):
    for what, (code, send) in BROKEN_FRAMES.items():
        with backline.RawSocket(shared, dj.token) as raw:
            assert raw.status == 101
            send(raw)
            assert raw.close_code() == code, what
        assert shared.request("GET", "/healthz").status == 200


def test_fragments_and_pings_between_them_are_fine(shared, dj):
    with backline.RawSocket(shared, dj.token) as raw:
        raw.send_frame(1, b'{"type":"time",', final=False)
        raw.send_frame(9, b"still there?")
        raw.send_frame(0, b'"id":3,"t1":1}')
        seen = []
        while not seen or seen[-1][0] != 1 or b'"re":3' not in seen[-1][1]:
            seen.append(raw.receive_frame())
        assert (10, b"still there?") in seen
        raw.send_frame(8, b"\x03\xe8")
        assert raw.close_code() == 1000


# The handshake


def _upgrade(path):
    if path != "/socket":
        return {}
    return {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }


def _refused(server, **options):
    """The status and the problem of a refused handshake."""
    with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
        backline.Socket(server, **options)
    return refusal.value.response.status_code, json.loads(refusal.value.response.body)["code"]


def test_a_handshake_without_a_token_is_refused_before_any_upgrade(shared, room):
    assert _refused(shared) == (401, "unauthorized")
    assert _refused(shared, token="bls_" + "A" * 43) == (401, "unauthorized")
    assert _refused(shared, token="nonsense") == (401, "unauthorized")
    assert _refused(shared, path=f"/v1/rooms/{room}/socket") == (401, "unauthorized")


def test_a_handshake_from_a_foreign_origin_is_refused(shared, dj):
    for origin in ("https://evil.example", shared.origin + ".evil.example", "null", f"https://{shared.host}:1"):
        assert _refused(shared, token=dj.token, origin=origin) == (403, "forbidden"), origin
    with dj.socket(origin=shared.origin) as client:
        assert client.is_alive()


def test_a_change_from_a_page_of_a_foreign_origin_is_refused(shared, dj, room):
    """Whatever names the session: browsers send the cookie by themselves."""
    command = {"command": {"type": "rename", "name": "Ana"}}
    path = f"/v1/rooms/{room}/commands"
    for origin in ("https://evil.example", "null", f"http://{shared.host}:{shared.port}", f"https://{shared.host}:1"):
        for method, where, body in (
            ("POST", path, command), ("POST", "/v1/rooms", {"name": "A"}), ("PATCH", "/v1/session", {"name": "A"}),
            ("DELETE", "/v1/session", None),
        ):
            cookie = {"Cookie": f"__Host-backline_session={dj.token}", "Origin": origin}
            shared.request(method, where, body, headers=cookie).expect_problem(403, "forbidden")
        shared.request("POST", "/v1/sessions", {"name": "A"}, headers={"Origin": origin}).expect_problem(403, "forbidden")
        dj.request("POST", path, command, {"Origin": origin}).expect_problem(403, "forbidden")
        # The first row of the table that holds decides.
        dj.request("POST", path, b"x" * 300_000, {"Origin": origin, "Accept": "text/html", "Content-Type": "text/plain"}
                   ).expect_problem(403, "forbidden")
        # Reading is no change; browsers keep the answer from the page.
        dj.request("GET", "/v1/session", headers={"Origin": origin}).expect(200)
    dj.request("POST", path, command, {"Origin": shared.origin}).expect(200)


def test_a_configured_origin_is_accepted(servers):
    server = servers("--origin", "https://app.example", "--origin", "http://localhost:3000").start()
    dj = server.session("Ana")
    for origin in ("https://app.example", "http://localhost:3000", server.origin):
        with dj.socket(origin=origin) as client:
            assert client.is_alive()
    assert _refused(server, token=dj.token, origin="https://localhost:3000") == (403, "forbidden")


def test_only_unknown_subprotocols_are_refused(shared, dj):
    assert _refused(shared, token=dj.token, subprotocols=["chat", "backline.v9.json"])[0] == 400
    with dj.socket(subprotocols=["chat", backline.PROTOCOL]) as client:
        assert client.connection.subprotocol == backline.PROTOCOL
    with dj.socket(subprotocols=[]) as client:
        assert client.connection.subprotocol is None
        assert client.wait_for("welcome")


# HTTP


def test_a_request_without_a_token_is_unauthorized(shared, room):
    for method, path in (
        ("GET", "/v1/session"), ("PATCH", "/v1/session"), ("DELETE", "/v1/session"), ("POST", "/v1/rooms"),
        ("POST", f"/v1/rooms/{room}/commands"),
    ):
        body = {"name": "Ana"} if method in ("POST", "PATCH") else None
        shared.request(method, path, body).expect_problem(401, "unauthorized")
        shared.request(method, path, body, token="bls_" + "A" * 43).expect_problem(401, "unauthorized")
        shared.request(method, path, body, headers={"Authorization": "Basic QTpC"}).expect_problem(401, "unauthorized")


def test_what_rules_json_out_is_not_acceptable(dj, room):
    for accept in ("application/xml", "text/html", "application/json;q=0, text/plain"):
        for path in ("/v1/rooms", f"/v1/rooms/{room}", f"/v1/rooms/{room}/events"):
            dj.request("GET", path, headers={"Accept": accept}).expect_problem(406, "not_acceptable")
    for accept in ("*/*", "application/*", "text/html, application/json;q=0.1", "application/json; charset=utf-8"):
        dj.request("GET", f"/v1/rooms/{room}", headers={"Accept": accept}).expect(200)


def test_a_body_of_another_type_is_unsupported(dj, room):
    for content_type in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "nonsense"):
        answer = dj.request("POST", "/v1/rooms", b'{"name":"A"}', {"Content-Type": content_type})
        answer.expect_problem(415, "unsupported_media_type")
    answer = dj.request("POST", "/v1/rooms", b'{"name":"A"}', {"Content-Type": "Application/JSON; charset=utf-8"})
    answer.expect(201)


def test_a_large_body_is_refused(dj, room):
    """The answer can be read, and says that the connection ends where the rest of the body is not waited for."""
    for length in (300 << 10, 4 << 20):
        body = json.dumps({"command": {"type": "rename", "name": "A", "padding": "x" * length}}).encode()
        for _ in range(10):
            try:
                answer = dj.request("POST", f"/v1/rooms/{room}/commands", body)
            except (ConnectionError, http.client.HTTPException, OSError) as broken:
                pytest.fail(f"no answer to a large body: {broken!r}")
            answer.expect_problem(413, "too_large")
            if length > 1 << 20:
                assert answer.headers["Connection"] == "close"
    dj.command(room, "rename", name="Anna")


def test_a_wrong_method_is_told_the_right_ones(dj, room):
    for method, path, allowed in (
        ("GET", "/v1/sessions", {"POST"}), ("POST", "/v1/session", {"GET", "PATCH", "DELETE"}),
        ("DELETE", "/v1/rooms", {"GET", "POST"}), ("PUT", f"/v1/rooms/{room}", {"GET"}),
        ("GET", f"/v1/rooms/{room}/commands", {"POST"}), ("POST", f"/v1/rooms/{room}/events", {"GET"}),
    ):
        answer = dj.request(method, path)
        answer.expect_problem(405, "method_not_allowed")
        assert {name.strip() for name in answer.headers["Allow"].split(",")} - {"HEAD", "OPTIONS"} == allowed


def test_an_unknown_path_is_not_found(dj):
    for path in ("/v1/nonsense", "/v1/rooms/a/b/c", "/v1/session/more"):
        dj.request("GET", path).expect_problem(404, "not_found")


NOT_BODIES = {
    "nothing": b"", "broken JSON": b'{"name":', "an array": b"[]", "text": b'"Ana"', "not UTF-8": b'{"name":"\xff"}',
    "arrays 100,000 deep": b"[" * 100_000, "a name that is a number": b'{"name":7}', "a null name": b'{"name":null}',
    "an array 100,000 deep as the name": b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "an empty name": b'{"name":""}', "a name of blanks": b'{"name":"   "}',
    "a control character": b'{"name":"A\\u0000"}', "a name of 81 scalars": b'{"name":"' + b"x" * 81 + b'"}',
}


def test_a_wrong_body_is_a_bad_request(dj, shared):
    for what, body in NOT_BODIES.items():
        for method, path in (("POST", "/v1/sessions"), ("PATCH", "/v1/session"), ("POST", "/v1/rooms")):
            answer = dj.request(method, path, body, {"Content-Type": "application/json"})
            assert answer.status == 400, (what, method, path, answer)
            answer.expect_problem(400, "bad_request")
    assert shared.request("GET", "/healthz").status == 200


def test_a_room_with_wrong_fields_is_a_bad_request(dj):
    for fields in (
        {"visibility": "secret"}, {"visibility": 1}, {"location": {"lat": 90.1, "lon": 0}}, {"location": {"lat": 0}},
        {"location": {"lat": "0", "lon": "0"}}, {"location": [0, 0]}, {"settings": {"skipRatio": -0.1}},
        {"settings": {"queueMode": "chaos"}}, {"settings": {"maxWaitingPerMember": -1}}, {"settings": 7},
    ):
        answer = dj.request("POST", "/v1/rooms", {"name": "A room", **fields})
        assert answer.status == 400, (fields, answer)
        answer.expect_problem(400, "bad_request")


def test_a_wrong_query_is_a_bad_request(dj, room):
    listing, events = "/v1/rooms", f"/v1/rooms/{room}/events"
    for path, queries in {
        listing: (
            "limit=0", "limit=-1", "limit=x", "limit=1.5", "limit=99999999999999999999", "cursor=%00", "cursor=nonsense"),
        events: (
            "limit=0", "limit=-1", "limit=x", "after=-1", "after=x", "after=99999999999999999999", "after=1.5"),
    }.items():
        for query in queries:
            answer = dj.request("GET", f"{path}?{query}")
            assert answer.status == 400, (path, query, answer)
            answer.expect_problem(400, "bad_request")


def test_a_wrong_key_is_a_bad_request(dj, room):
    for key in ("", "k" * 1000):
        answer = dj.request(
            "POST", f"/v1/rooms/{room}/commands", {"command": {"type": "skip"}}, {"Idempotency-Key": key})
        answer.expect_problem(400, "bad_request")
        answer = dj.request("POST", "/v1/rooms", {"name": "A room"}, {"Idempotency-Key": key})
        answer.expect_problem(400, "bad_request")


def test_too_much_in_one_command_reaches_a_limit(dj, room):
    titles = [f"T{number}" for number in range(501)]
    dj.post_command(room, "addTracks", tracks=backline.tracks(*titles)).expect_problem(422, "limit_reached")
    added = dj.command(room, "addTracks", tracks=backline.tracks(*titles[:500]))
    assert len(added["result"]["tracks"]) == 500


def test_bytes_that_are_no_tls_and_no_http_leave_the_server_alive(shared):
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\xff" * 100, b"\x00" * 1000):
        with socket.create_connection((shared.host, shared.port), timeout=backline.PATIENCE) as plain:
            with contextlib.suppress(ConnectionError):
                plain.sendall(noise)
                plain.shutdown(socket.SHUT_WR)
                while plain.recv(4096):
                    pass
    assert shared.request("GET", "/healthz").status == 200

"""Look-ups of rooms that do not exist: limited for a session and for an address, on every path."""

import contextlib
import random
import time

import pytest
import websockets.exceptions

import backline

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
FEW = ("--max-failed-lookups-per-minute", "2")
"""Ten at once, and one in half a minute."""
AT_ONCE = 10


@pytest.fixture
def made(servers):
    """A server with these options, the owner of a room, and the room's id and code."""
    def make(*options, **fields):
        server = servers(*options).start()
        ana = server.session("Ana")
        state = ana.create_room(**fields)["room"]["state"]
        return server, ana, state["id"], state["code"]
    return make


def codes(length=6):
    """Codes that no room of a test has, except for a chance of one in some ten million."""
    return "".join(random.choices(ALPHABET, k=length))


def _get(path):
    def look(person, room):
        answer = person.request("GET", f"/v1/rooms/{room}{path}")
        return answer.status, answer.json.get("code"), answer.json.get("retryAfterMs")
    return look


def _command(person, room):
    answer = person.post_command(room, "join")
    return answer.status, answer.json.get("code"), answer.json.get("retryAfterMs")


def _handshake(person, room):
    try:
        with person.socket(f"/v1/rooms/{room}/socket"):
            return 101, None, None
    except websockets.exceptions.InvalidStatus as refusal:
        status = refusal.response.status_code
        wait = refusal.response.headers.get("Retry-After")
        code = {404: "not_found", 429: "rate_limited"}.get(status)
        return status, code, wait and int(wait) * 1000


def _message(type, **fields):
    """Asks on a new socket, which has no new allowance."""
    def look(person, room):
        with person.socket() as client:
            answer = client.ask(type, room=room, **fields)
        status = {"not_found": 404, "rate_limited": 429, "not_member": 409}.get(answer.get("code"), 200)
        return status, answer.get("code"), answer.get("retryAfterMs")
    return look


def once_refused(person, path, guess):
    """The answer once the allowance is used up; some comes back meanwhile on a slow machine."""
    for _ in range(5):
        answer = path(person, guess)
        if answer[0] == 429:
            break
        person.request("GET", f"/v1/rooms/{codes()}")
    return answer


PATHS = {
    "GET": _get(""), "GET at": _get("?at=1"), "GET events": _get("/events"), "GET pool": _get("/pool"),
    "POST commands": _command, "handshake": _handshake, "subscribe": _message("subscribe"),
    "command": _message("command", command={"type": "join"}), "react": _message("react", emoji="👋"),
    "signal": _message("signal", to=1, data=1),
}


@pytest.mark.parametrize("kind", ["code", "long code", "id"])
def test_rooms_that_are_not_there_are_looked_for_so_often_on_all_paths_together(made, kind):
    server, ana, room, code = made(*FEW, visibility="unlisted")
    ana.room(room)
    ben = server.session("Ben")
    make = {"code": codes, "long code": lambda: codes(8), "id": backline.room_id}[kind]
    paths = list(PATHS.values())
    random.shuffle(paths)
    for path in (paths * AT_ONCE)[:AT_ONCE]:
        assert path(ben, make())[:2] == (404, "not_found")
    # On every path the allowance is used up, and a right guess looks like a wrong one.
    for name, path in PATHS.items():
        for guess in make(), code:
            status, refusal, wait = once_refused(ben, path, guess)
            assert (status, refusal) == (429, "rate_limited") and wait > 0, (name, guess)
    # The id of a room in memory does not count as a guess, and others are not affected.
    assert ben.command(room, "join")["result"] == {"member": 2}
    with ben.socket() as client:
        assert client.ask("subscribe", room=room)["type"] == "snapshot"
        assert client.command(code, "rename", name="Benjamin")["type"] == "ack", "a room that the socket follows"
        assert client.ask("unsubscribe", room=code)["type"] == "ok"
    assert once_refused(ben, PATHS["command"], code)[1] == "rate_limited"
    assert ana.room(code)["room"]["state"]["id"] == room
    metrics = server.request("GET", "/metrics").body.decode()
    refused = next(line for line in metrics.splitlines() if 'limit="lookups"' in line)
    assert float(refused.rpartition(" ")[2]) >= 2 * len(PATHS)


def test_rooms_that_are_there_cost_nothing(made):
    server, ana, room, code = made(*FEW)
    for _ in range(AT_ONCE):
        assert ana.room(code)["room"]["state"]["id"] == room
        ana.room(room)
        ana.request("GET", f"/v1/rooms/{room}?at=99").expect_problem(404, "not_found")
    with ana.socket() as client:
        for _ in range(AT_ONCE):
            assert client.ask("subscribe", room=code)["type"] == "snapshot"
    ana.request("GET", f"/v1/rooms/{codes()}").expect_problem(404, "not_found")


def test_the_sessions_of_one_address_look_for_rooms_together(made):
    server, ana, room, code = made("--max-failed-lookups-per-address", "2")
    sessions = [server.session(f"Guest {number}") for number in range(AT_ONCE)]
    for person in sessions:
        person.request("GET", f"/v1/rooms/{codes()}").expect_problem(404, "not_found")
    status, _, wait = once_refused(ana, PATHS["GET"], code)
    assert status == 429 and wait > 0
    # For sessions that have not failed before, an id does not count as a guess: the room is looked up.
    server.session("Eve").request("GET", f"/v1/rooms/{backline.room_id()}").expect_problem(404, "not_found")
    server.session("Fay").room(room)
    assert once_refused(sessions[0], PATHS["GET"], backline.room_id())[0] == 429


def test_an_address_is_what_a_trusted_proxy_says(servers):
    server = servers(
        "--plain", "--trusted-proxies", "127.0.0.0/8", "--max-failed-lookups-per-address", "2").start()
    ana = server.session("Ana")
    here, there = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
    for _ in range(AT_ONCE):
        ana.request("GET", f"/v1/rooms/{codes()}", headers=here).expect_problem(404, "not_found")
    def look(person, room):
        return person.request("GET", f"/v1/rooms/{room}", headers=here).status, None

    def open_socket(person, room):
        try:
            person.socket(f"/v1/rooms/{room}/socket", headers=here).close()
        except websockets.exceptions.InvalidStatus as refusal:
            return refusal.response.status_code, None

    def subscribe(person, room):
        with person.socket(headers=here) as client:
            return {"not_found": 404, "rate_limited": 429}[client.ask("subscribe", room=room)["code"]], None

    for path in look, open_socket, subscribe:
        for _ in range(5):
            if path(ana, codes())[0] == 429:
                break
        else:
            pytest.fail(f"{path} is not refused")
    ana.request("GET", f"/v1/rooms/{codes()}", headers=there).expect_problem(404, "not_found")


def test_more_look_ups_side_by_side_are_paid_for_by_waiting(made):
    """Look-ups under way when the allowance ended are charged as well, so that many sockets do not guess any faster."""
    server, ana, room, code = made("--max-failed-lookups-per-minute", "60")
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(ana.socket()) for _ in range(12)]
        asked, began = 0, time.monotonic()
        for _ in range(30):
            for client in clients:
                client.send({"type": "subscribe", "id": asked, "room": codes()})
                asked += 1
        answers = [clients[number % 12].answer_to(number) for number in range(asked)]
        took = time.monotonic() - began
    missed = [answer for answer in answers if answer["code"] == "not_found"]
    refused = [answer for answer in answers if answer["code"] == "rate_limited"]
    assert len(missed) + len(refused) == asked and refused
    # 300 at once and one a second; at most one of each socket was under way.
    assert 300 <= len(missed) <= 300 + took + 12, (len(missed), took)


def test_unsubscribing_does_not_tell_a_code_from_none(made):
    server, ana, room, code = made(*FEW, visibility="unlisted")
    ben = server.session("Ben")
    with ben.socket() as client:
        for _ in range(AT_ONCE):
            for asked in code, codes(8), codes(), backline.room_id(), room:
                assert set(client.ask("unsubscribe", room=asked)) == {"type", "re"}
        assert client.ask("subscribe", room=code)["type"] == "snapshot", "they cost nothing"
        assert client.ask("unsubscribe", room=code)["type"] == "ok"
        ana.command(room, "rename", name="Anna")
        assert client.is_alive()
        assert not [message for message in client.pushed if message["type"] == "delta"]


# Codes


def test_a_code_stays_when_the_visibility_changes(made):
    server, ana, room, code = made(visibility="unlisted")
    assert len(code) == 8
    ana.command(room, "updateRoom", visibility="public")
    assert ana.room(code.lower())["room"]["state"]["code"] == code
    kitchen = ana.create_room("Kitchen")["room"]["state"]
    assert len(kitchen["code"]) == 6
    ana.command(kitchen["id"], "updateRoom", visibility="unlisted")
    assert ana.room(kitchen["code"])["room"]["state"]["code"] == kitchen["code"]
    with ana.socket(f"/v1/rooms/{code}/socket", follow=room) as client:
        assert client.wait_for("snapshot")["state"]["code"] == code

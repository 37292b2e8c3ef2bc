"""Permissions: every request, every message and every command, by every kind of sender."""

import json

import pytest

import backline
from checks import check_log
from test_identities import tampered

#: Every request of the API that needs a session; `{room}` is a room's id.
REQUESTS = [
    ("GET", "/v1/session", None),
    ("PATCH", "/v1/session", {"name": "Mallory"}),
    ("DELETE", "/v1/session", None),
    ("POST", "/v1/rooms", {"name": "Another room"}),
    ("GET", "/v1/rooms", None),
    ("GET", "/v1/rooms/nearby?lat=0&lon=0", None),
    ("GET", "/v1/rooms/{room}", None),
    ("GET", "/v1/rooms/{room}?at=1", None),
    ("GET", "/v1/rooms/{room}/events", None),
    ("GET", "/v1/rooms/{room}/pool", None),
    ("POST", "/v1/rooms/{room}/commands", {"command": {"type": "join"}}),
    ("GET", "/v1/rooms/{room}/socket", None),
    ("GET", "/v1/socket", None),
]

#: Every command, its parameters, and a guest's answer; a session that is not a member gets no further.
#: The room has the tracks 1, 2 and 3 and the waiting entry 2 of track 2; track 1 is on air as entry 1. In this order
#: no accepted command prevents a later one.
COMMANDS = [
    ("join", {}, "ack"),
    ("rename", {"name": "Somebody"}, "ack"),
    ("vote", {"track": 3}, "ack"),
    ("unvote", {"track": 3}, "ack"),
    ("updateRoom", {"name": "Mallory's"}, "forbidden"),
    ("closeRoom", {}, "forbidden"),
    ("updateRoom", {"settings": {"queueLocked": True, "slowModeMs": 1, "ownerAwayMs": 1}}, "forbidden"),
    ("closeRoom", {"forget": True}, "forbidden"),
    ("closeRoom", {"reason": "mine"}, "forbidden"),
    ("setRole", {"member": 2, "role": "dj"}, "forbidden"),
    ("setRole", {"member": 2, "role": "dj", "reason": "mine"}, "forbidden"),
    ("transferOwnership", {"member": 2}, "forbidden"),
    ("transferOwnership", {"member": 2, "reason": "mine"}, "forbidden"),
    ("kick", {"member": 1}, "forbidden"),
    ("kick", {"member": 1, "ban": True}, "forbidden"),
    ("kick", {"member": 1, "ban": True, "durationMs": 1, "reason": "mine"}, "forbidden"),
    ("unban", {"member": 4}, "forbidden"),
    ("unban", {"member": 5, "reason": "mine"}, "forbidden"),
    ("addTracks", {"tracks": backline.tracks("Mine")}, "forbidden"),
    ("removeTracks", {"tracks": [2]}, "forbidden"),
    ("setWaveform", {"track": 1, "data": backline.waveform_text(bytes(2_048))}, "forbidden"),
    ("setDuration", {"track": 1, "durationMs": 1}, "forbidden"),
    ("setMissing", {"tracks": [1]}, "forbidden"),
    ("enqueue", {"track": 1}, "forbidden"),
    ("dequeue", {"entry": 2}, "forbidden"),
    ("move", {"entry": 2, "to": 0}, "forbidden"),
    ("play", {}, "forbidden"),
    ("pause", {}, "forbidden"),
    ("resume", {}, "forbidden"),
    ("seek", {"positionMs": 5}, "forbidden"),
    ("skip", {}, "forbidden"),
    ("skip", {"entry": 99}, "forbidden"),
    ("finish", {"entry": 1}, "forbidden"),
    ("syncDeck", {"queue": [], "playback": {"status": "stopped"}}, "forbidden"),
    ("voteSkip", {"entry": 99}, "ack"),
    ("unvoteSkip", {"entry": 99}, "ack"),
    ("leave", {}, "ack"),
]
EVERYBODY = ["guest", "stranger", "kicked", "banned", "banned for a time"]
BANNED = EVERYBODY[-2:]
STATUS = {"ack": 200, "forbidden": 403, "banned": 403, "not_member": 409, "unauthorized": 401, "not_found": 404}


class Stage:
    """A room with an entry on air, its owner, a guest, a kicked member, two banned members, and a stranger."""

    def __init__(self, server):
        self.owner = server.session("Owner")
        self.room = self.owner.create_room()["room"]["state"]["id"]
        members = ("guest", "kicked", "banned", "banned for a time")
        self.people = {name: server.session(name) for name in (*members, "stranger")}
        for name in members:
            self.people[name].command(self.room, "join")
        self.owner.command(self.room, "addTracks", tracks=backline.tracks("One", "Two", "Three"))
        for track in 1, 2:
            self.owner.command(self.room, "enqueue", track=track)
        self.owner.command(self.room, "play")
        self.owner.command(self.room, "kick", member=3)
        self.owner.command(self.room, "kick", member=4, ban=True, reason="too loud")
        self.owner.command(self.room, "kick", member=5, ban=True, durationMs=3_600_000)
        self.seq = self.owner.room(self.room)["room"]["seq"]

    def check_untouched(self):
        """The room and its owner's session are unchanged."""
        assert self.owner.room(self.room)["room"]["seq"] == self.seq
        assert self.owner.request("GET", "/v1/session").expect(200)["session"]["name"] == "Owner"
        check_log(self.owner, self.room)


@pytest.fixture
def stage(trusting):
    return Stage(trusting)


# Without a session


TOKENS = {
    "none": lambda stage, provider: None,
    "a token that nobody has": lambda stage, provider: "bls_" + "A" * 43,
    "a token with another letter": lambda stage, provider: (
        stage.owner.token[:-1] + ("A" if stage.owner.token[-1] != "A" else "B")),
    "a token cut short": lambda stage, provider: stage.owner.token[:-1],
    "a session's id": lambda stage, provider: stage.owner.session,
    "an expired JWT": lambda stage, provider: provider.hs256(exp=1_000_000_000),
    "a JWT with another payload": lambda stage, provider: tampered(provider.es256(), "payload"),
    "a JWT with another signature": lambda stage, provider: tampered(provider.hs256(), "signature"),
}


def test_nobody_does_anything_without_a_session(trusting, provider, stage):
    def refuse(what, method, path, body, headers):
        answer = trusting.request(method, path, body, headers=headers)
        assert answer.status == 401, (what, method, path, body, answer)
        answer.expect_problem(401, "unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"

    for what, make in TOKENS.items():
        token = make(stage, provider)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        for method, path, body in REQUESTS:
            path = path.format(room=stage.room)
            refuse(what, method, path, body, headers)
            # The same token in a cookie is refused too.
            if token is not None:
                refuse(what, method, path, body, {"Cookie": f"__Host-backline_session={token}"})
        for type, fields, _ in COMMANDS:
            refuse(what, "POST", f"/v1/rooms/{stage.room}/commands", {"command": {"type": type, **fields}}, headers)
        for path in "/v1/socket", f"/v1/rooms/{stage.room}/socket":
            with backline.RawSocket(trusting, token or "", path) as client:
                assert client.status == 401, (what, path)
        stage.check_untouched()


def test_a_session_that_was_ended_is_none(trusting, stage):
    person = stage.people["guest"]
    assert person.request("DELETE", "/v1/session").status == 204
    for method, path, body in REQUESTS:
        person.request(method, path.format(room=stage.room), body).expect_problem(401, "unauthorized")
    with backline.RawSocket(trusting, person.token) as client:
        assert client.status == 401


def test_with_anothers_token_one_is_the_other(stage):
    """A token is all of a session's authority: its bearer acts for that session and for no other."""
    guest = stage.people["guest"]
    thief = backline.Person(guest.server, "", guest.token, "")
    assert thief.room(stage.room)["you"]["member"] == 2
    thief.post_command(stage.room, "closeRoom").expect_problem(403, "forbidden")


# With a session


def expected(who, type, guests):
    """The expected answer to a command, if a guest is answered `guests`."""
    if who in BANNED:
        return "banned"
    if who == "guest" or type == "join":
        return guests
    return "not_member"


@pytest.mark.parametrize("who", EVERYBODY)
def test_every_command_over_http(stage, who):
    person = stage.people[who]
    before = stage.owner.room(stage.room)["room"]
    for type, fields, guests in COMMANDS:
        if type == "join" and who in ("stranger", "kicked"):
            continue
        answer = person.post_command(stage.room, type, **fields)
        code = expected(who, type, guests)
        assert answer.status == STATUS[code], (type, answer.body)
        if code != "ack":
            problem = answer.expect_problem(STATUS[code], code)
            assert ("retryAfterMs" in problem) == (who == "banned for a time"), problem
            assert problem.get("reason") == ("too loud" if who == "banned" else None), problem
    after = stage.owner.room(stage.room)["room"]
    assert {name: after["state"][name] for name in ("name", "queue", "pool")} == {
        name: before["state"][name] for name in ("name", "queue", "pool")}
    if who != "guest":
        stage.check_untouched()
    if who not in BANNED:
        assert person.post_command(stage.room, "join").status == 200


@pytest.mark.parametrize("who", EVERYBODY)
def test_every_message_on_a_socket(stage, who):
    person, room = stage.people[who], stage.room
    code = {"guest": None, "stranger": "not_member", "kicked": "not_member"}.get(who, "banned")
    with person.socket() as client:
        assert client.is_alive()
        subscribed = client.ask("subscribe", room=room)
        if who in BANNED:
            assert subscribed["code"] == "banned", subscribed
            assert ("retryAfterMs" in subscribed) == (who == "banned for a time"), subscribed
            resumed = client.ask("subscribe", room=room, position={"epoch": "x", "seq": 1})
            assert resumed["code"] == "banned" and "state" not in resumed, resumed
        else:
            assert subscribed["type"] == "snapshot" and ("you" in subscribed) == (who == "guest"), subscribed
        for fields in {"type": "react", "emoji": "🎉"}, {"type": "signal", "to": 1, "data": {}}:
            type = fields.pop("type")
            answer = client.ask(type, room=room, **fields)
            # The owner has no connection.
            wanted = code or (None if type == "react" else "not_found")
            assert answer.get("code") == wanted, (type, answer)
        for type, fields, guests in COMMANDS:
            if type == "join" and who in ("stranger", "kicked"):
                continue
            answer = client.command(room, type, **fields)
            assert answer.get("code", "ack") == expected(who, type, guests), (type, answer)
        assert client.ask("unsubscribe", room=room)["type"] == "ok"
        assert client.is_alive()
    if who != "guest":
        stage.check_untouched()


@pytest.mark.parametrize("who", EVERYBODY)
def test_every_request_by_who_has_a_session(stage, who):
    """Rooms can be read before joining, but not by banned sessions; a session's own data is always available."""
    person = stage.people[who]
    answers = {}
    for method, path, body in REQUESTS:
        if method != "DELETE" and "commands" not in path:
            answers[f"{method} {path}"] = person.request(method, path.format(room=stage.room), body).status
    look = 403 if who in BANNED else 200
    assert answers == {
        "GET /v1/session": 200, "PATCH /v1/session": 200, "POST /v1/rooms": 201, "GET /v1/rooms": 200,
        "GET /v1/rooms/nearby?lat=0&lon=0": 200,
        "GET /v1/rooms/{room}": look, "GET /v1/rooms/{room}?at=1": look, "GET /v1/rooms/{room}/events": look,
        "GET /v1/rooms/{room}/pool": look, "GET /v1/rooms/{room}/socket": 400, "GET /v1/socket": 400,
    }
    if who in BANNED:
        for path in "", "?at=1", "/events", "/pool":
            refused = person.request("GET", f"/v1/rooms/{stage.room}{path}")
            problem = refused.expect_problem(403, "banned")
            assert ("retryAfterMs" in problem) == (who == "banned for a time"), problem
            assert ("Retry-After" in refused.headers) == (who == "banned for a time")
    with backline.RawSocket(person.server, person.token, f"/v1/rooms/{stage.room}/socket") as client:
        assert client.status == (403 if who in BANNED else 101)
        if who in BANNED:
            problem = json.loads(client.reader.read())
            assert problem["code"] == "banned"
            assert problem.get("reason") == ("too loud" if who == "banned" else None), problem
    assert person.request("DELETE", "/v1/session").status == 204
    assert stage.owner.request("GET", "/v1/session").status == 200


def test_who_is_kicked_or_banned_while_connected(stage):
    """Kicked members go on watching and may come back; banned ones see nothing more, and their own socket is closed."""
    owner, room = stage.owner, stage.room
    kicked, banned = stage.people["guest"], stage.people["stranger"]
    banned.command(room, "join")
    with kicked.socket() as first, banned.socket(f"/v1/rooms/{room}/socket", follow=room) as second:
        first.subscribe(room)
        second.wait_for("snapshot")
        owner.command(room, "kick", member=2)
        seq = owner.command(room, "kick", member=6, ban=True)["seq"]
        first.catch_up(room, seq)
        assert first.command(room, "vote", track=1)["code"] == "not_member"
        assert first.command(room, "join")["result"]["member"] == 7
        assert second.closed() == 4403
        assert any(message["type"] == "ended" and message["code"] == "banned" for message in second.pushed)

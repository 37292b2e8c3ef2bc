"""Sessions: anonymous, identified by a cookie or a bearer token, and ended."""

import http.cookies
import re
import threading
import time
import uuid

import pytest
import websockets.exceptions

import backline
from checks import check_log


def test_a_session_has_a_token_and_a_cookie(shared):
    before = time.time() * 1000
    answer = shared.request("POST", "/v1/sessions", {"name": "  Ana  "})
    made = answer.expect(201)
    assert re.fullmatch(r"bls_[A-Za-z0-9_-]{43}", made["token"])
    session = made["session"]
    assert uuid.UUID(session["id"]).version == 7 and session["name"] == "Ana"
    assert abs(session["createdAt"] - before) < 60_000
    days = (session["expiresAt"] - session["createdAt"]) / 86_400_000
    assert 29.9 < days < 30.1

    cookie = http.cookies.SimpleCookie(answer.headers["Set-Cookie"])["__Host-backline_session"]
    assert cookie["path"] == "/" and cookie["httponly"] and cookie["secure"]
    assert cookie["samesite"].lower() == "lax" and int(cookie["max-age"]) > 29 * 86_400
    assert answer.headers.get_content_type() == "application/json"

    for headers in ({"Cookie": f"other=1; __Host-backline_session={cookie.value}"},
                    {"Authorization": f"Bearer {made['token']}"}):
        again = shared.request("GET", "/v1/session", headers=headers).expect(200)
        assert (again["session"]["id"], again["session"]["name"]) == (session["id"], "Ana")
        with backline.Socket(shared, headers=headers) as client:
            assert client.wait_for("welcome")["session"] == {"id": session["id"], "name": "Ana"}
    assert made["token"] not in shared.said()


def test_a_session_is_renamed(shared):
    ana = shared.session("Ana")
    assert ana.request("PATCH", "/v1/session", {"name": "Anna"}).expect(200)["session"]["name"] == "Anna"
    assert ana.request("GET", "/v1/session").expect(200)["session"]["name"] == "Anna"
    # A member who joins afterwards has the new name.
    made = ana.create_room()["room"]
    assert made["state"]["members"][0]["name"] == "Anna"


def test_names_are_measured_in_scalars(shared):
    assert shared.request("POST", "/v1/sessions", {"name": "é" * 40}).expect(201)
    assert shared.request("POST", "/v1/sessions", {"name": "\N{GUITAR}" * 40}).expect(201)["session"]["name"]
    shared.request("POST", "/v1/sessions", {"name": "\N{GUITAR}" * 41}).expect_problem(400, "bad_request")


def test_an_ended_session_leaves_its_rooms_and_sockets(shared):
    dj, guest = shared.session("Ana"), shared.session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=backline.tracks("One"))
    guest.command(room, "join")
    guest.command(room, "vote", track=1)
    with dj.socket() as watching, guest.socket() as first, guest.socket() as second:
        for client in (watching, first):
            client.subscribe(room)
        second.wait_for("welcome")
        assert guest.request("DELETE", "/v1/session").status == 204
        assert first.closed() == 4401
        assert second.closed() == 4401

        follower = watching.rooms[room]
        watching.until(lambda: len(follower.state["members"]) == 1, "the guest has left")
        left = follower.events[follower.seq]
        assert (left["type"], left["member"], left["reason"]) == ("memberLeft", 2, "session_ended")
        assert left["votes"] == [{"track": 1, "votes": 0}]
    guest.request("GET", "/v1/session").expect_problem(401, "unauthorized")
    guest.post_command(room, "join").expect_problem(401, "unauthorized")
    check_log(dj, room)


def test_a_room_passes_on_when_its_owners_session_ends(shared):
    people = [shared.session(name) for name in ("Ana", "Ben", "Caro")]
    room = people[0].create_room()["room"]["state"]["id"]
    for person in people[1:]:
        person.command(room, "join")
    people[0].command(room, "setRole", member=3, role="dj")
    assert people[0].request("DELETE", "/v1/session").status == 204

    def members():
        return people[1].room(room)["room"]["state"]["members"]

    backline.eventually(lambda: len(members()) == 2, "the owner has left")
    assert [(member["member"], member["role"]) for member in members()] == [(2, "guest"), (3, "owner")]
    for person in people[2:0:-1]:
        assert person.request("DELETE", "/v1/session").status == 204
    last = shared.session("Dora")
    backline.eventually(lambda: last.room(room)["room"]["state"].get("closedAt"), "the room is closed")
    events = check_log(last, room)
    assert [event["type"] for event in events[-2:]] == ["memberLeft", "roomClosed"]


def test_a_session_and_its_memberships_outlive_a_restart(server):
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    server.kill()
    server.start()
    assert ana.request("GET", "/v1/session").expect(200)["session"]["name"] == "Ana"
    assert ana.room(room)["you"]["role"] == "owner"
    assert ana.request("DELETE", "/v1/session").status == 204
    server.kill()
    server.start()
    ana.request("GET", "/v1/session").expect_problem(401, "unauthorized")
    # The memberships end, whenever the kill came: the server completes the work.
    ben = server.session("Ben")
    backline.eventually(lambda: ben.room(room)["room"]["state"].get("closedAt"), "the room is closed")


@pytest.mark.soak("load: a client that joins without a pause")
def test_who_joins_while_its_session_ends_is_a_member_of_nothing(shared):
    """The session is in ten rooms; while it is ended over HTTP, its socket keeps joining an eleventh."""
    owner, guest = shared.session("Ana"), shared.session("Ben")
    rooms = [owner.create_room()["room"]["state"]["id"] for _ in range(11)]
    for room in rooms[:10]:
        guest.command(room, "join")
    with guest.socket() as client:
        def join():
            try:
                while True:
                    client.send({"type": "command", "id": 1, "room": rooms[10], "command": {"type": "join"}})
            except websockets.exceptions.ConnectionClosed:
                pass

        joining = threading.Thread(target=join, daemon=True)
        joining.start()
        assert guest.request("DELETE", "/v1/session").status == 204
        assert client.closed() == 4401
        joining.join(backline.PATIENCE)

    def members(room):
        return [member["name"] for member in owner.room(room)["room"]["state"]["members"]]

    for room in rooms:
        backline.eventually(lambda: members(room) == ["Ana"], "the session's memberships have ended")


def test_only_the_host_cookie_is_read_and_only_one_of_it(shared):
    """A cookie that a sibling host could have set, or a second one, does not authenticate."""
    ana, eve = shared.session("Ana"), shared.session("Eve")
    name = "__Host-backline_session"
    for cookies in (
        f"backline_session={ana.token}", f"__Secure-backline_session={ana.token}",
        f"__host-backline_session={ana.token}", f"{name}={eve.token}; {name}={ana.token}",
        f"{name}={ana.token}; {name}={ana.token}", f"{name}=; {name}={ana.token}",
    ):
        shared.request("GET", "/v1/session", headers={"Cookie": cookies}).expect_problem(401, "unauthorized")
    # A cookie that a sibling host set under another name changes nothing.
    mixed = f"backline_session={eve.token}; {name}={ana.token}"
    assert shared.request("GET", "/v1/session", headers={"Cookie": mixed}).expect(200)["session"]["id"] == ana.session
    with backline.Socket(shared, headers={"Cookie": mixed}) as client:
        assert client.wait_for("welcome")["session"]["id"] == ana.session
    ended = ana.request("DELETE", "/v1/session")
    assert ended.status == 204
    assert re.fullmatch(
        rf"{name}=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0", ended.headers["Set-Cookie"])


REFUSED = {
    "\u200b": "visible", "\u3164": "visible", "\u200e": "visible", "\u2800": "visible", "\u0301": "visible",
    "\uffa0": "visible", "\u00a0": "visible", "Ana\U000e0041": "U+E0041", "a\u0085b": "U+0085", "a\u2028b": "U+2028",
    "a\u2029b": "U+2029", "a\tb": "U+0009",
}
PASTED = [
    "Ana\u202e", "\u2066Ana\u2069", "A\u200bna", "Ana\u115f", "Ana\u2060", "\ufeffAna", "A\u00adna", "A\u034fna",
    "A\u180ena", "A\ufe0fna", "Ana\u061c", "Ana\u200d", "\u200cAna", "\u200b Ana \u200b",
]
SHOWN = [
    "\u0641\u0627\u0637\u0645\u0647\u200c\u0632\u0647\u0631\u0627", "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
    "\u0905\u0915\u094d\u200d\u0937", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "\u05d0\u05d1\u200f (DJ)",
    "\u2764\ufe0f", "e\u0301", "\uae40\ubbfc\uc900", "Zo\u00eb",
]


def test_names_of_people_and_rooms_can_be_seen_and_turn_nothing(shared):
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]

    def named(name):
        """Every field for a name."""
        body = {"name": name}
        yield shared.request("POST", "/v1/sessions", body)
        yield ana.request("PATCH", "/v1/session", body)
        yield ana.request("POST", "/v1/rooms", body)
        yield ana.post_command(room, "updateRoom", **body)
        yield ana.post_command(room, "rename", **body)
        yield ana.post_command(room, "join", **body)

    for name, reason in REFUSED.items():
        for answer in named(name):
            assert reason in answer.expect_problem(400, "bad_request")["detail"], repr(name)
    assert ana.room(room)["room"]["seq"] == 2
    ben = shared.session("Ben")
    for name in PASTED:
        assert shared.request("POST", "/v1/sessions", {"name": name}).expect(201)["session"]["name"] == "Ana"
        assert ana.request("PATCH", "/v1/session", {"name": name}).expect(200)["session"]["name"] == "Ana"
        ana.command(room, "updateRoom", name=f"{name} {name}")
        ben.command(room, "join", name=name)
        state = ana.room(room)["room"]["state"]
        assert " ".join(state["name"].split()) == "Ana Ana" and state["members"][1]["name"] == "Ana", repr(name)
        ben.command(room, "leave")
    for name in SHOWN:
        assert shared.request("POST", "/v1/sessions", {"name": name}).expect(201)["session"]["name"] == name
        ana.command(room, "updateRoom", name=name)
        ben.command(room, "join", name=name)
        state = ana.room(room)["room"]["state"]
        assert (state["name"], state["members"][1]["name"]) == (name, name)
        ben.command(room, "leave")
    # Text from files keeps its directional characters: one track must not make the server refuse five hundred.
    title = "\u202b\u05db\u05d5\u05ea\u05e8\u05ea\u202c"
    ana.command(room, "addTracks", tracks=[{"source": "s", "sourceId": "1", "title": title, "artist": title}])
    track = ana.room(room)["room"]["state"]["pool"][0]
    assert (track["title"], track["artist"]) == (title, title)


def test_a_renamed_session_keeps_its_name_in_rooms(shared):
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.request("PATCH", "/v1/session", {"name": "Anna"}).expect(200)
    assert ana.room(room)["room"]["state"]["members"][0]["name"] == "Ana"
    ana.command(room, "rename", name="Anna")
    assert ana.room(room)["room"]["state"]["members"][0]["name"] == "Anna"

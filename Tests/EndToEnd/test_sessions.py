"""Sessions: anonymous, known by a cookie or a bearer token, and ended."""

import http.cookies
import re
import threading
import time
import uuid

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

    cookie = http.cookies.SimpleCookie(answer.headers["Set-Cookie"])["backline_session"]
    assert cookie["path"] == "/" and cookie["httponly"] and cookie["secure"]
    assert cookie["samesite"].lower() == "lax" and int(cookie["max-age"]) > 29 * 86_400
    assert answer.headers.get_content_type() == "application/json"

    for headers in ({"Cookie": f"other=1; backline_session={cookie.value}"},
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
    # Who joins afterwards bears the new name.
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
    # The memberships end whenever the kill came: the server finishes what it was at.
    ben = server.session("Ben")
    backline.eventually(lambda: ben.room(room)["room"]["state"].get("closedAt"), "the room is closed")


def test_who_joins_while_its_session_ends_is_a_member_of_nothing(shared):
    """The session is in ten rooms; while it is ended over HTTP its socket goes on joining an eleventh."""
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
        backline.eventually(lambda: members(room) == ["Ana"], "the session's memberships have ended", timeout=40)

"""Rooms over HTTP: creation, look-up, listing, reading."""

import contextlib
import http.client
import re
import uuid

import backline
from checks import check_log
from fold import differences


def test_a_room_is_made_with_what_was_asked(shared):
    dj = shared.session("Ana")
    answer = dj.request("POST", "/v1/rooms", {
        "name": " Kitchen ", "visibility": "unlisted", "settings": {"skipRatio": 0.25}, "unknown": [1],
        "location": {"lat": 52.52, "lon": 13.405}})
    made = answer.expect(201)
    snapshot, state = made["room"], made["room"]["state"]
    assert answer.headers["Location"] == f"/v1/rooms/{state['id']}"
    assert uuid.UUID(state["id"]).version == 7
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{8}", state["code"])
    assert (state["name"], state["visibility"]) == ("Kitchen", "unlisted")
    assert state["settings"] == {
        "queueMode": "dj", "skipRatio": 0.25, "maxWaitingPerMember": 0, "repeatAfterPlays": 0}
    assert abs(state["location"]["lat"] - 52.52) < 0.002 and abs(state["location"]["lon"] - 13.405) < 0.002
    assert state["playback"] == {"status": "stopped"}
    assert state["pool"] == state["requests"] == state["queue"] == state["history"] == []
    assert [(m["member"], m["name"], m["role"]) for m in state["members"]] == [(1, "Ana", "owner")]
    assert snapshot["seq"] == 2 and snapshot["epoch"] and snapshot["presence"]["online"] == 0
    assert made["you"] == {"member": 1, "role": "owner", "votes": []}

    read = dj.room(state["id"])
    assert differences(read["room"]["state"], state) == [] and read["you"] == made["you"]
    stranger = shared.session("Ben").room(state["id"])
    assert stranger.get("you") is None
    events = check_log(dj, state["id"])
    assert [event["type"] for event in events] == ["roomCreated", "memberJoined"]
    assert dj.session not in str(events), "a session's id is shown to nobody"


def test_a_location_is_rounded_before_anyone_sees_it(servers, shared):
    exact = {"lat": 52.520008, "lon": 13.404954}
    assert shared.session("Ana").create_room(location=exact)["room"]["state"]["location"] != exact
    precise = servers("--location-precision-meters", "0").start()
    assert precise.session("Ana").create_room(location=exact)["room"]["state"]["location"] == exact


def test_a_rooms_code_is_read_kindly(shared):
    dj = shared.session("Ana")

    def made():
        state = dj.create_room()["room"]["state"]
        return state if re.search("[01]", state["code"]) else None

    state = backline.eventually(made, "a code with a 0 or a 1")
    code = state["code"]
    for written in (code, code.lower(), code.replace("0", "O"), code.replace("0", "o"), code.replace("1", "I"),
                    code.replace("1", "l")):
        assert dj.room(written)["room"]["state"]["id"] == state["id"], written
        assert dj.request("GET", f"/v1/rooms/{written}/events").expect(200)["seq"] == 2
    with dj.socket() as client:
        answer = client.ask("subscribe", room=code.lower())
        assert (answer["type"], answer["room"]) == ("snapshot", state["id"])
        answer = client.ask(
            "command", room=code.lower(), key=backline.new_key(), command={"type": "rename", "name": "Anna"})
        assert answer["type"] == "ack", answer
    with dj.socket(f"/v1/rooms/{code}/socket") as client:
        assert client.wait_for("snapshot")["room"] == state["id"]


def test_making_a_room_again_with_its_key_gives_the_same_room(server):
    dj, other = server.session("Ana"), server.session("Ben")
    key = backline.new_key()
    sent = ("POST", "/v1/rooms", {"name": "Kitchen"}, {"Idempotency-Key": key})
    made = dj.request(*sent)
    first = made.expect(201)
    repeated = dj.request(*sent)
    assert repeated.expect(200)["room"]["state"]["id"] == first["room"]["state"]["id"]
    assert repeated.headers["Location"] == made.headers["Location"]
    server.kill()
    server.start()
    again = dj.create_room("Kitchen", key=key)
    assert again["room"]["state"]["id"] == first["room"]["state"]["id"] and again["you"] == first["you"]
    # The key belongs to the session, and to this room only.
    assert other.create_room("Kitchen", key=key)["room"]["state"]["id"] != first["room"]["state"]["id"]
    assert dj.create_room("Kitchen", key=backline.new_key())["room"]["state"]["id"] != first["room"]["state"]["id"]
    answer = dj.request("POST", "/v1/rooms", {"name": "Cellar"}, {"Idempotency-Key": key})
    answer.expect_problem(409, "conflict")


def test_open_public_rooms_are_listed_most_listeners_first(stored):
    dj, guest = stored.session("Ana"), stored.session("Ben")
    word = f"Listing {backline.new_key()[:8]}"
    rooms = [dj.create_room(f"{word} {number}")["room"]["state"]["id"] for number in range(5)]
    dj.create_room(f"{word} hidden", visibility="unlisted")
    closed = dj.create_room(f"{word} closed")["room"]["state"]["id"]
    dj.command(closed, "closeRoom")
    dj.command(rooms[3], "addTracks", tracks=[
        {"source": "s", "sourceId": "1", "title": "Blue Monday", "artist": "New Order"}])
    dj.command(rooms[3], "enqueue", track=1)
    dj.command(rooms[3], "play")

    def listed(query=""):
        """Every page of a listing."""
        found, cursor = [], ""
        for _ in range(20):
            page = dj.request("GET", f"/v1/rooms?q={word.upper().replace(' ', '%20')}{query}{cursor}").expect(200)
            found += page["rooms"]
            if page.get("next") is None:
                return found
            cursor = f"&cursor={page['next']}"
        raise AssertionError("a listing without an end")

    for room in (rooms[1], rooms[4]):
        guest.command(room, "join")
    with dj.socket() as ours, guest.socket() as theirs:
        for room in (rooms[1], rooms[4]):
            theirs.subscribe(room)
        ours.subscribe(rooms[4])
        backline.eventually(
            lambda: [room["listeners"] for room in listed()] == [2, 1, 0, 0, 0], "the listing counts its listeners")
        whole = listed()
        assert [room["id"] for room in whole[:2]] == [rooms[4], rooms[1]]
        assert sorted(room["id"] for room in whole) == sorted(rooms)
        playing = next(room for room in whole if room["id"] == rooms[3])
        assert playing["nowPlaying"] == {"title": "Blue Monday", "artist": "New Order"}
        assert playing["djName"] == "Ana" and playing["code"] and playing["createdAt"]
        paged = listed("&limit=2")
        assert [room["id"] for room in paged] == [room["id"] for room in whole]
        assert dj.room(rooms[4])["room"]["presence"]["online"] == 2
    assert dj.request("GET", "/v1/rooms?q=no-such-room-anywhere").expect(200)["rooms"] == []


def test_events_are_read_in_pages(shared):
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    for number in range(8):
        dj.command(room, "updateRoom", name=f"Name {number}")
    whole = dj.request("GET", f"/v1/rooms/{room}/events").expect(200)
    assert whole["epoch"] == dj.room(room)["room"]["epoch"] and whole["seq"] == 10
    assert [event["seq"] for event in whole["events"]] == list(range(1, 11))
    page = dj.request("GET", f"/v1/rooms/{room}/events?after=3&limit=4").expect(200)
    assert page["events"] == whole["events"][3:7] and page["seq"] == 10
    for after in (10, 11, 1_000_000):
        page = dj.request("GET", f"/v1/rooms/{room}/events?after={after}").expect(200)
        assert page["events"] == [] and page["seq"] == 10
    assert dj.events(room, limit=3) == whole["events"]
    assert all(event["at"] > 1_600_000_000_000 for event in whole["events"])


def test_a_closed_room_is_read_and_not_changed(shared):
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as client:
        client.subscribe(room)
        seq = client.command(room, "closeRoom")["seq"]
        follower = client.catch_up(room, seq)
        assert follower.events[seq]["type"] == "roomClosed" and follower.ended is None
        answer = client.command(room, "rename", name="Late")
        assert (answer["type"], answer["code"]) == ("error", "room_closed"), answer
        assert client.subscribe(room)["state"]["closedAt"]
    dj.post_command(room, "join").expect_problem(410, "room_closed")
    assert dj.room(room)["room"]["state"]["closedAt"]
    check_log(dj, room)


def test_a_session_has_a_hundred_open_rooms(shared):
    dj = shared.session("Ana")
    rooms = [dj.create_room(f"Room {number}", visibility="unlisted")["room"]["state"]["id"] for number in range(100)]
    dj.request("POST", "/v1/rooms", {"name": "One more"}).expect_problem(422, "limit_reached")
    dj.command(rooms[0], "closeRoom")
    dj.create_room("One more", visibility="unlisted")


def test_a_connection_is_used_again(shared):
    dj = shared.session("Ana")
    connection = http.client.HTTPSConnection(
        shared.host, shared.port, timeout=backline.PATIENCE, context=shared.context())
    headers = {"Authorization": f"Bearer {dj.token}", "Content-Type": "application/json"}
    with contextlib.closing(connection):
        connection.connect()
        first = connection.sock
        for method, path, body, status in (
            ("GET", "/healthz", None, 200), ("POST", "/v1/rooms", '{"name":"A room"}', 201),
            ("POST", "/v1/rooms", "nonsense", 400), ("GET", "/v1/nothing", None, 404), ("GET", "/v1/rooms", None, 200),
        ):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            response.read()
            assert (response.status, connection.sock) == (status, first), path


def test_a_json_answer_is_also_right_for_who_accepts_everything(shared):
    dj = shared.session("Ana")
    answer = dj.request("GET", "/v1/rooms", headers={"Accept": "*/*"})
    assert answer.expect(200)["rooms"] is not None
    assert answer.headers.get_content_type() == "application/json"


def test_a_mistyped_setting_is_refused_by_name(shared):
    dj = shared.session("Ana")
    for settings in ({"quueMode": "votes"}, {"skipRatio": 0.5, "queueLock": True}, {"name": "x"}):
        wrong = next(name for name in settings if name != "skipRatio")
        detail = dj.request("POST", "/v1/rooms", {"name": "Kitchen", "settings": settings}).expect_problem(
            400, "bad_request")["detail"]
        assert f"settings.{wrong}" in detail
    room = dj.create_room()["room"]["state"]["id"]
    detail = dj.post_command(room, "updateRoom", settings={"slowMode": 1}).expect_problem(400, "bad_request")["detail"]
    assert "command.settings.slowMode" in detail
    with dj.socket() as client:
        answer = client.command(room, "updateRoom", settings={"slowMode": 1})
        assert answer["code"] == "bad_request" and "slowMode" in answer["message"]
    # No part of it was carried out. Elsewhere unknown fields are ignored, and null counts as absent.
    assert dj.room(room)["room"]["seq"] == 2
    dj.command(room, "updateRoom", settings={"skipRatio": 0.25, "later": None}, later=1)
    assert dj.room(room)["room"]["state"]["settings"]["skipRatio"] == 0.25


ARTWORK = ["https://example.org/1.png", "HTTP://example.org", "https://[::1]:8080/é?x#y", "https://a/" + "x" * 2_038]
NO_ARTWORK = [
    "javascript:alert(1)", "JavaScript://example.org/%0aalert(1)", "data:image/png;base64,AA", "file:///etc/passwd",
    "//example.org/a", "/a.png", "https:///a", "https:a", "https://", "https://exa mple.org/", "https://a/\x01",
    "https:\\\\example.org", "https://a/" + "x" * 2_039, "",
]


def test_artwork_comes_from_the_web_only(shared):
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]

    def track(number, address):
        return {"source": "s", "sourceId": str(number), "title": f"Song {number}", "artworkUrl": address}

    for address in NO_ARTWORK:
        # One of them refuses the whole command.
        tracks = [track(1, ARTWORK[0]), track(2, address)]
        detail = dj.post_command(room, "addTracks", tracks=tracks).expect_problem(400, "bad_request")["detail"]
        assert "artworkUrl" in detail
    dj.command(room, "addTracks", tracks=[track(number, address) for number, address in enumerate(ARTWORK)])
    assert [entry["artworkUrl"] for entry in dj.room(room)["room"]["state"]["pool"]] == ARTWORK


def test_events_say_who_skipped_and_who_stopped(shared):
    ana, ben = shared.session("Ana"), shared.session("Ben")
    room = ana.create_room(settings={"skipRatio": 1})["room"]["state"]["id"]
    ben.command(room, "join")
    ana.command(room, "setRole", member=2, role="dj")
    ana.command(room, "addTracks", tracks=backline.tracks("One", "Two", "Three", "Four"))
    for number in (1, 2, 3, 4):
        ana.command(room, "enqueue", track=number)
    ana.command(room, "play")
    ben.command(room, "skip")
    ana.command(room, "play")
    # After enough votes the room skips, and not its last voter.
    for person in (ana, ben):
        person.command(room, "voteSkip", entry=3)
    ben.command(room, "finish", entry=4)
    ends = [event for event in check_log(ana, room) if event["type"] in ("entryFinished", "playbackStopped")]
    assert [(event.get("reason"), event.get("by")) for event in ends] == [
        ("skipped", 2), ("replaced", 1), ("skipped", None), ("ended", 2), (None, 2)]
    assert all("by" not in event or event["by"] for event in ends)


def test_a_plain_get_of_a_sockets_path_says_what_is_true(shared):
    """On a connection's first request and on its second, because a handshake may arrive in either."""
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    first = backline.Person(shared.address, dj.session, dj.token, dj.name)
    for path in ("/v1/socket", f"/v1/rooms/{room}/socket"):
        for person in (first, dj):
            detail = person.request("GET", path).expect_problem(400, "bad_request")["detail"]
            assert "WebSocket" in detail and "first request" not in detail

"""The main use of the server: a DJ, a guest, and a server that is killed between two votes."""

import websockets.exceptions

import backline
from checks import check_followers, check_log
from fold import differences


def test_a_room_outlives_its_server(server):
    dj, guest = server.session("Ana"), server.session("Ben")

    made = dj.create_room("Kitchen", location={"lat": 52.52, "lon": 13.405})
    room = made["room"]["state"]["id"]
    assert made["you"] == {"member": 1, "role": "owner", "votes": []}
    added = dj.command(room, "addTracks", tracks=backline.tracks("Blue Monday", "Abracadabra", "Children"))
    assert added["result"] == {"tracks": [1, 2, 3]}

    ours, theirs = dj.socket(f"/v1/rooms/{room}/socket", follow=room), guest.socket()
    opened = ours.wait_for("snapshot")
    assert opened["you"]["member"] == 1
    watched = theirs.subscribe(room)
    assert watched["type"] == "snapshot" and watched.get("you") is None
    assert differences(opened["state"], watched["state"]) == []

    joined = theirs.command(room, "join")
    assert joined["type"] == "ack" and joined["result"] == {"member": 2}
    voted = theirs.command(room, "vote", track=2)
    assert voted["type"] == "ack"
    ours.catch_up(room, voted["seq"])
    theirs.catch_up(room, voted["seq"])
    both = ours.rooms[room], theirs.rooms[room]
    assert list(both[0].raw) == [joined["seq"], voted["seq"]]
    assert both[0].raw == both[1].raw, "the same events, byte for byte"
    assert both[0].events[voted["seq"]]["type"] == "voteCast"
    assert both[0].state["requests"] == [2]
    check_followers(dj, room, both)

    server.kill()
    for client in (ours, theirs):
        try:
            while True:
                client.receive()
        except websockets.exceptions.ConnectionClosed:
            client.close()
    server.start()

    again, later = dj.socket(), guest.socket()
    resumed = again.resume(both[0])
    assert resumed["type"] == "resumed" and resumed["seq"] == voted["seq"]
    assert resumed["you"]["role"] == "owner"
    # The guest comes back later: it gets every missed event, once.
    more = again.command(room, "vote", track=2)
    resumed = later.resume(both[1])
    assert resumed["type"] == "resumed" and resumed["seq"] == more["seq"]
    assert resumed["you"] == {"member": 2, "role": "guest", "votes": [2]}
    # Voting again for a track that was voted for before the kill changes nothing.
    repeated = later.command(room, "vote", track=2)
    assert (repeated["type"], repeated["seq"]) == ("ack", more["seq"])
    last = later.command(room, "vote", track=3)
    for client in (again, later):
        client.catch_up(room, last["seq"])
    assert both[0].state["requests"] == [2, 3]
    assert both[0].snapshots == both[1].snapshots == 1, "nobody needed a second snapshot"
    check_followers(dj, room, both)
    check_log(dj, room)
    again.close()
    later.close()
    assert server.stop() == 0


def test_a_song_is_played_and_remembered(shared):
    dj, guest = shared.session("Ana"), shared.session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as ours, guest.socket() as theirs:
        ours.subscribe(room)
        theirs.subscribe(room)
        theirs.command(room, "join", name="Benno")

        def told(type, **fields):
            answer = ours.command(room, type, **fields)
            assert answer["type"] == "ack", answer
            return answer

        told("addTracks", tracks=[
            {"source": "test", "sourceId": "1", "title": "One", "artist": "First", "album": "Numbers",
             "durationMs": 180_000, "artworkUrl": "https://example.org/1.png"},
            *backline.tracks("Two", "Three", "Four")])
        theirs.command(room, "vote", track=4)
        first = told("enqueue", track=1)["result"]["entry"]
        second = told("enqueue", track=2)["result"]["entry"]
        third = told("enqueue", track=4, at=0)["result"]["entry"]
        assert [first, second, third] == [1, 2, 3]
        told("move", entry=second, to=0)
        told("play")
        told("pause")
        told("seek", positionMs=30_000)
        told("resume")
        told("play", entry=first)
        told("finish", entry=second)
        told("skip")
        told("finish", entry=third)
        told("enqueue", track=3)
        told("dequeue", entry=4)
        told("removeTracks", tracks=[2])
        told("updateRoom", name="Cellar", visibility="unlisted", settings={"skipRatio": 0.75})
        theirs.command(room, "rename", name="Benedikt")
        told("setRole", member=2, role="dj")
        told("transferOwnership", member=2)
        theirs.command(room, "vote", track=3)
        left = theirs.command(room, "leave")

        followers = [client.catch_up(room, left["seq"]) for client in (ours, theirs)]
        state = followers[0].state
        assert [(line["entry"], line["reason"]) for line in state["history"]] == [
            (third, "ended"), (first, "skipped"), (second, "replaced")]
        assert state["playback"] == {"status": "stopped"} and state["queue"] == []
        assert [(member["name"], member["role"]) for member in state["members"]] == [("Ana", "owner")]
        assert state["requests"] == []
        check_followers(dj, room, followers)
        events = check_log(dj, room)
        assert [event["type"] for event in events[-3:]] == ["voteCast", "roleChanged", "memberLeft"]


def test_the_past_can_be_asked_for(shared):
    dj = shared.session("Ana")
    room = dj.create_room("First name")["room"]["state"]["id"]
    dj.command(room, "updateRoom", name="Second name")
    dj.command(room, "addTracks", tracks=backline.tracks("One"))
    assert dj.request("GET", f"/v1/rooms/{room}?at=1").expect(200)["room"]["state"]["members"] == []
    then = dj.request("GET", f"/v1/rooms/{room}?at=2").expect(200)["room"]
    assert (then["seq"], then["state"]["name"], then["state"]["pool"]) == (2, "First name", [])
    last = dj.request("GET", f"/v1/rooms/{room}?at=4").expect(200)["room"]
    assert differences(last["state"], dj.room(room)["room"]["state"]) == []
    for outside in (0, 5, -1):
        dj.request("GET", f"/v1/rooms/{room}?at={outside}").expect_problem(404, "not_found")
    dj.request("GET", f"/v1/rooms/{room}?at=now").expect_problem(400, "bad_request")

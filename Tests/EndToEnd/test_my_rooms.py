"""A session's own rooms: every open room in which it is a member, at every server."""

import backline


def there(person, server):
    """The same session at another server."""
    return backline.Person(server.address, person.session, person.token, person.name)


def own(person):
    """The names of the rooms and the roles, in order."""
    answer = person.request("GET", "/v1/session/rooms").expect(200)
    assert answer.keys() == {"rooms"}
    return [(room["name"], room["role"]) for room in answer["rooms"]]


def made(person, name, **fields):
    return person.create_room(name, **fields)["room"]["state"]["id"]


def test_a_session_gets_its_rooms_the_one_joined_last_first(server):
    # Alone on its store, as the list of all rooms is looked at.
    ana, ben = server.session("Ana"), server.session("Ben")
    assert own(ana) == []
    kitchen = made(ana, "Kitchen")
    secret = made(ben, "Secret", visibility="unlisted")
    attic = made(ben, "Attic")
    assert own(ana) == [("Kitchen", "owner")]
    ana.command(attic, "join")
    member = ana.command(secret, "join")["result"]["member"]
    assert own(ana) == [("Secret", "guest"), ("Attic", "guest"), ("Kitchen", "owner")]
    assert own(ben) == [("Attic", "owner"), ("Secret", "owner")]
    # Another role, another name, a song on air.
    ben.command(secret, "setRole", member=member, role="dj")
    ben.command(secret, "updateRoom", name="Cellar")
    ana.command(secret, "addTracks", tracks=backline.tracks("One"))
    ana.command(secret, "enqueue", track=1)
    ana.command(secret, "play")
    assert own(ana)[0] == ("Cellar", "dj")
    room = ana.request("GET", "/v1/session/rooms").expect(200)["rooms"][0]
    assert room["id"] == secret and room["nowPlaying"] == {"title": "One"} and room["listeners"] == 0
    assert room["code"] == ana.room(secret)["room"]["state"]["code"] and "distanceMeters" not in room
    with ana.socket() as client:
        client.subscribe(secret)
        counts = [room["listeners"] for room in ana.request("GET", "/v1/session/rooms").expect(200)["rooms"]]
        assert counts == [1, 0, 0]
    # The other lists do not show a role.
    listed = ana.request("GET", "/v1/rooms").expect(200)["rooms"]
    assert {room["name"] for room in listed} == {"Kitchen", "Attic"} and "role" not in str(listed)

    # Leaving and joining again makes it the newest; removal, bans and closing take rooms away.
    ana.command(kitchen, "leave")
    assert own(ana) == [("Cellar", "dj"), ("Attic", "guest")]
    ana.command(attic, "leave")
    ana.command(attic, "join")
    assert own(ana) == [("Attic", "guest"), ("Cellar", "dj")]
    ben.command(secret, "kick", member=member, ban=True)
    assert own(ana) == [("Attic", "guest")]
    ben.command(attic, "closeRoom")
    assert own(ana) == [] and own(ben) == [("Cellar", "owner")]
    assert own(server.session("Cyd")) == []


def test_the_list_is_for_sessions(shared):
    shared.request("GET", "/v1/session/rooms").expect_problem(401, "unauthorized")
    ana = shared.session("Ana")
    answer = ana.request("POST", "/v1/session/rooms", {})
    answer.expect_problem(405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD"
    head = ana.request("HEAD", "/v1/session/rooms")
    assert head.status == 200 and head.body == b""


def test_rooms_survive_a_restart_and_need_not_be_in_memory(server):
    ana = server.session("Ana")
    names = [f"Room {number}" for number in range(12)]
    for name in names:
        made(ana, name)
    expected = [(name, "owner") for name in reversed(names)]
    assert own(ana) == expected
    server.stop()
    server.start()
    assert own(ana) == expected


def test_it_is_exact_at_every_server_after_an_acknowledgement(nodes):
    ana, ben = nodes[0].session("Ana"), nodes[1].session("Ben")
    rooms = [made(ana, f"Room {number}") for number in range(3)]
    elsewhere = there(ana, nodes[1])
    assert own(elsewhere) == own(ana) == [(f"Room {number}", "owner") for number in (2, 1, 0)]
    for room in rooms:
        # The other server has the rooms in memory now, and must look again.
        member = ben.command(room, "join")["result"]["member"]
        assert own(there(ben, nodes[0]))[0][1] == "guest"
        ana.command(room, "setRole", member=member, role="dj")
        assert own(ben)[0][1] == own(there(ben, nodes[0]))[0][1] == "dj"
        ana.command(room, "transferOwnership", member=member)
        assert own(ben)[0][1] == "owner" and ("Room " + str(rooms.index(room)), "dj") in own(elsewhere)
        ben.command(room, "closeRoom")
        assert own(there(ben, nodes[0])) == own(ben) == []


def test_a_long_list_has_200_rooms(shared):
    hosts = [shared.session(f"Host {number}") for number in range(3)]
    ana = shared.session("Ana")
    for number in range(210):
        ana.command(made(hosts[number % 3], f"Room {number}"), "join")
    assert own(ana) == [(f"Room {number}", "guest") for number in range(209, 9, -1)]

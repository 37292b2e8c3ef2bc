"""Joining a room and being kicked from it, many members at a time."""

import time

import backline
from checks import check_log


# Joining


def test_one_room_gets_so_many_members_a_minute_from_one_address(servers):
    server = servers("--max-joins-per-minute", "6").start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    began, joined = time.monotonic(), []
    while len(joined) < 200:
        person = server.session(f"Guest {len(joined)}")
        answer = person.post_command(room, "join")
        if answer.status == 429:
            break
        answer.expect(200)
        joined.append(person)
    problem = answer.expect_problem(429, "rate_limited")
    assert problem["retryAfterMs"] > 0 and int(answer.headers["Retry-After"]) >= 1
    assert 6 <= len(joined) <= 7 + (time.monotonic() - began) / 10, len(joined)
    # Neither members, who may come back at any time, nor other rooms are affected.
    for person in joined:
        person.command(room, "join")
    with joined[0].socket() as client:
        assert client.command(room, "join")["type"] == "ack"
    garden = ana.create_room("Garden")["room"]["state"]["id"]
    person.command(garden, "join")
    # A socket has no allowance of its own.
    for _ in range(5):
        with server.session("Late").socket() as client:
            answer = client.command(room, "join")
        if answer["type"] == "error":
            break
    assert answer["code"] == "rate_limited" and answer["retryAfterMs"] > 0, answer
    check_log(ana, room)


# Kicking


def members(person, room):
    return [member["member"] for member in person.room(room)["room"]["state"]["members"]]


def test_many_are_kicked_at_once_or_none(shared):
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    people = [shared.session(f"Guest {number}") for number in range(6)]
    for person in people:
        person.command(room, "join")
    ana.command(room, "addTracks", tracks=backline.tracks("One", "Two"))
    for person in people:
        person.command(room, "vote", track=1)
    ana.command(room, "setRole", member=2, role="dj")
    bob = people[0]
    before = ana.room(room)["room"]["seq"]
    for who, wanted, members_ in (
        (bob, 403, [3, 1]), (bob, 403, [3, 2]), (ana, 404, [3, 99]), (ana, 400, []), (ana, 400, [3, 3]),
        (ana, 422, list(range(3, 600))), (ana, 400, [0]), (ana, 400, "3"),
    ):
        assert who.post_command(room, "kick", members=members_).status == wanted, members_
    assert ana.post_command(room, "kick", member=3, members=[4]).status == 400
    assert ana.post_command(room, "kick").status == 400
    assert ana.room(room)["room"]["seq"] == before and members(ana, room) == [1, 2, 3, 4, 5, 6, 7]

    with people[1].socket(f"/v1/rooms/{room}/socket", follow=room) as out, ana.socket() as client:
        client.subscribe(room)
        answer = client.command(room, "kick", "key", members=[3, 4, 7], ban=True, reason="too loud")
        assert answer["seq"] == before + 6, answer
        client.catch_up(room, before + 6)
        assert client.rooms[room].state == ana.room(room)["room"]["state"]
        assert out.closed() == 4403
        assert client.command(room, "kick", "key", members=[3, 4, 7], ban=True, reason="too loud") == {
            **answer, "re": client._id}
    events = ana.events(room, after=before)
    assert [(event["type"], event["member"]) for event in events] == [
        (type, member) for member in (3, 4, 7) for type in ("memberLeft", "memberBanned")]
    assert [event["votes"][0]["votes"] for event in events[::2]] == [5, 4, 3]
    assert {event["by"] for event in events} == {1} and members(ana, room) == [1, 2, 5, 6]
    for number in (1, 2, 5):
        people[number].post_command(room, "join").expect_problem(403, "banned")
    # The form for a single member, and a DJ.
    bob.command(room, "kick", members=[5])
    bob.command(room, "kick", member=6)
    assert members(ana, room) == [1, 2]
    people[3].command(room, "join")
    check_log(ana, room)


def test_a_dj_lifts_the_bans_that_a_dj_may_impose(shared):
    ana, ben, cyd, dan, eve = (shared.session(name) for name in ("Ana", "Ben", "Cyd", "Dan", "Eve"))
    room = ana.create_room()["room"]["state"]["id"]
    for person in (ben, cyd, dan, eve):
        person.command(room, "join")
    for member in (2, 3):
        ana.command(room, "setRole", member=member, role="dj")
    ana.command(room, "kick", members=[3, 4], ban=True)
    eve.post_command(room, "unban", member=4).expect_problem(403, "forbidden")
    ben.post_command(room, "unban", member=3).expect_problem(403, "forbidden")
    ben.command(room, "unban", member=4, reason="sorry")
    ben.command(room, "unban", member=4)
    dan.command(room, "join")
    cyd.post_command(room, "join").expect_problem(403, "banned")
    ana.command(room, "unban", member=3)
    cyd.command(room, "join")
    banned = [event for event in ana.events(room) if event["type"] == "memberBanned"]
    assert [event.get("role") for event in banned] == ["dj", None]
    check_log(ana, room)

"""Two server processes on one PostgreSQL, and many clients that write to one room through both."""

import concurrent.futures
import threading

import backline
from checks import check_followers, check_log, check_once

PEOPLE = 20
COMMANDS = 25


def work(server, number, room, gate):
    """A session of its own sends keyed commands without waiting; returns its member and the answers."""
    person = server.session(f"Person {number}")
    member = person.command(room, "join")["result"]["member"]
    with person.socket() as client:
        gate.wait(backline.PATIENCE)
        marks = [f"{number}-{turn}" for turn in range(COMMANDS)]
        for turn, mark in enumerate(marks):
            client.send({
                "type": "command", "id": 1000 + turn, "room": room, "key": backline.new_key(),
                "command": {"type": "rename", "name": mark},
            })
        return member, [(mark, client.answer_to(1000 + turn)) for turn, mark in enumerate(marks)]


def test_each_position_is_won_once_and_nothing_is_lost(nodes):
    dj, watcher = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as first, watcher.socket() as second:
        for client in (first, second):
            assert client.subscribe(room)["type"] == "snapshot"

        gate = threading.Barrier(PEOPLE)
        with concurrent.futures.ThreadPoolExecutor(PEOPLE) as pool:
            told = list(pool.map(lambda number: work(nodes[number % 2], number, room, gate), range(PEOPLE)))

        logs = [check_log(person, room) for person in (dj, watcher)]
        assert logs[0] == logs[1], "both servers have the same log"
        renames = [event["seq"] for event in logs[0] if event["type"] == "memberRenamed"]
        won = []
        for member, answers in told:
            for mark, answer in answers:
                assert answer["type"] == "ack", (mark, answer)
                event = check_once(logs[0], mark, lambda e: e["type"] == "memberRenamed" and e["name"] == mark)
                assert (event["seq"], event["member"]) == (answer["seq"], member)
                won.append(answer["seq"])
            assert [answer["seq"] for _, answer in answers] == sorted(answer["seq"] for _, answer in answers)
        assert sorted(won) == renames and len(set(won)) == PEOPLE * COMMANDS

        # Watchers on either server have seen all of it.
        followers = [client.catch_up(room, logs[0][-1]["seq"]) for client in (first, second)]
        for person, follower in zip((dj, watcher), followers):
            check_followers(person, room, [follower])


def test_a_key_is_known_to_every_server(nodes):
    here = nodes[0].session("Ana")
    there = backline.Person(nodes[1].address, here.session, here.token, here.name)
    room = here.create_room()["room"]["state"]["id"]
    key = backline.new_key()
    first = here.command(room, "addTracks", key, tracks=backline.tracks("One"))
    assert there.command(room, "addTracks", key, tracks=backline.tracks("One")) == first
    assert here.room(room)["room"]["seq"] == first["seq"]


def test_a_key_that_is_sent_to_both_servers_at_once_has_one_outcome(nodes):
    here = nodes[0].session("Ana")
    there = backline.Person(nodes[1].address, here.session, here.token, here.name)
    room = here.create_room()["room"]["state"]["id"]
    keys = {1000 + number: backline.new_key() for number in range(100)}
    with here.socket() as first, there.socket() as second:
        for number, key in keys.items():
            command = {"type": "addTracks", "tracks": backline.tracks(f"Track {number}")}
            for client in (first, second, first):
                client.send({"type": "command", "id": number, "room": room, "key": key, "command": command})
        for number in keys:
            answers = [client.answer_to(number) for client in (first, second, first)]
            assert answers[0]["type"] == "ack", answers
            assert answers[0] == answers[1] == answers[2]
    events = check_log(here, room)
    assert len(events) == 2 + len(keys)


def test_a_room_that_is_made_on_both_servers_at_once_is_one_room(nodes):
    here = nodes[0].session("Ana")
    there = backline.Person(nodes[1].address, here.session, here.token, here.name)
    for _ in range(5):
        key = backline.new_key()
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            made = list(threads.map(lambda number: (here, there)[number % 2].create_room("Kitchen", key=key), range(8)))
        assert len({room["room"]["state"]["id"] for room in made}) == 1


def test_a_ban_reaches_who_is_connected_to_the_other_server(nodes):
    here, guest = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = here.create_room()["room"]["state"]["id"]
    member = guest.command(room, "join")["result"]["member"]
    with guest.socket() as many, guest.socket(f"/v1/rooms/{room}/socket", follow=room) as one:
        many.subscribe(room)
        one.wait_for("snapshot")
        here.command(room, "kick", member=member, ban=True)
        assert many.wait_for("ended")["code"] == "banned"
        assert one.closed() == 4403
        assert many.subscribe(room)["code"] == "banned"


def test_a_session_that_ends_is_over_on_every_server(nodes):
    here = nodes[0].session("Ana")
    there = backline.Person(nodes[1].address, here.session, here.token, here.name)
    room = here.create_room()["room"]["state"]["id"]
    with there.socket() as client:
        client.subscribe(room)
        assert here.request("DELETE", "/v1/session").status == 204
        assert client.closed() == 4401
    there.request("GET", "/v1/session").expect_problem(401, "unauthorized")


def test_a_client_resumes_on_the_other_server(nodes):
    here = nodes[0].session("Ana")
    there = backline.Person(nodes[1].address, here.session, here.token, here.name)
    room = here.create_room()["room"]["state"]["id"]
    with here.socket() as client:
        client.subscribe(room)
        follower = client.rooms[room]
    for name in ("Second", "Third"):
        last = here.command(room, "updateRoom", name=name)["seq"]
    with there.socket() as client:
        assert client.resume(follower)["type"] == "resumed"
        client.catch_up(room, last)
        assert sorted(follower.events) == [last - 1, last]
        check_followers(there, room, [follower])
        # A change on one server reaches watchers on the other.
        last = here.command(room, "updateRoom", name="Fourth")["seq"]
        client.catch_up(room, last)
    check_log(here, room)


def test_events_change_hands_in_order_between_servers(nodes):
    """Two members on two servers take turns; each answers the other's event."""
    people = [node.session(name) for node, name in zip(nodes, ("Ana", "Ben"))]
    room = people[0].create_room()["room"]["state"]["id"]
    people[1].command(room, "join")
    sockets = [person.socket() for person in people]
    for client in sockets:
        client.subscribe(room)
    for turn in range(10):
        sender, other = sockets[turn % 2], sockets[1 - turn % 2]
        answer = sender.command(room, "rename", name=f"Turn {turn}")
        assert answer["type"] == "ack", answer
        other.catch_up(room, answer["seq"])
        assert other.rooms[room].events[answer["seq"]]["name"] == f"Turn {turn}"
    check_followers(people[0], room, [client.catch_up(room, answer["seq"]) for client in sockets])
    for client in sockets:
        client.close()

"""Resuming a room in the opening handshake: the socket begins where the client's position ends."""

import urllib.parse

import pytest
import websockets.exceptions

import backline
from fold import Follower


def path(room, epoch=None, seq=None):
    query = "" if epoch is None else f"?epoch={urllib.parse.quote(epoch, safe='')}&seq={seq}"
    return f"/v1/rooms/{room}/socket{query}"


def opened(person, room, epoch=None, seq=None, follower=None):
    """A socket of a room that begins at a position, and its first message after `welcome`."""
    client = person.socket(path(room, epoch, seq))
    if follower is not None:
        client.rooms[follower.room] = follower
    assert client.receive()["type"] == "welcome"
    return client, client.receive()


def some_room(person, titles=("One", "Two", "Three")):
    room = person.create_room()["room"]["state"]["id"]
    for title in titles:
        person.command(room, "addTracks", tracks=backline.tracks(title))
    return room


def test_a_socket_resumes_from_the_position_in_its_path(shared):
    ana = shared.session("Ana")
    room = some_room(ana)
    follower = Follower(room)
    client, first = opened(ana, room, follower=follower)
    assert first["type"] == "snapshot"
    client.close()
    epoch, seq = follower.position["epoch"], follower.position["seq"]
    for number in range(250):
        ana.command(room, "vote" if number % 2 == 0 else "unvote", track=1)

    # By the room's id and by its code: `resumed`, then the deltas, then new events. The client sends nothing.
    code = ana.room(room)["room"]["state"]["code"]
    for reference in (room, code.lower()):
        client, first = opened(ana, reference, epoch, seq)
        assert (first["type"], first["epoch"], first["seq"]) == ("resumed", epoch, seq + 250)
        assert "re" not in first and first["you"]["role"] == "owner" and first["presence"]["online"] == 1
        reached = seq
        while reached < seq + 250:
            delta = client.receive()
            assert (delta["type"], delta["from"]) == ("delta", reached + 1)
            reached = delta["seq"]
        client.close()

    # The fold of what a client had and what it got is the room.
    client, first = opened(ana, room, epoch, seq, follower)
    client.catch_up(room, seq + 250)
    last = ana.command(room, "vote", track=2)["seq"]
    client.catch_up(room, last)
    assert follower.state == ana.room(room)["room"]["state"]
    assert client.is_alive(), "the socket takes messages like any other"
    client.close()

    # At the head there is nothing to send but `resumed`.
    client, first = opened(ana, room, epoch, last, follower)
    assert (first["type"], first["seq"]) == ("resumed", last)
    assert client.is_alive() and not [message for message in client.pushed if message["type"] != "presence"]
    client.close()


def test_a_position_that_cannot_be_resumed_begins_with_a_snapshot(shared):
    ana = shared.session("Ana")
    room = some_room(ana)
    seq = ana.room(room)["room"]["seq"]
    epoch = ana.room(room)["room"]["epoch"]
    for position in ((epoch, seq + 1), (epoch + "x", seq), ("é &=%", 0), (epoch, 2**53 - 1)):
        client, first = opened(ana, room, *position)
        assert (first["type"], first["seq"], "re" in first) == ("snapshot", seq, False), position
        client.close()


QUERIES = [
    "epoch={epoch}", "seq=1", "epoch=&seq=1", "epoch={epoch}&seq=", "epoch={epoch}&seq=-1", "epoch={epoch}&seq=01",
    "epoch={epoch}&seq=1.5", "epoch={epoch}&seq=x", "epoch={epoch}&seq=9007199254740992",
    "epoch={epoch}&epoch={epoch}&seq=1", "epoch={epoch}&seq=1&seq=1", "epoch=%zz&seq=1", "epoch=%ff&seq=1",
]


def test_a_malformed_position_is_refused_before_the_upgrade(shared):
    ana = shared.session("Ana")
    snapshot = ana.create_room()["room"]
    for query in QUERIES:
        target = f"/v1/rooms/{snapshot['state']['id']}/socket?{query.format(epoch=snapshot['epoch'])}"
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            ana.socket(target)
        answer = refusal.value.response
        assert answer.status_code == 400, (query, answer)
        assert b'"code":"bad_request"' in answer.body, query


def test_other_refusals_are_as_without_a_position(shared):
    ana, ben = shared.session("Ana"), shared.session("Ben")
    snapshot = ana.create_room()["room"]
    room, epoch = snapshot["state"]["id"], snapshot["epoch"]
    member = ben.command(room, "join")["result"]["member"]
    ana.command(room, "kick", member=member, ban=True)
    for person, target, status in (
        (ben, path(room, epoch, 1), 403), (ana, path(backline.room_id(), epoch, 1), 404),
    ):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refusal:
            person.socket(target)
        assert refusal.value.response.status_code == status
    # Parameters of other names are ignored, also for a socket without a room.
    with ana.socket(f"/v1/rooms/{room}/socket?lang=en") as client:
        assert [client.receive()["type"], client.receive()["type"]] == ["welcome", "snapshot"]
    with ana.socket("/v1/socket?epoch=x") as client:
        assert client.receive()["type"] == "welcome"


def test_a_resume_in_the_handshake_counts_like_a_subscribe(servers):
    """Each 4 KiB of the answer count against the socket's allowance of frames, here 10 at once."""
    server = servers("--max-messages-per-second", "2").start()
    ana = server.session("Ana")
    room = some_room(ana, titles=())
    begin = ana.room(room)["room"]
    for _ in range(8):
        ana.command(room, "addTracks", tracks=backline.tracks(*(f"{number} {'x' * 280}" for number in range(100))))
    client, first = opened(ana, room, begin["epoch"], begin["seq"])
    assert first["type"] == "resumed"
    refused = client.ask("time", t1=1)
    assert (refused["type"], refused["code"]) == ("error", "rate_limited")
    client.close()
    # A position near the end costs next to nothing.
    client, first = opened(ana, room, begin["epoch"], begin["seq"] + 8)
    assert first["type"] == "resumed"
    assert client.is_alive()
    client.close()


def test_another_server_resumes_it(nodes):
    ana = nodes[0].session("Ana")
    there = backline.Person(nodes[1].address, ana.session, ana.token, ana.name)
    room = some_room(ana)
    follower = Follower(room)
    client, first = opened(ana, room, follower=follower)
    client.close()
    for number in range(5):
        last = ana.command(room, "vote" if number % 2 == 0 else "unvote", track=1)["seq"]
        client, first = opened(there, room, **follower.position, follower=follower)
        assert (first["type"], first["seq"]) == ("resumed", last)
        client.catch_up(room, last)
        client.close()
    assert follower.state == there.room(room)["room"]["state"]
